r"""Coordinates of a double pendulum in which its motion varies evenly, and in three not at all.

The eight ratios that can be identified (`pendulum_parameters`) come first. The equations of motion
are linear in them, so that posteriors of these are all but normal where those of masses, moments
and places are long bent ridges. Then m_1, m_2 and log a, of which nothing is seen. Under the
uniform prior within the limits

    p = |d theta / d x| = a^8 / (m_1 m_2)^2.

Source: ours; limits: Heiden et al., Fig. 7a.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.systems.rigid_bodies.pendulum_limits import PARAMETERS
from ricochet.models.systems.rigid_bodies.pendulum_parameters import combinations, identified

_AT_REST = 1e12
_MASS_1, _MASS_2 = PARAMETERS.index("mass_1"), PARAMETERS.index("mass_2")
_TOLD = 8


@dataclass(frozen=True)
class PendulumCoordinates:
    """Of parameters within limits; there is nothing beyond them."""

    limits: Limits

    @property
    def shares(self) -> Shares:
        """Of the limits' range."""
        return Shares(self.limits)

    @cached_property
    def precision(self) -> Float[Tensor, " parameter"]:
        """By the quartiles of the prior, of what can be identified; the rest is held where it is.

        What no motion depends on has moves of its own.
        """
        engine = torch.quasirandom.SobolEngine(len(PARAMETERS))
        share = engine.draw(4096, dtype=self.limits.low.dtype).clamp(1e-6, 1.0 - 1e-6)
        x = self.of(Shares(self.limits).parameters(share))
        low, high = torch.quantile(x, torch.tensor([0.25, 0.75]).to(x), 0)
        found = (1.35 / (high - low)) ** 2
        found[_TOLD:] *= _AT_REST
        return found

    @cached_property
    def free(self) -> Float[Tensor, " parameter"]:
        """How far masses and log a reach."""
        ranges = (self.limits.high - self.limits.low)[[_MASS_1, _MASS_2]]
        none = torch.zeros_like(self.limits.low[:_TOLD])
        return torch.cat((none, ranges, torch.ones_like(ranges[:1])))

    def of(self, theta: Float[Tensor, "*batch 11"]) -> Float[Tensor, "*batch 11"]:
        """Return the coordinates of parameters."""
        masses = theta[..., [_MASS_1, _MASS_2]]
        inertia = torch.log(combinations(theta)[0])[..., None]
        return torch.cat((identified(theta)[0], masses, inertia), -1)

    def parameters(self, x: Float[Tensor, "*batch 11"]) -> Float[Tensor, "*batch 11"]:
        """Return the parameters at coordinates."""
        a = x[..., -1].exp()
        b, u, v, p, q = (x[..., number] * a for number in range(5))
        length, d1, d2 = x[..., 5], x[..., 6] * a, x[..., 7] * a
        m1, m2 = x[..., 8], x[..., 9]
        x1, y1, x2, y2 = (u - m2 * length) / m1, v / m1, p / m2, q / m2
        i1 = a - m1 * (x1**2 + y1**2) - m2 * length**2
        i2 = b - m2 * (x2**2 + y2**2)
        return torch.stack((m1, i1, x1, y1, d1, length, m2, i2, x2, y2, d2), -1)

    def slopes(self, x: Float[Tensor, "*batch 11"]) -> Float[Tensor, "*batch 11 11"]:
        """Return the derivatives of the parameters by the coordinates."""
        theta = self.parameters(x)
        a, m1, m2 = x[..., -1].exp(), x[..., 8], x[..., 9]
        _, _, x1, y1, d1, length, _, _, x2, y2, d2 = theta.unbind(-1)
        u, v, p, q = x1 * m1 + m2 * length, y1 * m1, x2 * m2, y2 * m2
        found = x.new_zeros(*x.shape, len(PARAMETERS))
        entries = {
            (0, 8): torch.ones_like(a), (6, 9): torch.ones_like(a), (5, 5): torch.ones_like(a),
            (4, 6): a, (4, 10): d1, (10, 7): a, (10, 10): d2,
            (8, 3): a / m2, (8, 9): -x2 / m2, (8, 10): p / m2,
            (9, 4): a / m2, (9, 9): -y2 / m2, (9, 10): q / m2,
            (2, 1): a / m1, (2, 5): -m2 / m1, (2, 8): -x1 / m1, (2, 9): -length / m1,
            (2, 10): u / m1,
            (3, 2): a / m1, (3, 8): -y1 / m1, (3, 10): v / m1,
        }  # fmt: skip
        for (row, column), value in entries.items():
            found[..., row, column] = value
        found[..., 1, :] = (
            -2.0
            * m1[..., None]
            * (x1[..., None] * found[..., 2, :] + y1[..., None] * found[..., 3, :])
        )
        found[..., 1, 8] -= x1**2 + y1**2
        found[..., 1, 9] -= length**2
        found[..., 1, 5] -= 2.0 * m2 * length
        found[..., 1, 10] += a
        found[..., 7, :] = (
            -2.0
            * m2[..., None]
            * (x2[..., None] * found[..., 8, :] + y2[..., None] * found[..., 9, :])
        )
        found[..., 7, 9] -= x2**2 + y2**2
        found[..., 7, 0] += a
        found[..., 7, 10] += x[..., 0] * a
        return found

    def log_prior(
        self, x: Float[Tensor, "*batch 11"]
    ) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch 11"]]:
        """Return log p, minus infinity beyond the limits, and its gradient."""
        theta = self.parameters(x)
        inside = ((theta > self.limits.low) & (theta < self.limits.high)).all(-1)
        m1, m2 = x[..., 8].clamp_min(1e-300), x[..., 9].clamp_min(1e-300)
        value = 8.0 * x[..., -1] - 2.0 * torch.log(m1 * m2)
        gradient = torch.zeros_like(x)
        gradient[..., 8], gradient[..., 9], gradient[..., 10] = -2.0 / m1, -2.0 / m2, 8.0
        return torch.where(inside, value, -torch.inf), gradient
