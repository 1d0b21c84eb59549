"""Where a drawer is and which way it moves: a joint belief on a grid, frame by frame.

State (q, d, z): the opening on a grid from limit to limit, the direction +1 (opening) or -1, and
whether it moves or rests; at rest d is the direction in which it goes on. In a frame of length T,
with speed v of mean m and deviation k s by the sound,

    rest        begins with probability b and ends with a; it is as likely as r = P(v < REST)
    opening     q' = q + d v T where it moves or comes to rest; what would pass a limit is stopped
                there, and counts for rho
    direction   d' = -d with probability h where a rest begins: it changes only through rest

Each frame measures the place, y of deviation u, and the direction, log odds o that it opens, which
count as far as it moves. Errors of neighbouring frames are alike, so that n of them are worth
lambda n:

    p' ~ p exp(-lambda (y - q')^2 / (2 u^2)) 2 / (1 + exp(-mu (1 - r) o d))

the last where it moves or comes to rest, with d before it turns.

`belief/weighing.py` finds lambda, mu, k and rho. Without sound of the place (u infinite) and of the
direction (o = 0) only motion and limits speak. A frame whose numbers are not finite is taken as
`UNHEARD`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.drawers.labels import PERIOD

CELL = 0.005  # m, about
REST = 0.05  # m/s
OPENING = [1, 3]  # of the states
LEAST_SPREAD = 0.25  # cells, of a move
FARTHEST = 2.0  # m beyond the limits
SUREST = 700.0  # log odds; exp overflows at 710


@dataclass(frozen=True)
class Grammar:
    """How this drawer is moved and heard.

    Attributes:
        low, high: Limits, m.
        turning: h, probability that a rest ends the other way.
        weight, direction_weight: lambda and mu, of one frame's measurements.
        widening: k, of deviations of the speed.
        blocked: rho, what a move is worth that a limit stopped; 1: as any other.
        level: Probability of the central interval that holds the place nine times of ten.
        stopping, starting: b and a, probabilities that a frame which moved is followed by one at
            rest, and the other way round.
    """

    low: float
    high: float
    turning: float = 0.5
    weight: float = 1.0
    direction_weight: float = 1.0
    widening: float = 1.0
    blocked: float = 1.0
    level: float = 0.9
    stopping: float = 0.5
    starting: float = 0.5


@dataclass(frozen=True)
class Belief:
    """Probabilities of each state and cell.

    Attributes:
        probabilities: That it moves, closing and opening, and that it rests and will close or
            open next.
        places: Middle of each cell, m.
    """

    probabilities: Float[ndarray, "4 cell"]
    places: Float[ndarray, " cell"]

    @property
    def mean(self) -> float:
        """Of the opening, m."""
        return float(self.probabilities.sum(0) @ self.places)

    @property
    def deviation(self) -> float:
        """Of the opening, m."""
        each = self.probabilities.sum(0)
        return float(np.sqrt(each @ (self.places - each @ self.places) ** 2))

    @property
    def opening(self) -> float:
        """Probability that it opens, or will when it goes on."""
        return float(self.probabilities[OPENING].sum())

    def centrality(self, place: float) -> float:
        """Return the least probability of a central interval that holds a place, m."""
        at = self.probabilities.sum(0)
        cell = int(np.argmin(np.abs(self.places - place)))
        below = float(at[:cell].sum())
        return max(0.0, 2.0 * max(below, 1.0 - below - float(at[cell])) - 1.0)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the central interval of a probability, m, to a cell."""
        below = np.cumsum(self.probabilities.sum(0))
        ends = np.searchsorted(below, [0.5 * (1.0 - level), 0.5 * (1.0 + level)])
        low, high = np.minimum(ends, len(below) - 1)
        half = 0.5 * (self.places[1] - self.places[0])
        return float(self.places[low] - half), float(self.places[high] + half)


@dataclass(frozen=True)
class Heard:
    """What one frame says.

    Attributes:
        speed, speed_deviation: Of the speed, m/s.
        place, place_deviation: Of the opening, m; infinite: nothing.
        duration: Of the frame, s.
        odds: Log odds that it opens, if it moves; 0: nothing.
    """

    speed: float
    speed_deviation: float
    place: float
    place_deviation: float
    duration: float
    odds: float = 0.0


UNHEARD = Heard(0.2, 0.3, 0.0, math.inf, PERIOD)
"""A frame of which nothing is known but how fast drawers are moved."""


def anywhere(grammar: Grammar) -> Belief:
    """Return the belief of one who knows the limits alone.

    Raises:
        ValueError: If the limits leave no room: not even for one of the cells, CELL.
    """
    if not grammar.high - grammar.low >= CELL:
        raise ValueError(f"limits {grammar.low} and {grammar.high} m leave no room between them")
    count = max(2, round((grammar.high - grammar.low) / CELL) + 1)
    places = np.linspace(grammar.low, grammar.high, count)
    return Belief(np.full((4, count), 0.25 / count), places)


