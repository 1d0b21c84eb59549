r"""Moves of parameters with the starts of all windows integrated out, for motions all but linear.

Given the parameters x and the deviations sigma and delta, the starts z of windows have all but a
normal law (`shooting_density`): its mode z* is found by Newton's steps, and its precision C is a
block of the metric. What is left is a density of a few numbers,

    log p(x) = log p(x, z*) - 1/2 log det C(z*) + constant,

exact where motions are linear in their starts, with the metric S of the parameters when starts are
integrated out, and a gradient g. About a fixed place x_0 the data alone give the normal law

    log q(x) = g_0 (x - x_0) - 1/2 (x - x_0)' S_0 (x - x_0),

from which the density differs little where motions are all but linear in coordinates too. Each
particle wanders by many cheap moves, whole rounds of `SCALES`, that keep prior times q, limits
included, and are as likely as their way back, to x'. It stays there with the probability
min(1, p(x') q(x) / (p(x) q(x'))), p less the prior: its law is then p. Then starts are drawn from
theirs, and sigma and delta given them (`shooting_moves.noise_of`). Where departures from the
equations are strong, hundreds of starts hold parameters fast, and moves of all of them
(`shooting_moves`) take long to mix; these do not.

Sources: Tierney and Kadane 1986 (the integral); Christen and Fox 2005 (moves by an approximation);
the density: ours.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ricochet.models.inference import shooting_moves
from ricochet.models.inference.limits import Coordinates
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns

NEWTON = 2
"""Steps of the starts to their mode, from where it was before a move."""
WANDERED = 400
"""Cheap moves of a particle."""
SCALES = (1.0, 0.3, 0.1, 0.03, 0.03, 0.1, 0.3, 1.0)
"""Of these, over 2.4 / sqrt(parameters) deviations: the same backwards, so that a whole number of
rounds of them is as likely as its way back."""


@dataclass(frozen=True)
class Collapsed:
    """Particles, and the density where they are.

    Attributes:
        unknowns: Coordinates, and the likeliest starts.
        value: Log density of the coordinates; minus infinity where there is none.
        gradient: By the coordinates.
        factor: Cholesky's, of S.
        own: Of C, of each trajectory.
    """

    unknowns: Unknowns
    value: Float[Tensor, " particle"]
    gradient: Float[Tensor, "particle parameter"]
    factor: Float[Tensor, "particle parameter parameter"]
    own: Float[Tensor, "particle trajectory start start"]

    def replaced(self, taken: Bool[Tensor, " particle"], others: "Collapsed") -> "Collapsed":
        """Return them with some replaced by others."""

        def chosen(mine: Tensor, other: Tensor) -> Tensor:
            return torch.where(taken.reshape(-1, *(1,) * (mine.ndim - 1)), other, mine)

        mine, theirs = self.unknowns, others.unknowns
        return Collapsed(
            Unknowns(chosen(mine.x, theirs.x), chosen(mine.z, theirs.z)),
            chosen(self.value, others.value),
            chosen(self.gradient, others.gradient),
            chosen(self.factor, others.factor),
            chosen(self.own, others.own),
        )


def collapsed(
    density: ShootingDensity, unknowns: Unknowns, noise: Noise, *, steps: int = NEWTON
) -> Collapsed:
    """Return the density with starts integrated out, about their mode.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(3)
    >>> collapsed(density, begun, noise).factor.shape
    torch.Size([3, 2, 2])

    Args:
        unknowns: Starts near to their mode.
        steps: Newton's, until the mode is reached: one where motions are linear in their starts.
    """
    for _ in range(steps):
        here = density.expanded(unknowns, density.at(unknowns), noise)
        dz = torch.cholesky_solve(here.by_z[..., None], here.metric.factors[0])[..., 0]
        unknowns = unknowns.moved(torch.zeros_like(unknowns.x), dz.nan_to_num())
    here = density.expanded(unknowns, density.at(unknowns), noise)
    own, scaled, factor = here.metric.factors
    left = torch.linalg.solve_triangular(own, here.by_z[..., None], upper=False)[..., 0]
    gradient = here.by_x - torch.einsum("prki,prk->pi", scaled, left)
    value = here.value - own.diagonal(dim1=-2, dim2=-1).log().sum((1, 2))
    dense = torch.isfinite(value) & torch.isfinite(factor).flatten(1).all(1)
    unit = torch.eye(factor.shape[-1]).to(factor)
    return Collapsed(
        unknowns,
        torch.where(dense, value, -torch.inf),
        torch.where(dense[:, None], gradient, 0.0),
        torch.where(dense[:, None, None], factor, unit),
        own,
    )


@dataclass(frozen=True)
class Normal:
    """What data tell about some place, without the prior.

    Attributes:
        place: x_0.
        gradient: g_0.
        precision: S_0.
        factor: Cholesky's, of S_0 and the precision that stands for the prior.
    """

    place: Float[Tensor, "particle parameter"]
    gradient: Float[Tensor, "particle parameter"]
    precision: Float[Tensor, "particle parameter parameter"]
    factor: Float[Tensor, "particle parameter parameter"]

    def log_density(self, x: Float[Tensor, "particle parameter"]) -> Float[Tensor, " particle"]:
        """Return log q(x), but for a constant."""
        away = x - self.place
        bent = (self.precision @ away[..., None])[..., 0]
        return (away * (self.gradient - 0.5 * bent)).sum(1)


def normal(coordinates: Coordinates, there: Collapsed) -> Normal:
    """Return what data tell about where particles are.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(3)
    >>> here = collapsed(density, begun, noise)
    >>> bool((normal(density.coordinates, here).log_density(begun.x) == 0.0).all())
    True
    """
    slope = coordinates.log_prior(there.unknowns.x)[1]
    precision = there.factor @ there.factor.mT - torch.diag(coordinates.precision)
    return Normal(there.unknowns.x, there.gradient - slope, precision, there.factor)


def wandered(
    coordinates: Coordinates,
    law: Normal,
    x: Float[Tensor, "particle parameter"],
    generator: np.random.Generator,
    *,
    moves: int = WANDERED,
) -> Float[Tensor, "particle parameter"]:
    """Move particles by the prior times a normal law, which needs no simulation.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(3)
    >>> law = normal(density.coordinates, collapsed(density, begun, noise))
    >>> wandered(density.coordinates, law, begun.x, np.random.default_rng(0)).shape
    torch.Size([3, 2])
    """
    value = law.log_density(x) + coordinates.log_prior(x)[0]
    usual = 2.4 / x.shape[1] ** 0.5
    for number in range(moves):
        white = x.new_tensor(generator.normal(size=(*x.shape, 1)))
        step = torch.linalg.solve_triangular(law.factor.mT, white, upper=True)[..., 0]
        tried = x + usual * SCALES[number % len(SCALES)] * step
        there = law.log_density(tried) + coordinates.log_prior(tried)[0]
        taken = torch.log(x.new_tensor(generator.uniform(size=len(x)))) < there - value
        x, value = torch.where(taken[:, None], tried, x), torch.where(taken, there, value)
    return x


def moved(
    density: ShootingDensity,
    here: Collapsed,
    law: Normal,
    noise: Noise,
    generator: np.random.Generator,
) -> tuple[Collapsed, float]:
    """Let each particle wander once; return them and the share that stayed where they came to.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(20)
    >>> here, draw = collapsed(density, begun, noise), np.random.default_rng(0)
    >>> moved(density, here, normal(density.coordinates, here), noise, draw)[1] > 0.5
    True
    """
    coordinates, before = density.coordinates, here.unknowns.x
    x = wandered(coordinates, law, before, generator)
    there = collapsed(density, Unknowns(x, here.unknowns.z), noise)
    gain = there.value - coordinates.log_prior(x)[0] - law.log_density(x)
    loss = here.value - coordinates.log_prior(before)[0] - law.log_density(before)
    chance = (gain - loss).nan_to_num(-torch.inf)
    taken = torch.log(chance.new_tensor(generator.uniform(size=len(chance)))) < chance
    return here.replaced(taken, there), float(taken.double().mean())


def drawn(here: Collapsed, generator: np.random.Generator) -> Unknowns:
    """Draw the starts of windows given the parameters.

    >>> from ricochet.models.inference import throws
    >>> here = collapsed(*throws.example(3))
    >>> drawn(here, np.random.default_rng(0)).z.shape == here.unknowns.z.shape
    True
    """
    white = here.own.new_tensor(generator.normal(size=(*here.own.shape[:-1], 1)))
    dz = torch.linalg.solve_triangular(here.own.mT, white, upper=True)[..., 0]
    return here.unknowns.moved(torch.zeros_like(here.unknowns.x), dz.nan_to_num())


def noise_of(
    density: ShootingDensity,
    here: Collapsed,
    least: Float[Tensor, " state"],
    generator: np.random.Generator,
    *,
    exact: bool = False,
) -> Noise:
    """Draw sigma and delta given the parameters: starts first, then these given starts.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(3)
    >>> here, least = collapsed(density, begun, noise), torch.full((2,), 1e-3).double()
    >>> noise_of(density, here, least, np.random.default_rng(0)).sigma.shape
    torch.Size([3, 2])
    """
    shot = density.at(drawn(here, generator))
    return shooting_moves.noise_of(density, shot, least, generator, exact=exact)
