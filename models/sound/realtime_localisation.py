"""A position within a fraction of a millisecond of work: first arrivals and one short descent.

Each microphone's first arrival t_m gives the delays of Eq. 9 of Matl et al. (STReSSD, appendix C).
The descent of models.sound.multilateration starts from the cell of a grid whose travel times, less
their mean over the microphones, are nearest to the detected ones; where a cell far from it explains
them as well (Eq. 10 may have two solutions) the whole grid of starts is tried instead, and two
solutions make an outlier.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import arrays, delays, first_arrivals, multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.multilateration import Fix, Region

CELL = 0.05
"""Distance of the cells from which a position is sought, m."""
LEAST_RATIO = 4.0
"""Rise in power by which a channel detects an impact, unless none reaches it."""
BEFORE = 3e-3
"""Sound before a split in which the first arrival may lie, s."""
AFTER = 2.5e-3
"""Sound after a split in which the first arrival may lie, s."""


@dataclass(frozen=True)
class Search:
    """What is computed once for an array.

    Attributes:
        cells: Points all over the region, m, (cell, 2); none for fewer than three channels.
        travel: Travel times from each cell, less their mean over channels, s, (cell, channel).
    """

    microphones: Microphones
    region: Region
    cells: Float[ndarray, "cell 2"]
    travel: Float[ndarray, "cell channel"]


@dataclass(frozen=True)
class Impact:
    """An impact in a window: arrival, s after its start; an outlier if no place fits or two do."""

    arrival: float
    fix: Fix | None
    outlier: bool


def prepare(microphones: Microphones, *, region: Region | None = None) -> Search:
    """Lay the grid from which positions are sought.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> prepare(array, region=Region((0.0, 0.0), (0.1, 0.2))).cells.shape
    (15, 2)

    Args:
        microphones: The array; fewer than three give times only.
        region: Where impacts can be; None takes the surroundings of the microphones.

    Raises:
        ValueError: If three or more microphones cannot fix a point of the surface.
    """
    region = region or multilateration.surroundings(microphones)
    channels = len(microphones.positions)
    if channels < 3:
        return Search(microphones, region, np.zeros((0, 2)), np.zeros((0, channels)))
    arrays.check_layout(microphones.positions)
    ends = zip(region.low, region.high, strict=True)
    ticks = [np.linspace(low, high, 1 + int(np.ceil((high - low) / CELL))) for low, high in ends]
    cells = np.stack(np.meshgrid(*ticks), axis=-1).reshape(-1, 2)
    travel, _ = multilateration.gradients(cells, microphones=microphones)
    return Search(microphones, region, cells, travel - travel.mean(axis=1, keepdims=True))


def locate(window: Float[ndarray, "channel frame"], split: int, search: Search) -> Impact:
    """Time and locate the impact in a window.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> travel, _ = multilateration.gradients(np.array([0.1, 0.2]), microphones=array)
    >>> window = 1e-4 * np.random.default_rng(0).standard_normal((3, 1200))
    >>> window[[0, 1, 2], np.rint((0.015 + travel) * 44100.0).astype(int)] = 1.0
    >>> locate(window, 690, prepare(array)).fix.position.round(2)
    array([0.1, 0.2])

    Args:
        window: Sound from 12 ms before the impact to some milliseconds after it.
        split: Frame of the window near which the impact begins.
    """
    rate = search.microphones.sample_rate
    if len(window) < 3:
        splits = np.array([split])
        picks = [first_arrivals.arrival(each, rate, splits=splits) for each in window]
        return Impact(min(float(pick[0][0]) for pick in picks), None, True)
    rough = _rough_arrival(window, split, rate)
    [arrivals] = delays.first_arrivals(window, rough, microphones=search.microphones)
    first = float(arrivals.times.min())
    if not np.isfinite(arrivals.sd).all() or not multilateration.plausible(
        arrivals.times, microphones=search.microphones, slack=2.0 / rate
    ):
        return Impact(first, None, True)
    fixes = crossings(arrivals, search)
    return Impact(first, fixes[0] if fixes else None, len(fixes) != 1)


def crossings(arrivals: delays.Arrivals, search: Search) -> tuple[Fix, ...]:
    """Find the points of the region that explain arrival times, least residual first.

    The nearest cell alone is the start, unless a cell elsewhere explains the delays as well.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> travel, _ = multilateration.gradients(np.array([0.1, 0.2]), microphones=array)
    >>> arrivals = delays.Arrivals(travel, np.full(3, 1e-6))
    >>> [fix.position.round(4).tolist() for fix in crossings(arrivals, prepare(array))]
    [[0.1, 0.2]]
    """
    late = arrivals.times - arrivals.times.mean()
    apart = np.abs(search.travel - late).max(axis=1)
    nearest = search.cells[int(apart.argmin())]
    likely = search.cells[apart < CELL / search.microphones.speed_of_sound]
    alone = float(np.abs(likely - nearest).max(initial=0.0)) < 3.0 * CELL
    array, region = search.microphones, search.region
    if alone:
        near = multilateration.solve(
            arrivals.times, arrivals.sd, microphones=array, region=region, start=nearest
        )
        if near:
            return near
    return multilateration.solve(arrivals.times, arrivals.sd, microphones=array, region=region)


def _rough_arrival(window: Float[ndarray, "channel frame"], split: int, rate: float) -> float:
    """Return the earliest change point of the channels that detect the impact, s."""
    first, last = split - round(BEFORE * rate), split + round(AFTER * rate)
    sharp = np.diff(window[:, first - 1 : last], axis=1)
    change = first_arrivals.change_points(sharp, guard=max(4, round(0.4e-3 * rate)))
    quiet = np.arange(sharp.shape[1]) < change[:, None]
    power = np.square(sharp)
    before = (power * quiet).sum(axis=1) / change
    after = (power * ~quiet).sum(axis=1) / (sharp.shape[1] - change)
    ratio = after / np.maximum(before, 1e-300)
    detected = ratio >= min(LEAST_RATIO, 0.1 * float(ratio.max()))
    return (first + float(change[detected].min())) / rate
