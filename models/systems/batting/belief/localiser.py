"""Localising an object from nothing: the first flight, then a particle filter that shrinks.

`begin` and `update` are the whole interface; `PAPER` is the filter of Fu et al., with 200 particles
that are resampled at each reading and never spread.

A reading of a well followed object has -1 for its mean log density: half the mean of a chi square
with two degrees of freedom. Where the running mean falls below LOST, no particle explains what is
seen, and the filter begins anew with the next readings, from a uniform start that is as fast as
objects become.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.belief import first_flight, particles
from ricochet.models.systems.batting.belief.first_flight import FASTEST, READINGS, FirstReadings
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.world import World

LOST = -8.0  # of the running mean of log densities
MEMORY = 10.0  # readings, of that mean
FASTEST_ANEW = 40.0  # m/s and rad/s an axis: the tip of the bat can turn at 20 m/s


@dataclass(frozen=True)
class FilterSettings:
    """How many particles, and how they are renewed.

    Attributes:
        draws: Importance draws for the first flight; 0: uniform particles, weighted from the start.
        early: Particles while the object is new.
        early_readings: Readings for which it is new.
        particles: Thereafter.
        bandwidth: Of the kernel, as a share of the deviation.
        least_share: Effective share of the particles below which they are resampled.
    """

    draws: int = 60_000
    early: int = 30_000
    early_readings: int = 40
    particles: int = 20_000
    bandwidth: float = 0.1
    least_share: float = 0.5


PAPER = FilterSettings(
    draws=0, early=200, early_readings=0, particles=200, bandwidth=0.0, least_share=1.1
)


@dataclass(frozen=True)
class Belief:
    """What is believed of the object.

    Attributes:
        cloud: Particles at the last reading.
        readings: How many were taken.
        waiting: The first readings, until there are enough to begin with.
        fit: Running mean of the log densities of readings given those before, up to a constant.
        restarts: How often the object was lost.
    """

    cloud: Cloud
    readings: int
    waiting: FirstReadings | None
    fit: float = -1.0
    restarts: int = 0


def begin(
    reading: Float[ndarray, " 2"],
    angle: float,
    settings: FilterSettings,
    world: World,
    draw: np.random.Generator,
    *,
    fastest: float = FASTEST,
) -> Belief:
    """Return the belief after the first reading, m on the screen, with the bat at an angle, rad.

    Args:
        fastest: Of the uniform start, m/s and rad/s an axis.
    """
    cloud = first_flight.uniform(settings.particles, angle, world, draw)
    cloud, _ = particles.step(cloud, Turn(angle, 0.0, 0.0), reading, world, draw)
    waiting = FirstReadings(reading[None], (), fastest) if settings.draws else None
    return _renewed(Belief(cloud, 1, waiting), settings, draw)


def update(
    belief: Belief,
    turn: Turn,
    reading: Float[ndarray, " 2"],
    settings: FilterSettings,
    world: World,
    draw: np.random.Generator,
) -> Belief:
    """Return the belief after a turn of the bat and the reading that ends it.

    Args:
        belief: Before; its particles are moved in place.
        turn: Of the bat.
        reading: Lower and upper end on the screen, m; not numbers: nothing was seen.
        settings: Of the filter.
        world: What is believed of the world.
        draw: Random numbers.
    """
    waiting = _longer(belief.waiting, turn, reading)
    if waiting is not None and len(waiting.readings) == READINGS:
        begun = first_flight.start(waiting, (settings.draws, settings.early), world, draw)
        if begun is not None:
            return Belief(begun, READINGS, None, restarts=belief.restarts)
        return _anew(belief, reading)
    cloud, density = particles.step(belief.cloud, turn, reading, world, draw)
    seen = bool(np.isfinite(reading).all()) and waiting is None
    fit = belief.fit + (density - belief.fit) / MEMORY if seen else belief.fit
    after = Belief(cloud, belief.readings + 1, waiting, fit, belief.restarts)
    if fit < LOST and settings.draws:
        after = _anew(after, reading)
    return _renewed(after, settings, draw)


def _anew(belief: Belief, reading: Float[ndarray, " 2"]) -> Belief:
    """Return a belief that waits for first readings again."""
    waiting = FirstReadings(reading[None], (), FASTEST_ANEW)
    return replace(belief, waiting=waiting, fit=-1.0, restarts=belief.restarts + 1)


def _longer(
    waiting: FirstReadings | None, turn: Turn, reading: Float[ndarray, " 2"]
) -> FirstReadings | None:
    if waiting is None:
        return None
    readings = np.concatenate([waiting.readings, reading[None]])
    return replace(waiting, readings=readings, turns=(*waiting.turns, turn))


def _renewed(belief: Belief, settings: FilterSettings, draw: np.random.Generator) -> Belief:
    early = belief.readings < settings.early_readings and belief.waiting is None
    count = settings.early if early else settings.particles
    effective = particles.effective_number(belief.cloud)
    if effective >= settings.least_share * len(belief.cloud.kinds):
        return belief
    cloud = particles.resample(belief.cloud, count, settings.bandwidth, draw)
    return replace(belief, cloud=cloud)
