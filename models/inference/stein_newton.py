r"""Posteriors of parameters from motions: particles that Newton's steps bring where the density is.

1. Particles begin on a Sobol sequence within the limits; those without a motion are passed over.
2. Each goes to a best fit of its own, defects tightened on the way (`gauss_newton`).
3. Those near the best of all stay, and are drawn again until their number is full.
4. Moves that keep the posterior density (`shooting_moves`, `ridge_moves`) spread them by its law,
   noise and defects inferred beside. Whether they mix is said by the ratio of Gelman and Rubin.

Sources: Heiden et al., Algorithm 1 and appendix I-A (particles, windows, Sobol starts). Their
kernel's repulsion leaves open which law a few particles have; the moves take its place.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import gauss_newton, ridge_moves, shooting_moves
from ricochet.models.inference.gauss_newton import Schedule
from ricochet.models.inference.limits import Logistic, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.ridge_moves import Identified, Ridge
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from ricochet.models.inference.shooting_moves import Chain

LEAST = 0.05
"""Least delta over sigma: windows do not tell such defects from none."""
_CANDIDATES = 8


@dataclass(frozen=True)
class Settings:
    """How much is done.

    Attributes:
        near: A fit stays if its residuals are at most this many times those of the best.
        settling: Rounds of moves before any is kept.
        rounds: Rounds whose particles are kept.
        along: Moves along what data do not tell, in each round.
    """

    particles: int = 100
    schedule: Schedule = field(default_factory=Schedule)
    near: float = 1.1
    settling: int = 40
    rounds: int = 20
    along: int = 20


@dataclass(frozen=True)
class Posterior:
    """Particles of the rounds that were kept.

    Attributes:
        theta: Parameters.
        starts: Of all windows, after the last round.
        sigma: Deviations of the observations, in their units.
        delta: Deviations of states from window to window, in their units.
        fits: Root mean square of the residuals of each particle's best fit, over the scale.
        mixing: Gelman and Rubin's ratio of all that data tell; 1 where particles mix.
        accepted: Share of the last moves that were accepted.
    """

    theta: Float[Tensor, "round particle parameter"]
    starts: Float[Tensor, "particle trajectory window state"]
    sigma: Float[Tensor, "round particle state"]
    delta: Float[Tensor, "round particle state"]
    fits: Float[Tensor, " particle"]
    mixing: Float[Tensor, " function"]
    accepted: float


def infer(
    shooting: Shooting,
    coordinates: Logistic,
    generator: np.random.Generator,
    *,
    settings: Settings,
    identified: Identified | None = None,
    known_starts: bool = False,
    progress: Progress = no_progress,
) -> Posterior:
    """Return the posterior of the parameters of some motions.

    Args:
        coordinates: Of the fits: the limits, and whose magnitude is unknown.
        identified: What data tell of the parameters, if not all.
        known_starts: Whether motions begin exactly where they were first observed.

    Raises:
        ValueError: If too few places within the limits have motions at all.
    """
    fitting = ShootingDensity(shooting, coordinates, known_starts)
    whole = settings.settling + settings.rounds
    found = gauss_newton.fit(
        fitting,
        begun(fitting, settings.particles, generator),
        settings.schedule,
        progress=lambda done, count: progress(done * whole, 2 * count * whole),
    )
    fits = residuals(fitting, found)
    near = (fits <= settings.near * fits.min()).nonzero()[:, 0]
    drawn = torch.from_numpy(generator.integers(len(near), size=settings.particles))
    shares = Shares(coordinates.limits)
    density = ShootingDensity(shooting, shares, known_starts, identified)
    inside = shares.of(coordinates.parameters(found.x)).clamp(1e-9, 1.0 - 1e-9)
    chosen = Unknowns(inside, found.z)[near[drawn]]
    return _spread(
        density,
        chosen,
        fits,
        settings,
        generator,
        lambda done, count: progress(count + done, 2 * count),
    )


def begun(density: ShootingDensity, count: int, generator: np.random.Generator) -> Unknowns:
    """Return particles on a Sobol sequence that have a motion, windows where they were observed.

    Raises:
        ValueError: If fewer than one in eight has.
    """
    z = density.shooting.starts / density.shooting.scale
    size, seed = len(density.coordinates.limits.low), int(generator.integers(2**31))
    places = torch.quasirandom.SobolEngine(size, scramble=True, seed=seed)
    share = places.draw(_CANDIDATES * count, dtype=z.dtype).clamp(0.02, 0.98)
    found: list[Unknowns] = []
    for each in torch.logit(share).split(count):
        tried = Unknowns(each, z.expand(len(each), *z.shape).clone())
        moving = torch.isfinite(density.at(tried).residuals.flatten(1).square().sum(1))
        found.append(tried[moving.nonzero()[:, 0]])
        if sum(len(some.x) for some in found) >= count:
            break
    x, z = (torch.cat([getattr(some, name) for some in found]) for name in ("x", "z"))
    if len(x) < count:
        raise ValueError(f"limits: {len(x)} of {len(share)} places within them have a motion")
    return Unknowns(x[:count], z[:count])


def residuals(density: ShootingDensity, unknowns: Unknowns) -> Float[Tensor, " particle"]:
    """Return the root mean squares of the residuals; infinity for what is no motion."""
    found = density.at(unknowns).residuals.square().mean((1, 2, 3, 4)).sqrt()
    return found.nan_to_num(torch.inf)


def _spread(
    density: ShootingDensity,
    chosen: Unknowns,
    fits: Float[Tensor, " particle"],
    settings: Settings,
    generator: np.random.Generator,
    progress: Progress,
) -> Posterior:
    """Move particles until they have the law of the posterior, then keep some rounds of them."""
    shot = density.at(chosen)
    sigma = shot.residuals.square().mean((1, 2, 3)).sqrt()
    least, length = LEAST * sigma.mean(0), 0.1
    chain = Chain(chosen, Noise(sigma, least.expand_as(sigma)), 0.2)
    kept: list[Chain] = []
    whole = settings.settling + settings.rounds
    for number in range(whole):
        settling = number < settings.settling
        if density.identified is not None:
            ridge = Ridge(density.coordinates, density.identified)
            x, length = ridge_moves.moved(
                ridge, chain.unknowns.x, settings.along, length, generator, adapt=settling
            )
            chain = replace(chain, unknowns=Unknowns(x, chain.unknowns.z))
        chain = shooting_moves.moved(density, chain, 1, generator, least=least, adapt=settling)
        if settling:
            least = torch.minimum(least, LEAST * chain.noise.sigma.median(0).values)
        else:
            kept.append(chain)
        progress(number + 1, whole)
    return _posterior(density, kept, fits)


def _posterior(
    density: ShootingDensity, kept: list[Chain], fits: Float[Tensor, " particle"]
) -> Posterior:
    """Gather what was kept."""
    scale = density.shooting.scale
    theta = torch.stack([density.coordinates.parameters(each.unknowns.x) for each in kept])
    functions = theta
    if density.identified is not None:
        functions = density.identified(theta.flatten(0, 1))[0].unflatten(0, theta.shape[:2])
    return Posterior(
        theta,
        kept[-1].unknowns.z * scale,
        torch.stack([each.noise.sigma for each in kept]) * scale,
        torch.stack([each.noise.delta for each in kept]) * scale,
        fits,
        gelman_rubin(functions),
        float(np.mean([each.accepted for each in kept])),
    )


def gelman_rubin(
    draws: Float[Tensor, "round particle function"],
) -> Float[Tensor, " function"]:
    """Return the square root of the variance of all draws over that within particles.

    >>> rounds = torch.tensor([[[0.0], [0.0]], [[1.0], [1.0]]])
    >>> gelman_rubin(rounds), gelman_rubin(rounds + torch.tensor([[[0.0], [9.0]]]))
    (tensor([0.7071]), tensor([9.0277]))

    Source: Gelman and Rubin 1992.
    """
    rounds = len(draws)
    within, between = draws.var(0).mean(0), draws.mean(0).var(0)
    return ((rounds - 1.0) / rounds + between / within).sqrt()
