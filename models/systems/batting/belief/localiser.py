"""Localising an object from nothing: the first flight, then a particle filter that shrinks.

`begin` and `update` are the whole interface; `PAPER` is the filter of Fu et al., with 200 particles
that are resampled at each reading and never spread.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.belief import first_flight, particles
from ricochet.models.systems.batting.belief.first_flight import READINGS, FirstReadings
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.world import World


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
        log_evidence: Log density of the last reading given those before, up to a constant.
    """

    cloud: Cloud
    readings: int
    waiting: FirstReadings | None
    log_evidence: float = 0.0


def begin(
    reading: Float[ndarray, " 2"],
    angle: float,
    settings: FilterSettings,
    world: World,
    draw: np.random.Generator,
) -> Belief:
    """Return the belief after the first reading, m on the screen, with the bat at an angle, rad."""
    cloud = first_flight.uniform(max(settings.particles, 1), angle, world, draw)
    cloud, evidence = particles.step(cloud, Turn(angle, 0.0, 0.0), reading, world, draw)
    waiting = FirstReadings(reading[None], ()) if settings.draws else None
    return _renewed(Belief(cloud, 1, waiting, evidence), settings, draw)


def update(
    belief: Belief,
    turn: Turn,
    reading: Float[ndarray, " 2"],
    settings: FilterSettings,
    world: World,
    draw: np.random.Generator,
) -> Belief:
    """Return the belief after a turn of the bat and the reading that ends it."""
    waiting = belief.waiting
    if waiting is not None:
        readings = np.concatenate([waiting.readings, reading[None]])
        waiting = FirstReadings(readings, (*waiting.turns, turn))
        if len(readings) == READINGS:
            counts = (settings.draws, settings.early)
            cloud = first_flight.start(waiting, counts, world, draw)
            return Belief(cloud, belief.readings + 1, None)
    cloud, evidence = particles.step(belief.cloud, turn, reading, world, draw)
    return _renewed(Belief(cloud, belief.readings + 1, waiting, evidence), settings, draw)


def _renewed(belief: Belief, settings: FilterSettings, draw: np.random.Generator) -> Belief:
    early = belief.readings < settings.early_readings and belief.waiting is None
    count = settings.early if early else settings.particles
    effective = particles.effective_number(belief.cloud)
    if effective >= settings.least_share * len(belief.cloud.kinds):
        return belief
    cloud = particles.resample(belief.cloud, count, settings.bandwidth, draw)
    return replace(belief, cloud=cloud)
