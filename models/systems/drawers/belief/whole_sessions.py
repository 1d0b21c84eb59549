"""The belief followed through whole sessions as machine code, where numba is installed.

The same frames as `place_and_direction.step`, for the search of weights, which follows every
session some thirty times: the probability of what is true in each frame, and the least central
interval that holds the place.
"""

import math

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.drawers.belief.place_and_direction import (
    LEAST_SPREAD,
    REST,
    SUREST,
    UNHEARD,
    Belief,
    Grammar,
)


def follow(
    start: Belief,
    heard: Float[ndarray, "frame 6"],
    cells: Int[ndarray, " frame"],
    directions: Int[ndarray, " frame"],
    grammar: Grammar,
) -> tuple[Float[ndarray, " frame"], Float[ndarray, " frame"]]:
    """Return the probability of what is true after each frame, and its place's centrality.

    Args:
        start: Before the first frame.
        heard: As `place_and_direction.Heard` has it, in its order.
        cells: In which the drawer is after each frame.
        directions: In which it moves, 0 closing and 1 opening; -1 at rest, where there is none.
    """
    numbers = np.array(
        [
            grammar.turning,
            grammar.weight,
            grammar.direction_weight,
            grammar.widening,
            grammar.blocked,
            grammar.stopping,
            grammar.starting,
        ]
    )
    found = np.empty((2, len(heard)))
    work = np.empty((2, len(start.places)))
    _follow(
        start.probabilities.copy(), work, start.places, heard, cells, directions, numbers, found
    )
    return found[0], found[1]


SPEED, DEVIATION = UNHEARD.speed, UNHEARD.speed_deviation


@compiled
def _follow(
    belief: Float[ndarray, "4 cell"],
    work: Float[ndarray, "2 cell"],
    places: Float[ndarray, " cell"],
    heard: Float[ndarray, "frame 6"],
    cells: Int[ndarray, " frame"],
    directions: Int[ndarray, " frame"],
    numbers: Float[ndarray, " 7"],
    found: Float[ndarray, "2 frame"],
) -> None:
    turning, weight, direction_weight, widening, blocked, stopping, starting = numbers
    count, size = len(places), places[1] - places[0]
    stops = np.empty((2, count))
    for frame in range(len(heard)):
        speed, deviation, place, place_deviation, duration, odds = heard[frame]
        if not math.isfinite(speed + deviation + place + odds):
            speed, deviation, place_deviation, odds = SPEED, DEVIATION, np.inf, 0.0
        spread = widening * deviation
        resting = 0.5 * math.erfc(-(REST - speed) / spread / math.sqrt(2.0))
        _begin(belief, stops, resting, stopping, starting)
        _move(belief, work, speed * duration / size, spread * duration / size, blocked)
        _move(stops, work, speed * duration / size, spread * duration / size, blocked)
        log_odds = direction_weight * (1.0 - resting) * odds
        opens = 1.0 / (1.0 + math.exp(min(-log_odds, SUREST)))
        for cell in range(count):
            for way in range(2):
                heard_so = 2.0 * (opens if way else 1.0 - opens)
                belief[way, cell] *= heard_so
                belief[2 + way, cell] += heard_so * (1.0 - turning) * stops[way, cell]
                belief[3 - way, cell] += heard_so * turning * stops[way, cell]
        _measure(belief, places, place, place_deviation, weight)
        total = 0.0
        for cell in range(count):
            total += belief[:, cell].sum()
        for cell in range(count):
            for state in range(4):
                belief[state, cell] = belief[state, cell] / total if total > 0.0 else 0.25 / count
        at, way = cells[frame], directions[frame]
        both = belief[:, at].sum()
        below = 0.0
        for cell in range(at):
            below += belief[:, cell].sum()
        found[0, frame] = both if way < 0 else belief[way, at] + belief[2 + way, at]
        found[1, frame] = max(0.0, 2.0 * max(below, 1.0 - below - both) - 1.0)


@compiled
def _begin(
    belief: Float[ndarray, "4 cell"],
    stops: Float[ndarray, "2 cell"],
    resting: float,
    stopping: float,
    starting: float,
) -> None:
    """Part what goes on or moves off, what comes to rest, `stops`, and what stays there."""
    for cell in range(belief.shape[1]):
        for way in range(2):
            moving, rested = belief[way, cell], belief[2 + way, cell]
            belief[way, cell] = (1.0 - resting) * ((1.0 - stopping) * moving + starting * rested)
            stops[way, cell] = resting * stopping * moving
            belief[2 + way, cell] = resting * (1.0 - starting) * rested


@compiled
def _move(
    belief: Float[ndarray, "state cell"],
    work: Float[ndarray, "2 cell"],
    mean: float,
    spread: float,
    blocked: float,
) -> None:
    """Move the first two states, closing and opening, in cells; limits stop what would pass."""
    count, spread = belief.shape[1], max(spread, LEAST_SPREAD)
    longest = math.ceil(min(mean + 4.0 * spread, float(count)))
    kernel = np.empty(longest + 1)
    before = 0.0
    for length in range(longest + 1):
        below = 0.5 * math.erfc(-(length + 0.5 - mean) / spread / math.sqrt(2.0))
        kernel[length] = below - before
        before = below
    if longest == count:
        kernel[longest] += 1.0 - before
        before = 1.0
    kernel /= before
    work[:] = 0.0
    for cell in range(count):
        for length in range(longest + 1):
            up, down = cell + length, cell - length
            share = kernel[length]
            if up < count:
                work[1, up] += share * belief[1, cell]
            else:
                work[1, count - 1] += blocked * share * belief[1, cell]
            if down >= 0:
                work[0, down] += share * belief[0, cell]
            else:
                work[0, 0] += blocked * share * belief[0, cell]
    belief[:2] = work


@compiled
def _measure(
    belief: Float[ndarray, "4 cell"],
    places: Float[ndarray, " cell"],
    place: float,
    deviation: float,
    weight: float,
) -> None:
    """Weigh the belief by a place that was measured."""
    if not math.isfinite(deviation):
        return
    least = np.inf
    for cell in range(len(places)):
        least = min(least, ((place - places[cell]) / deviation) ** 2)
    for cell in range(len(places)):
        off = ((place - places[cell]) / deviation) ** 2
        share = math.exp(-0.5 * weight * (off - least))
        belief[:, cell] *= share
