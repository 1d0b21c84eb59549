r"""Posteriors of parameters from motions: particles that Newton's steps bring where the density is.

1. Particles begin on a Sobol sequence within the limits; those without a motion are passed over.
2. Each goes to a best fit of its own to the first motion, defects tightened on the way
   (`gauss_newton`), and those near the best of all from there to one of all motions.
3. Those near the best again stay, and are drawn again until their number is full.
4. If the residuals of the best fit are white, the equations hold: defects stay next to nothing.
   Else how far states depart from them, from window to window, is inferred with the rest; so it is
   where observations were smoothed, whose errors are not independent.
5. Moves that keep the posterior density (`shooting_moves`) spread the particles by its law. Whether
   they mix is said by the ratio of Gelman and Rubin.

Sources: Heiden et al., Algorithm 1 and appendix I-A (particles, windows, Sobol starts). Their
kernel's repulsion leaves open which law a few particles have; the moves take its place.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import gauss_newton, residual_whiteness, shooting_moves
from ricochet.models.inference.gauss_newton import Schedule
from ricochet.models.inference.limits import Coordinates, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import (
    Noise,
    ShootingDensity,
    Unknowns,
    in_all_states,
)
from ricochet.models.inference.shooting_moves import Chain

LEAST = {True: 1e-2, False: 0.05}
"""Delta over sigma where the equations hold, and its least value where they do not.

