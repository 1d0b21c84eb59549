r"""Coordinates of a box and two weights in which their motion varies evenly.

The motion of an empty box depends on its numbers (`box_parameters.of_empty`) over one of them, the
moment u_z = M c_z, alone; of these ten ratios it is all but linear, where centre, inertia and
friction are long bent ridges. The ratios come first, then u_z, which loads of known mass tell.
Weights at p_1 = s + d and p_2 = s - d move a box by s and by the squares and the product of the
parts of d, thus not by its sign: s comes next, then, with d as a complex number, its square
u + i v. Where fits begin far away d itself falls to 0, from where no slope leads away; u and v pass
through it. Under the uniform prior within the limits

    p = |d theta / d x| = u_z^10 / (4 |d|^2).

Source: ours; limits: Heiden et al., Table IV.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.systems.rigid_bodies import box_parameters
from ricochet.models.systems.rigid_bodies.box_parameters import MASS

_BOX = 11
_LEAST = 1e-9
_FURTHEST = 0.14
"""Of a weight from the middle along one axis, m: by which places are divided."""


@dataclass(frozen=True)
class BoxCoordinates:
    """Of the eleven parameters of a box and, where there are fifteen, the places of two weights.

    Attributes:
        fitting: Coordinates of fits, whose law is normal and about as wide as the prior, without
            limits; else those of a posterior, beyond whose limits there is nothing.
    """

    limits: Limits
    fitting: bool = False

    @property
    def shares(self) -> Shares:
        """Of the limits' range."""
        return Shares(self.limits)

    @property
    def precision(self) -> Float[Tensor, " parameter"]:
        """By the quartiles of the prior."""
        first, _, third = self._quartiles
        return (1.35 / (third - first)) ** 2

    @property
    def free(self) -> Float[Tensor, " parameter"]:
        """None is."""
        return torch.zeros_like(self.limits.low)

    def parameters(self, x: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the parameters; of both signs of d that with its x not negative."""
        box = _box(x[..., :_BOX])
        if x.shape[-1] == _BOX:
            return box
        middle, away = x[..., _BOX : _BOX + 2] * _FURTHEST, _root(x)
        return torch.cat((box, middle + away, middle - away), -1)

    def of(self, theta: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch parameter"]:
        """Return the coordinates."""
        numbers = box_parameters.of_empty(theta[..., :_BOX])
        moment = numbers[..., 2:3]
        ratios = torch.cat((numbers[..., :2], numbers[..., 3:]), -1) / moment
        if theta.shape[-1] == _BOX:
            return torch.cat((ratios, moment), -1)
        first, second = (theta[..., _BOX:] / _FURTHEST).split(2, -1)
        x, y = (0.5 * (first - second)).unbind(-1)
        square = torch.stack((x * x - y * y, 2.0 * x * y), -1)
        return torch.cat((ratios, moment, 0.5 * (first + second), square), -1)

    def slopes(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> Float[Tensor, "*batch parameter parameter"]:
        """Return the derivatives of the parameters."""
        found = x.new_zeros(*x.shape, x.shape[-1])
        own = x[..., :_BOX].reshape(-1, _BOX)
        slopes = torch.func.vmap(torch.func.jacrev(_box))(own)
        found[..., :_BOX, :_BOX] = slopes.reshape(*x.shape[:-1], _BOX, _BOX)
        if x.shape[-1] > _BOX:
            found[..., _BOX:, _BOX:] = _of_places(x)
        return found

    def log_prior(
        self, x: Float[Tensor, "*batch parameter"]
    ) -> tuple[Float[Tensor, "*batch"], Float[Tensor, "*batch parameter"]]:
        """Return log p(x) and its gradient."""
        if self.fitting:
            pull = self.precision * (self._quartiles[1] - x)
            return 0.5 * (pull * (x - self._quartiles[1])).sum(-1), pull
        low, high, theta = self.limits.low, self.limits.high, self.parameters(x)
        inside = ((theta > low) & (theta < high)).all(-1)
        moment, gradient = x[..., _BOX - 1].clamp_min(_LEAST), torch.zeros_like(x)
        gradient[..., _BOX - 1] = (_BOX - 1.0) / moment
        value = (_BOX - 1.0) * moment.log()
        if x.shape[-1] > _BOX:
            power = x[..., -2:].square().sum(-1).clamp_min(_LEAST**2)
            value = value - 0.5 * power.log()
            gradient[..., -2:] = -x[..., -2:] / power[..., None]
        return torch.where(inside, value, -torch.inf), gradient

    @cached_property
    def _quartiles(self) -> Float[Tensor, "3 parameter"]:
        low = self.limits.low
        engine = torch.quasirandom.SobolEngine(len(low))
        share = engine.draw(4096, dtype=low.dtype).clamp(1e-6, 1.0 - 1e-6)
        x = self.of(self.shares.parameters(share))
        return torch.quantile(x, torch.tensor([0.25, 0.5, 0.75]).to(x), 0)


def _box(x: Float[Tensor, "*batch 11"]) -> Float[Tensor, "*batch 11"]:
    """Return the parameters of a box by ratios and moment."""
    moment = x[..., 10:]
    level, inertia, friction = (moment * x[..., :10]).split((2, 6, 2), -1)
    centre = torch.cat((level, moment), -1) / MASS
    return torch.cat((inertia - MASS * box_parameters.about(centre), centre, friction), -1)


def _root(x: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch 2"]:
    """Return d, m."""
    square = torch.complex(x[..., -2].contiguous(), x[..., -1].contiguous())
    return _FURTHEST * torch.view_as_real(torch.sqrt(square))


def _of_places(x: Float[Tensor, "*batch parameter"]) -> Float[Tensor, "*batch 4 4"]:
    """Return the derivatives of the places: d(d) = d(u + i v) / 2 d."""
    along, across = _root(x).unbind(-1)
    share = 0.5 * _FURTHEST**2 / (along**2 + across**2).clamp_min(_LEAST**2)
    a, b = share * along, share * across
    away = torch.stack((torch.stack((a, b), -1), torch.stack((-b, a), -1)), -2)
    middle = (_FURTHEST * torch.eye(2).to(x)).expand(away.shape)
    return torch.cat((torch.cat((middle, away), -1), torch.cat((middle, -away), -1)), -2)
