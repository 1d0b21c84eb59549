r"""Posteriors of parameters from motions all but linear in coordinates of these, noise inferred.

1. Particles begin on a Sobol sequence within the limits and go to a best fit of the first motion,
   then of all (`gauss_newton`), in coordinates that know no limits.
2. From the best fits they are brought within the limits, and wander by what the fit alone tells.
3. How far states depart from the equations, from window to window, is inferred with the rest, be
   the residuals of the best fit white or not: slow departures can bend parameters by many of their
   deviations before correlations of neighbouring residuals show them.
4. Rounds of moves with starts of windows integrated out (`collapsed_moves`), by an approximation
   about the best fit that is made anew for the noise of each particle in every round.

It is what `stein_newton` does where starts hold parameters fast, as departures do, and where limits
cut off much of what data leave open. `stein_newton` needs no coordinates in which motions are
linear, and no fit whose neighbourhood is the whole posterior.

Source: ours; particles, windows, Sobol starts: Heiden et al., Algorithm 1 and appendix I-A.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import (
    collapsed_moves,
    gauss_newton,
    residual_whiteness,
    stein_newton,
)
from ricochet.models.inference.collapsed_moves import Collapsed
from ricochet.models.inference.gauss_newton import Schedule
from ricochet.models.inference.limits import Coordinates
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import (
    Noise,
    ShootingDensity,
    Unknowns,
    in_all_states,
)
from ricochet.models.inference.stein_newton import LEAST, Posterior

Symmetry = Callable[[Float[Tensor, "particle parameter"]], Float[Tensor, "particle parameter"]]
_INSIDE = 0.01
_FIRST, _FIRST_DELTA = 2000, 0.1


@dataclass(frozen=True)
class Settings:
    """How much is done.

    Attributes:
        near: A fit stays if its residuals are at most this many times those of the best.
        settling: Rounds of moves before any is kept.
        rounds: Rounds whose particles are kept.
    """

    particles: int = 16
    schedule: Schedule = field(
        default_factory=lambda: Schedule(widest=0.05, tightest=0.003, quick=0.5, steps=60)
    )
    near: float = 1.1
    settling: int = 30
    rounds: int = 30


@dataclass(frozen=True)
class _Round:
    """A round that was kept, and the share of its moves that were accepted."""

    here: Collapsed
    noise: Noise
    accepted: float


def infer(
    shooting: Shooting,
    coordinates: Coordinates,
    generator: np.random.Generator,
    *,
    fitting: Coordinates,
    settings: Settings,
    symmetry: Symmetry | None = None,
    apart: int = 1,
    progress: Progress = no_progress,
) -> Posterior:
    """Return the posterior of the parameters of some motions.

    >>> from ricochet.models.inference import throws
    >>> from ricochet.models.inference.limits import Shares
    >>> density, _, _ = throws.example(1)  # by a pull of -2 m/s^2 and a wind of 0.5 m/s
    >>> shares, draw = Shares(density.coordinates.limits), np.random.default_rng(0)
    >>> settings = Settings(settling=5, rounds=5)
    >>> found = infer(density.shooting, shares, draw, fitting=shares, settings=settings)
    >>> found.theta.shape, bool(found.theta.mean((0, 1))[1] > 0.0)
    (torch.Size([5, 16, 2]), True)

    Args:
        coordinates: Of the posterior.
        fitting: The same coordinates, of another law that knows no limits.
        symmetry: What parameters may be changed into, and back, without a difference to motions or
            to the prior: particles take it or not, by chance.
        apart: Steps from which on errors of observations are independent.

    Raises:
        ValueError: If too few places within the limits have motions at all.
    """
    fits = ShootingDensity(shooting, fitting)
    found = _fitted(fits, settings, generator, lambda done, count: progress(done, 3 * count))
    missed = stein_newton.residuals(fits, found)
    best = found[missed.argmin()[None]]
    near = found[(missed <= settings.near * missed.min()).nonzero()[:, 0]]
    drawn = torch.from_numpy(generator.integers(len(near.x), size=settings.particles))
    kept, white = _spread(
        ShootingDensity(shooting, coordinates),
        fits,
        (near[drawn], best),
        apart,
        settings,
        generator,
        lambda done, count: progress(count + 2 * done, 3 * count),
    )
    return _posterior(fits, kept, missed, white, symmetry, generator)


def _fitted(
    density: ShootingDensity,
    settings: Settings,
    generator: np.random.Generator,
    progress: Progress,
) -> Unknowns:
    """Return fits of the first motion, and from there of all."""
    shooting = density.shooting
    first = replace(density, shooting=replace(shooting, observed=shooting.observed[:1]))
    start = stein_newton.begun(first, settings.particles, generator)
    alone = gauss_newton.fit(
        first, start, settings.schedule, progress=lambda done, count: progress(done, 2 * count)
    )
    if len(shooting.observed) == 1:
        return alone
    others = (shooting.starts / shooting.scale)[1:].expand(len(alone.x), -1, -1, -1)
    return gauss_newton.fit(
        density,
        Unknowns(alone.x, torch.cat((alone.z, others), 1)),
        settings.schedule,
        progress=lambda done, count: progress(count + done, 2 * count),
    )


def _spread(
    density: ShootingDensity,
    fits: ShootingDensity,
    begun: tuple[Unknowns, Unknowns],
    apart: int,
    settings: Settings,
    generator: np.random.Generator,
    progress: Progress,
) -> tuple[list[_Round], float]:
    """Move particles by the law of the posterior; return rounds, and how white residuals were."""
    near, best = begun
    coordinates, count, states = density.coordinates, len(near.x), len(density.shooting.scale)
    shot = fits.at(best)
    sigma = shot.residuals.square().mean((1, 2, 3)).sqrt()
    white = residual_whiteness.chance(shot.residuals[0].flatten(1, 2).numpy(), apart)
    usual = in_all_states(sigma, states)
    least = LEAST[False] * usual[0]
    noise = Noise(sigma.expand(count, -1), _FIRST_DELTA * usual.expand(count, -1))
    everywhere = Unknowns(best.x.expand(count, -1), best.z.expand(count, -1, -1, -1))
    about = collapsed_moves.collapsed(fits, everywhere, noise)
    law, inside = collapsed_moves.normal(fits.coordinates, about), coordinates.shares
    share = inside.of(fits.coordinates.parameters(near.x)).clamp(_INSIDE, 1.0 - _INSIDE)
    x = coordinates.of(inside.parameters(share))
    x = collapsed_moves.wandered(coordinates, law, x, generator, moves=_FIRST)
    here = collapsed_moves.collapsed(density, Unknowns(x, near.z), noise)
    kept = []
    for number in range(settings.settling + settings.rounds):
        noise = collapsed_moves.noise_of(density, here, least, generator)
        here = collapsed_moves.collapsed(density, here.unknowns, noise, steps=1)
        about = collapsed_moves.collapsed(fits, about.unknowns, noise, steps=1)
        law = collapsed_moves.normal(fits.coordinates, about)
        here, accepted = collapsed_moves.moved(density, here, law, noise, generator)
        if number >= settings.settling:
            kept.append(_Round(here, noise, accepted))
        progress(number + 1, settings.settling + settings.rounds)
    return kept, white


def _posterior(
    density: ShootingDensity,
    kept: list[_Round],
    missed: Float[Tensor, " particle"],
    white: float,
    symmetry: Symmetry | None,
    generator: np.random.Generator,
) -> Posterior:
    """Gather what was kept."""
    shooting = density.shooting
    scale, seen = shooting.scale, shooting.scale[: shooting.observable]
    x = torch.stack([each.here.unknowns.x for each in kept])
    theta = density.coordinates.parameters(x)
    if symmetry is not None:
        taken = torch.from_numpy(generator.uniform(size=x.shape[:2]) < 0.5)
        theta = torch.where(taken[..., None], symmetry(theta), theta)
    last = collapsed_moves.drawn(kept[-1].here, generator)
    return Posterior(
        theta,
        last.z * scale,
        torch.stack([each.noise.sigma for each in kept]) * seen,
        torch.stack([each.noise.delta for each in kept]) * scale,
        missed,
        white,
        stein_newton.gelman_rubin(x),
        float(np.mean([each.accepted for each in kept])),
    )
