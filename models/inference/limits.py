r"""Parameters within limits, all equally likely before anything is seen, and coordinates of them.

Of the limits' range a parameter has the share s; where its order of magnitude is unknown, s is
the share of the range of its logarithm. `Shares` takes s itself: there is nothing beyond the
limits. `Logistic` takes x, of any size, with s = 1 / (1 + exp(-x)): steps cannot leave the limits.
The prior density is

    log p(x) = log |d theta / dx| + constant.

Source: Heiden et al., section IV-D and appendix I-C (the limits of their Fig. 7a); coordinates:
ours.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import logsigmoid

_NIL = 1e-15
"""Nearest that a share comes to a limit."""


@dataclass(frozen=True)
class Limits:
    """Where parameters may lie."""

    low: Float[Tensor, " parameter"]
    high: Float[Tensor, " parameter"]

    def __post_init__(self) -> None:
        """Refuse limits that leave nothing between them."""
        if not bool(torch.isfinite(self.high - self.low).all()):
            raise ValueError("limits must be finite")
        if not bool((self.low < self.high).all()):
            raise ValueError("low limits must be below high ones")


@runtime_checkable
class Coordinates(Protocol):
    """What stands for the parameters."""

    @property
    def limits(self) -> Limits:
        """Of the parameters."""

    @property
    def shares(self) -> "Shares":
        """Of the limits' range, over which starts are spread evenly."""

    @property
    def precision(self) -> Float[Tensor, " parameter"]:
        """That of a normal law about as wide as the prior."""

    @property
    def free(self) -> Float[Tensor, " parameter"]:
        """How far the prior reaches in coordinates that no motion depends on; 0 in all others."""

    def parameters(self, x: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the parameters at coordinates."""

    def of(self, theta: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the coordinates of parameters within the limits."""

    def slopes(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> Float[Tensor, "*batch parameter parameter"]:
        """Return the derivatives of the parameters by the coordinates."""

    def log_prior(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch parameter"]]:
        """Return log p(x) and its gradient."""


@dataclass(frozen=True)
class Shares:
    """Shares of the limits' range.

    >>> limits = Limits(torch.tensor([1.0, 1.0]), torch.tensor([4.0, 4.0]))
    >>> Shares(limits).parameters(torch.tensor([0.5, 0.5]))
    tensor([2.5000, 2.5000])
    >>> Shares(limits, torch.tensor([False, True])).parameters(torch.tensor([0.5, 0.5]))
    tensor([2.5000, 2.0000])

    Attributes:
        logarithmic: Whose order of magnitude is unknown; none's when absent.
    """

    limits: Limits
    logarithmic: Bool[Tensor, " parameter"] | None = None

    def __post_init__(self) -> None:
        """Refuse logarithms of what may be nothing."""
        if bool((self.limits.low[self._logarithmic] <= 0.0).any()):
            raise ValueError("limits of parameters of unknown magnitude must be positive")

    @property
    def shares(self) -> "Shares":
        """Themselves."""
        return self

    @property
    def precision(self) -> Float[Tensor, " parameter"]:
        """Of a uniform law."""
        return torch.full_like(self.limits.low, 12.0)

    @property
    def free(self) -> Float[Tensor, " parameter"]:
        """None is."""
        return torch.zeros_like(self.limits.low)

    def parameters(self, x: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the parameters."""
        grown = self._low * torch.exp(x * self._magnitude)
        return torch.where(self._logarithmic, grown, self.limits.low + x * self._range)

    def of(self, theta: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the shares."""
        grown = torch.log(theta.abs() / self._low) / self._magnitude
        return torch.where(self._logarithmic, grown, (theta - self.limits.low) / self._range)

    def slopes(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> Float[Tensor, "*batch parameter parameter"]:
        """Return the range of each, and of one whose logarithm is taken that times itself."""
        return torch.diag_embed(self._slope(x))

    def log_prior(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch parameter"]]:
        """Return log |d theta / dx|, minus infinity beyond the limits, and its gradient."""
        inside = ((x > 0.0) & (x < 1.0)).all(-1)
        growth = torch.where(self._logarithmic, self._magnitude, 0.0)
        return torch.where(inside, (growth * x).sum(-1), -torch.inf), growth.expand_as(x)

    def _slope(self, x: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        grown = self._magnitude * self.parameters(x)
        return torch.where(self._logarithmic, grown, self._range)

    @cached_property
    def _logarithmic(self) -> Bool[Tensor, " parameter"]:
        none = torch.zeros_like(self.limits.low, dtype=torch.bool)
        return none if self.logarithmic is None else self.logarithmic

    @cached_property
    def _range(self) -> Float[Tensor, " parameter"]:
        return self.limits.high - self.limits.low

    @cached_property
    def _low(self) -> Float[Tensor, " parameter"]:
        return torch.where(self._logarithmic, self.limits.low, 1.0)

    @cached_property
    def _magnitude(self) -> Float[Tensor, " parameter"]:
        """log(high / low), and 1 for those whose logarithm is not taken."""
        ratio = torch.where(self._logarithmic, self.limits.high, torch.e) / self._low
        return torch.log(ratio)


@dataclass(frozen=True)
class Logistic:
    """Numbers of any size.

    >>> limits = Limits(torch.tensor([1.0, 1.0]), torch.tensor([4.0, 4.0]))
    >>> Logistic(limits, torch.tensor([False, True])).parameters(torch.zeros(2))
    tensor([2.5000, 2.0000])

    Attributes:
        logarithmic: Whose order of magnitude is unknown; none's when absent.
    """

    limits: Limits
    logarithmic: Bool[Tensor, " parameter"] | None = None

    @cached_property
    def shares(self) -> Shares:
        """Of the limits' range."""
        return Shares(self.limits, self.logarithmic)

    def __post_init__(self) -> None:
        """Refuse logarithms of what may be nothing."""
        Shares(self.limits, self.logarithmic)

    @property
    def precision(self) -> Float[Tensor, " parameter"]:
        """Of a logistic law, at its middle."""
        return torch.full_like(self.limits.low, 0.5)

    @property
    def free(self) -> Float[Tensor, " parameter"]:
        """None is."""
        return torch.zeros_like(self.limits.low)

    def parameters(self, x: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the parameters."""
        return self.shares.parameters(torch.sigmoid(x))

    def of(self, theta: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the coordinates."""
        return torch.logit(self.shares.of(theta))

    def slopes(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> Float[Tensor, "*batch parameter parameter"]:
        """Return the derivatives of the parameters."""
        share = torch.sigmoid(x)
        return self.shares.slopes(share) * (share * (1.0 - share))[..., None]

    def log_prior(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch parameter"]]:
        """Return log |d theta / dx| and its gradient."""
        share = torch.sigmoid(x)
        value, growth = self.shares.log_prior(share.clamp(_NIL, 1.0 - _NIL))
        value = value + (logsigmoid(x) + logsigmoid(-x)).sum(-1)
        return value, 1.0 - 2.0 * share + growth * share * (1.0 - share)