Of an oscillator seen for 120 steps, 0.01 gives the widths of single shooting; at 0.001 moves along
bent ridges are too short to mix.
"""
_CANDIDATES = 8


@dataclass(frozen=True)
class Settings:
    """How much is done.

    Attributes:
        near: A fit stays if its residuals are at most this many times those of the best.
        settling: Rounds of moves before any is kept.
        rounds: Rounds whose particles are kept.
        freely: Moves along what no motion depends on, in each round.
    """

    particles: int = 100
    schedule: Schedule = field(default_factory=Schedule)
    near: float = 1.1
    settling: int = 40
    rounds: int = 20
    freely: int = 20


class NothingMovesError(ValueError):
    """Too few places within the limits have motions at all."""


@dataclass(frozen=True)
class Posterior:
    """Particles of the rounds that were kept.

    Attributes:
        theta: Parameters.
        starts: Of all windows, after the last round.
        sigma: Deviations of the observations of states that are seen, in their units.
        delta: Deviations of states from window to window, in their units.
        fits: Root mean square of the residuals of each particle's best fit, over the scale.
        white: Chance, if the equations hold, of residuals correlated as those of the best fit are.
        mixing: Gelman and Rubin's ratio of each coordinate that is not free; 1 where particles mix.
        accepted: Share of the last moves that were accepted.
    """

    theta: Float[Tensor, "round particle parameter"]
    starts: Float[Tensor, "particle trajectory window state"]
    sigma: Float[Tensor, "round particle seen"]
    delta: Float[Tensor, "round particle state"]
    fits: Float[Tensor, " particle"]
    white: float
    mixing: Float[Tensor, " coordinate"]
    accepted: float


def infer(
    shooting: Shooting,
    coordinates: Coordinates,
    generator: np.random.Generator,
    *,
    settings: Settings,
    spread_in: Coordinates | None = None,
    known_starts: bool = False,
    apart: int = 1,
    progress: Progress = no_progress,
) -> Posterior:
    """Return the posterior of the parameters of some motions.

    >>> from ricochet.models.inference import throws
    >>> density, _, _ = throws.example(1)  # by a pull of -2 m/s^2 and a wind of 0.5 m/s
    >>> settings = Settings(particles=20, settling=10, rounds=5)
    >>> draw = np.random.default_rng(0)
    >>> found = infer(density.shooting, density.coordinates, draw, settings=settings)
    >>> found.theta.shape, bool(found.theta.mean((0, 1))[1] > 0.0)
    (torch.Size([5, 20, 2]), True)

    Args:
        coordinates: Of the fits.
        spread_in: Coordinates of the moves: the better the density is like a normal one in them,
            the further they go. Shares of the limits' range when absent.
        known_starts: Whether motions begin exactly where they were first observed.
        apart: Steps from which on errors of observations are independent: 1 of those that were not
            smoothed, the window's width of those that were.

    Raises:
        ValueError: If too few places within the limits have motions at all.
    """
    fitting = ShootingDensity(shooting, coordinates, known_starts)
    found, fits = _fitted(
        fitting, settings, generator, lambda done, count: progress(done, 2 * count)
    )
    near = gauss_newton.refined(
        fitting, found[(fits <= settings.near * fits.min()).nonzero()[:, 0]], LEAST[True]
    )
    drawn = torch.from_numpy(generator.integers(len(near.x), size=settings.particles))
    moving = spread_in or Shares(coordinates.limits)
    density = ShootingDensity(shooting, moving, known_starts)
    inside = Shares(coordinates.limits)
    theta = inside.of(coordinates.parameters(near.x)).clamp(1e-9, 1.0 - 1e-9)
    chosen = Unknowns(moving.of(inside.parameters(theta)), near.z)[drawn]
    return _spread(
        density,
        chosen,
        fits,
        apart,
        settings,
        generator,
        lambda done, count: progress(count + done, 2 * count),
    )


def _fitted(
    density: ShootingDensity,
    settings: Settings,
    generator: np.random.Generator,
    progress: Progress,
) -> tuple[Unknowns, Float[Tensor, " particle"]]:
    """Return fits and what they miss by: infinity where the first motion was missed already."""
    shooting = density.shooting
    first = replace(density, shooting=replace(shooting, observed=shooting.observed[:1]))
    start = begun(first, settings.particles, generator)
    alone = gauss_newton.fit(
        first, start, settings.schedule, progress=lambda done, count: progress(done, 2 * count)
    )
    fits = residuals(first, alone)
    if len(shooting.observed) == 1:
        return alone, fits
    near = (fits <= settings.near * fits.min()).nonzero()[:, 0]
    others = (shooting.starts / shooting.scale)[1:].expand(len(fits), -1, -1, -1)
    found = Unknowns(alone.x, torch.cat((alone.z, others), 1))
    refitted = gauss_newton.fit(
        density,
        found[near],
        settings.schedule,
        progress=lambda done, count: progress(count + done, 2 * count),
    )
    missed = torch.full_like(fits, torch.inf)
    return found.put(near, refitted), missed.index_copy(0, near, residuals(density, refitted))


def begun(density: ShootingDensity, count: int, generator: np.random.Generator) -> Unknowns:
    """Return particles on a Sobol sequence that have a motion, windows where they were observed.

    >>> from ricochet.models.inference import throws
    >>> begun(throws.example(1)[0], 4, np.random.default_rng(0)).x.shape
    torch.Size([4, 2])

    Raises:
        ValueError: If fewer than one in eight has.
    """
    z = density.shooting.starts / density.shooting.scale
    size, seed = len(density.coordinates.limits.low), int(generator.integers(2**31))
    places = torch.quasirandom.SobolEngine(size, scramble=True, seed=seed)
    share = places.draw(_CANDIDATES * count, dtype=z.dtype).clamp(0.02, 0.98)
    found: list[Unknowns] = []
    coordinates = density.coordinates
    for each in coordinates.of(coordinates.shares.parameters(share)).split(count):
        tried = Unknowns(each, z.expand(len(each), *z.shape).clone())
        moving = torch.isfinite(density.at(tried).residuals.flatten(1).square().sum(1))
        found.append(tried[moving.nonzero()[:, 0]])
        if sum(len(some.x) for some in found) >= count:
            break
    x, z = (torch.cat([getattr(some, name) for some in found]) for name in ("x", "z"))
    if len(x) < count:
        raise NothingMovesError(
            f"a motion at {len(x)} of {len(share)} places within the limits, expected at {count}:"
            " other limits, or a recording of what can move"
        )
    return Unknowns(x[:count], z[:count])


def residuals(density: ShootingDensity, unknowns: Unknowns) -> Float[Tensor, " particle"]:
    """Return the root mean squares of the residuals; infinity for what is no motion.

    >>> from ricochet.models.inference import throws
    >>> density, begun, _ = throws.example(2)
    >>> residuals(density, begun).shape
    torch.Size([2])
    """
    found = density.at(unknowns).residuals.square().mean((1, 2, 3, 4)).sqrt()
    return found.nan_to_num(torch.inf)


def _spread(
    density: ShootingDensity,
    chosen: Unknowns,
    fits: Float[Tensor, " particle"],
    apart: int,
    settings: Settings,
    generator: np.random.Generator,
    progress: Progress,
) -> Posterior:
    """Move particles until they have the law of the posterior, then keep some rounds of them."""
    shot = density.at(chosen)
    sigma = shot.residuals.square().mean((1, 2, 3)).sqrt()
    chance = residual_whiteness.chance(shot.residuals[0].flatten(1, 2).numpy(), apart)
    exact = apart == 1 and chance >= residual_whiteness.WHITE
    states = len(density.shooting.scale)
    least, length = LEAST[exact] * in_all_states(sigma, states).mean(0), 0.1
    noise = Noise(sigma, least.expand(len(sigma), -1))
    chain = Chain(shooting_moves.scattered(density, chosen, noise, generator), noise, 0.5)
    kept: list[Chain] = []
    freely = settings.freely if bool((density.coordinates.free > 0.0).any()) else 0
    whole = settings.settling + settings.rounds
    for number in range(whole):
        settling = number < settings.settling
        x, length = shooting_moves.moved_freely(
            density.coordinates, chain.unknowns.x, freely, length, generator, adapt=settling
        )
        chain = replace(chain, unknowns=Unknowns(x, chain.unknowns.z))
        chain = shooting_moves.moved(
            density, chain, 1, generator, least=least, exact=exact, adapt=settling
        )
        if settling:
            usual = in_all_states(chain.noise.sigma, states).median(0).values
            least = torch.minimum(least, LEAST[exact] * usual)
        else:
            kept.append(chain)
        progress(number + 1, whole)
    return _posterior(density, kept, fits, chance)


def _posterior(
    density: ShootingDensity, kept: list[Chain], fits: Float[Tensor, " particle"], white: float
) -> Posterior:
    """Gather what was kept."""
    scale = density.shooting.scale
    x = torch.stack([each.unknowns.x for each in kept])
    return Posterior(
        density.coordinates.parameters(x),
        kept[-1].unknowns.z * scale,
        torch.stack([each.noise.sigma for each in kept]) * scale[: density.shooting.observable],
        torch.stack([each.noise.delta for each in kept]) * scale,
        fits,
        white,
        gelman_rubin(x[..., density.coordinates.free == 0.0]),
        float(np.mean([each.accepted for each in kept])),
    )


def gelman_rubin(
    draws: Float[Tensor, "round particle coordinate"],
) -> Float[Tensor, " coordinate"]:
    """Return the square root of the variance of all draws over that within particles.

    >>> rounds = torch.tensor([[[0.0], [0.0]], [[1.0], [1.0]]])
    >>> gelman_rubin(rounds), gelman_rubin(rounds + torch.tensor([[[0.0], [9.0]]]))
    (tensor([0.7071]), tensor([9.0277]))

    Source: Gelman and Rubin 1992.
    """
    rounds = len(draws)
    within, between = draws.var(0).mean(0), draws.mean(0).var(0)
    return ((rounds - 1.0) / rounds + between / within).sqrt()