def step(belief: Belief, heard: Heard, grammar: Grammar) -> Belief:
    """Return the belief after a frame."""
    heard = _finite(heard)
    spread = grammar.widening * heard.speed_deviation
    resting = float(_normal_below(np.array([(REST - heard.speed) / spread]))[0])
    moving, rested = belief.probabilities[:2], belief.probabilities[2:]
    goes = (1.0 - grammar.stopping) * moving + grammar.starting * rested
    moves = np.concatenate([(1.0 - resting) * goes, resting * grammar.stopping * moving])
    moved = _moved(moves, belief.places, heard, spread, grammar.blocked)
    odds = grammar.direction_weight * (1.0 - resting) * heard.odds
    opens = 1.0 / (1.0 + math.exp(min(-odds, SUREST)))
    moved *= 2.0 * np.array([[1.0 - opens], [opens]] * 2)
    stopped, stays = moved[2:], resting * (1.0 - grammar.starting) * rested
    turned = (1.0 - grammar.turning) * stopped + grammar.turning * stopped[::-1]
    moved = np.concatenate([moved[:2], stays + turned])
    moved *= _likelihood(belief.places, heard.place, heard.place_deviation, grammar.weight)
    return _normal(moved, belief.places)


def reaching(belief: Belief, place: float) -> Belief:
    """Return the belief on cells that reach a place, m: what is seen may be beyond the limits.

    What is farther than FARTHEST from the cells, no drawer reaches. They are as wide as CELL,
    about, so that those between are some hundreds.
    """
    first, last = float(belief.places[0]), float(belief.places[-1])
    cell = float(belief.places[1] - belief.places[0])
    if first - cell <= place <= last + cell or not first - FARTHEST < place < last + FARTHEST:
        return belief
    below = math.ceil(max(first - place, 0.0) / cell)
    above = math.ceil(max(place - last, 0.0) / cell)
    places = first + cell * np.arange(-below, len(belief.places) + above)
    return Belief(np.pad(belief.probabilities, ((0, 0), (below, above))), places)


def see(belief: Belief, place: float, deviation: float) -> Belief:
    """Return the belief after the camera saw the drawer at a place, m."""
    weights = _likelihood(belief.places, place, deviation, 1.0)
    seen = belief.probabilities * weights
    if not seen.sum() > 0.0:  # it was believed elsewhere: the camera is believed
        seen = np.stack([weights] * 4)
    return _normal(seen, belief.places)


def _finite(heard: Heard) -> Heard:
    """Return a frame; one that was not heard, where its numbers are not finite."""
    if math.isfinite(heard.speed + heard.speed_deviation + heard.place + heard.odds):
        return heard
    return replace(UNHEARD, duration=heard.duration)


def _normal_below(values: Float[ndarray, " n"]) -> Float[ndarray, " n"]:
    """Return the probability of less, of the normal law; a few values, and no package."""
    return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in values.tolist()])


def _moved(
    probabilities: Float[ndarray, "4 cell"],
    places: Float[ndarray, " cell"],
    heard: Heard,
    deviation: float,
    blocked: float,
) -> Float[ndarray, "4 cell"]:
    """Return probabilities moved by a normal length, cut at 0; the limits stop what would pass.

    Whatever is longer than all places together counts as so long.
    """
    cell = float(places[1] - places[0])
    mean = heard.speed * heard.duration / cell
    spread = max(deviation * heard.duration / cell, LEAST_SPREAD)
    longest = int(min(np.ceil(mean + 4.0 * spread), len(places)))
    edges = np.arange(longest + 2) - 0.5
    below = _normal_below((edges - mean) / spread)
    kernel = np.diff(below)
    kernel[0] += below[0]
    if longest == len(places):
        kernel[-1] += 1.0 - below[-1]
    kernel /= kernel.sum()
    moved = np.empty_like(probabilities)
    for state, row in enumerate(probabilities):
        way = 1 if state in OPENING else -1
        moved[state] = _stopped(np.convolve(row[::way], kernel), len(places), blocked)[::way]
    return moved


def _stopped(
    moved: Float[ndarray, " longer"], count: int, blocked: float
) -> Float[ndarray, " cell"]:
    kept = moved[:count].copy()
    kept[-1] += blocked * moved[count:].sum()
    return kept


def _likelihood(
    places: Float[ndarray, " cell"], place: float, deviation: float, weight: float
) -> Float[ndarray, " cell"]:
    if not np.isfinite(deviation):
        return np.ones(len(places))
    logs = -0.5 * weight * ((place - places) / deviation) ** 2
    return np.asarray(np.exp(logs - logs.max()))


def _normal(values: Float[ndarray, "4 cell"], places: Float[ndarray, " cell"]) -> Belief:
    total = values.sum()
    if not total > 0.0:  # what was measured is nowhere near what was believed: neither is
        return Belief(np.full(values.shape, 0.25 / values.shape[1]), places)
    return Belief(values / total, places)
