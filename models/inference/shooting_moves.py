r"""Moves that leave the posterior density of motions as it is, for many particles at once.

With the gradient g and the metric A of the log density at u, each particle is tried at

    u' ~ N(u + h^2/2 A^{-1} g, h^2 A^{-1})

and stays there with the probability of Metropolis and Hastings: A differs from place to place, so
long thin bent ridges are followed. Between these moves sigma and delta are drawn given the motions:
their precisions have gamma laws, under the priors d sigma / sigma and d delta / delta down to a
least delta.

Sources: Girolami and Calderhead 2011 (simplified manifold Langevin); the density: ours.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy import special
from torch import Tensor

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference.limits import Coordinates
from ricochet.models.inference.multiple_shooting import Shot
from ricochet.models.inference.shooting_density import (
    Expansion,
    Noise,
    ShootingDensity,
    Unknowns,
)

ACCEPTED = 0.57
"""Share at which such moves go furthest (Roberts and Rosenthal 1998)."""


_FAR = 1e-200
FREELY = 0.33
"""The same of moves that know no gradient."""
MOVES = 5
"""Of each round."""


@dataclass(frozen=True)
class Chain:
    """Particles on their way.

    Attributes:
        length: h of the next move.
        accepted: Share of the particles that the last move displaced.
    """

    unknowns: Unknowns
    noise: Noise
    length: float
    accepted: float = 0.0


def noise_of(
    density: ShootingDensity,
    shot: Shot,
    least: Float[Tensor, " state"],
    generator: np.random.Generator,
    *,
    exact: bool = False,
) -> Noise:
    """Draw sigma and delta given motions.

    >>> from ricochet.models.inference import throws
    >>> density, begun, _ = throws.example(3)
    >>> least, draw = torch.full((2,), 1e-3).double(), np.random.default_rng(0)
    >>> noise_of(density, density.at(begun), least, draw).sigma.shape
    torch.Size([3, 2])

    Args:
        least: Below which no delta is.
        exact: Whether delta is the least: motions are those of the equations.
    """
    seen, gaps = density.counts
    offsets = 0.0 if density.known_starts else shot.offsets.square().sum(1)
    sigma = _deviation(shot.residuals.square().sum((1, 2, 3)) + offsets, seen, None, generator)
    if exact:
        return Noise(sigma, least.expand(len(sigma), -1).clone())
    delta = _deviation(shot.defects.square().sum((1, 2)), gaps, least, generator)
    return Noise(sigma, delta)


def _deviation(
    squares: Float[Tensor, "particle state"],
    count: int,
    least: Float[Tensor, " state"] | None,
    generator: np.random.Generator,
) -> Float[Tensor, "particle state"]:
    """Draw 1 / sqrt(precision), the precision of a gamma law below 1 / least^2.

    Where that is far below what the squares allow, the law is the power count / 2 - 1 alone.
    """
    share = generator.uniform(size=squares.shape)
    most = np.full(share.shape, np.inf if least is None else 1.0 / least.numpy() ** 2)
    whole = np.ones(share.shape)
    if least is not None:
        reach = 0.5 * squares.numpy() * most
        whole = special.gammainc(0.5 * count, reach) if count else np.zeros(share.shape)
    far = whole < _FAR
    rate = np.where(far, 1.0, 0.5 * squares.numpy())
    found = special.gammaincinv(0.5 * count + far, share * whole) / rate
    edge = most * share ** (2.0 / count) if count else most
    return squares.new_tensor(np.where(far, edge, np.minimum(found, most)) ** -0.5)


def moved(
    density: ShootingDensity,
    chain: Chain,
    rounds: int,
    generator: np.random.Generator,
    *,
    least: Float[Tensor, " state"] | None = None,
    exact: bool = False,
    adapt: bool = False,
    progress: Progress = no_progress,
) -> Chain:
    """Make rounds of moves.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(20)
    >>> draw = np.random.default_rng(0)
    >>> chain = moved(density, Chain(begun, noise, 0.5), 3, draw, adapt=True)
    >>> 0.0 < chain.accepted < 1.0
    True

    Args:
        rounds: Of `MOVES` moves, each after the noise was drawn.
        least: Of delta, where the noise is inferred too.
        exact: Whether delta is the least.
        adapt: Whether h is changed after each move so that about `ACCEPTED` of them succeed; what
            is kept of a chain comes after.
    """
    unknowns, noise, length, share = chain.unknowns, chain.noise, chain.length, chain.accepted
    for number in range(rounds):
        if least is not None:
            noise = noise_of(density, density.at(unknowns), least, generator, exact=exact)
        here = density.expanded(unknowns, density.at(unknowns), noise)
        for _ in range(MOVES):
            tried = _proposed(unknowns, here, length, generator)
            there = density.expanded(tried, density.at(tried), noise)
            chance = there.value - here.value + _log_ratio(unknowns, here, tried, there, length)
            luck = torch.log(chance.new_tensor(generator.uniform(size=len(chance))))
            places = (luck < chance).nonzero()[:, 0]
            unknowns, here = unknowns.put(places, tried[places]), here.put(places, there[places])
            share = len(places) / len(chance)
            if adapt:
                length = float(np.clip(length * np.exp(0.3 * (share - ACCEPTED)), 1e-4, 2.0))
        progress(number + 1, rounds)
    return Chain(unknowns, noise, length, share)


def scattered(
    density: ShootingDensity, modes: Unknowns, noise: Noise, generator: np.random.Generator
) -> Unknowns:
    """Draw about modes from the normal law of the metric, where that has a density: to begin with.

    >>> from ricochet.models.inference import throws
    >>> density, begun, noise = throws.example(4)
    >>> scattered(density, begun, noise, np.random.default_rng(0)).x.shape
    torch.Size([4, 2])

    Particles whose draws fall, three times, where there is none stay.
    """
    here, found = density.expanded(modes, density.at(modes), noise), modes
    left = torch.arange(len(modes.x))
    for _ in range(3):
        part = here[left]
        white = (
            modes.x.new_tensor(generator.normal(size=each.shape)) for each in (part.by_x, part.by_z)
        )
        tried = modes[left].moved(*part.metric.unwhiten(*white))
        good = torch.isfinite(density.value(tried, density.at(tried), noise[left]))
        found = found.put(left[good], tried[good.nonzero()[:, 0]])
        left = left[~good]
        if len(left) == 0:
            break
    return found


def moved_freely(
    coordinates: Coordinates,
    x: Float[Tensor, "particle parameter"],
    steps: int,
    length: float,
    generator: np.random.Generator,
    *,
    adapt: bool = False,
) -> tuple[Float[Tensor, "particle parameter"], float]:
    """Move particles along what no motion depends on, by the prior alone.

    >>> from ricochet.models.inference import throws
    >>> coordinates, draw = throws.example(1)[0].coordinates, np.random.default_rng(0)
    >>> moved_freely(coordinates, torch.zeros(1, 2), 5, 1.0, draw)  # every motion depends on both
    (tensor([[0., 0.]], dtype=torch.float64), 1.0)

    Args:
        length: Of the moves, over what the prior reaches.
        adapt: Whether it is changed so that about a third of the moves succeed.

    Returns:
        Where they are, and the length for the next moves.
    """
    value = coordinates.log_prior(x)[0]
    for _ in range(steps):
        tried = x + length * coordinates.free * x.new_tensor(generator.normal(size=x.shape))
        there = coordinates.log_prior(tried)[0]
        taken = torch.log(x.new_tensor(generator.uniform(size=len(x)))) < there - value
        x, value = torch.where(taken[:, None], tried, x), torch.where(taken, there, value)
        if adapt:
            share = float(taken.double().mean())
            length = float(np.clip(length * np.exp(0.2 * (share - FREELY)), 1e-4, 10.0))
    return x, length


def _proposed(
    at: Unknowns, here: Expansion, length: float, generator: np.random.Generator
) -> Unknowns:
    white = (at.x.new_tensor(generator.normal(size=each.shape)) for each in (here.by_x, here.by_z))
    drift = here.metric.whiten(here.by_x, here.by_z)
    steps = (length * (0.5 * length * g + w) for g, w in zip(drift, white, strict=True))
    return at.moved(*here.metric.unwhiten(*steps))


def _log_ratio(
    at: Unknowns, here: Expansion, tried: Unknowns, there: Expansion, length: float
) -> Float[Tensor, " particle"]:
    """Return the logarithm of the chance of the way back over that of the way there."""
    dx, dz = tried.x - at.x, (tried.z - at.z).flatten(2)
    there_and_back = _log_chance(there, -dx, -dz, length) - _log_chance(here, dx, dz, length)
    return there_and_back.nan_to_num(-torch.inf, posinf=-torch.inf)


def _log_chance(
    begun: Expansion,
    dx: Float[Tensor, "particle parameter"],
    dz: Float[Tensor, "particle trajectory own"],
    length: float,
) -> Float[Tensor, " particle"]:
    """Return the log density of a step, less what all have in common."""
    drift_x, drift_z = begun.metric.solve(begun.by_x, begun.by_z)
    half = 0.5 * length**2
    left = begun.metric.length_squared(dx - half * drift_x, dz - half * drift_z)
    return 0.5 * begun.metric.log_determinant() - 0.5 * left / length**2
