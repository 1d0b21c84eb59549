r"""Coordinates of parameters, and by how much numbers of the model are off in each recording.

A model that is not the world is off by more than its noise. Numbers that motion depends on may be
off, in every recording otherwise, by shares of their sizes, whose law is normal about 0 with a
deviation that is stated. These shares are inferred with the parameters, as coordinates of their
own in units of that deviation; what is known of the parameters is then no narrower than the model
is good. The deviation cannot be inferred from a few recordings: it is a judgement.

Sources: Kennedy and O'Hagan 2001, Brynjarsdottir and O'Hagan 2014 (why a discrepancy, there of the
output, and why its law must be stated); that of numbers, by shares, of each recording: ours.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.limits import Coordinates, Limits, Shares

FURTHEST = 5.0
"""Deviations within which shares are looked for at first."""


@dataclass(frozen=True)
class WithDiscrepancies:
    """Parameters first, by their own coordinates, then shares.

    Attributes:
        own: Coordinates of the parameters.
        count: Of the shares.
        deviation: Of a share.
    """

    own: Coordinates
    count: int
    deviation: float

    def __post_init__(self) -> None:
        """Refuse a deviation that is none."""
        if not 0.0 < self.deviation < 1.0:
            raise ValueError(f"deviation must be between 0 and 1, not {self.deviation}")

    @property
    def limits(self) -> Limits:
        """Of the parameters, and what shares hardly pass."""
        furthest = self._standard * FURTHEST * self.deviation
        inside = self.own.limits
        return Limits(torch.cat((inside.low, -furthest)), torch.cat((inside.high, furthest)))

    @property
    def shares(self) -> Shares:
        """Of the limits' range, over which starts are spread evenly."""
        return Shares(self.limits)

    @property
    def precision(self) -> Float[Tensor, " unknown"]:
        """That of the parameters' prior, and 1."""
        return torch.cat((self.own.precision, self._standard))

    @property
    def free(self) -> Float[Tensor, " unknown"]:
        """That of the parameters."""
        return torch.cat((self.own.free, 0.0 * self._standard))

    def parameters(self, x: Float[Tensor, "*batch unknown"]) -> Float[Tensor, "*batch unknown"]:
        """Return parameters and shares."""
        mine, others = self._parted(x)
        return torch.cat((self.own.parameters(mine), self.deviation * others), -1)

    def of(self, theta: Float[Tensor, "*batch unknown"]) -> Float[Tensor, "*batch unknown"]:
        """Return the coordinates."""
        mine, others = self._parted(theta)
        return torch.cat((self.own.of(mine), others / self.deviation), -1)

    def slopes(self, x: Float[Tensor, "*batch unknown"]) -> Float[Tensor, "*batch unknown unknown"]:
        """Return the derivatives of parameters and shares."""
        mine, _ = self._parted(x)
        found = torch.diag_embed(torch.full_like(x, self.deviation))
        size = mine.shape[-1]
        found[..., :size, :size] = self.own.slopes(mine)
        return found

    def log_prior(
        self, x: Float[Tensor, "*batch unknown"]
    ) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch unknown"]]:
        """Return log p(x), that of the shares normal, and its gradient."""
        mine, others = self._parted(x)
        value, slope = self.own.log_prior(mine)
        return value - 0.5 * others.square().sum(-1), torch.cat((slope, -others), -1)

    @property
    def _standard(self) -> Float[Tensor, " share"]:
        return torch.ones(self.count).to(self.own.limits.low)

    def _parted(self, x: Tensor) -> tuple[Tensor, Tensor]:
        size = x.shape[-1] - self.count
        return x[..., :size], x[..., size:]
