"""Where a drawer is and which way it moves: a joint belief on a grid, frame by frame.

State (q, d): the opening on a grid from limit to limit, and the direction +1 (opening) or -1. In a
frame of length T, with speed v of mean m and deviation s by the sound,

    direction   d' = -d with probability h r,  r = P(v < REST): it changes only through rest
    opening     q' = q + d' v T, stopped by the limits

and a measurement y of the place, of deviation u, multiplies the belief by

    exp(-lambda (y - q')^2 / (2 u^2))

Errors of neighbouring frames are alike, so that n of them are worth lambda n: lambda is found from
their correlation. Without sound of the place (u infinite) only motion and limits speak.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special

CELL = 0.005  # m, about
REST = 0.05  # m/s
LEAST_SPREAD = 0.25  # cells, of a move


@dataclass(frozen=True)
class Grammar:
    """How this drawer is moved and heard.

    Attributes:
        low, high: Limits, m.
        turning: h, probability that a rest ends the other way.
        weight: lambda, of one frame's measurement of the place.
    """

    low: float
    high: float
    turning: float = 0.5
    weight: float = 1.0


@dataclass(frozen=True)
class Belief:
    """Probabilities of each direction, closing first, and cell.

    Attributes:
        places: Middle of each cell, m.
    """

    probabilities: Float[ndarray, "2 cell"]
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
        """Probability that it opens."""
        return float(self.probabilities[1].sum())

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
    """

    speed: float
    speed_deviation: float
    place: float
    place_deviation: float
    duration: float


def anywhere(grammar: Grammar) -> Belief:
    """Return the belief of one who knows the limits alone."""
    count = max(2, round((grammar.high - grammar.low) / CELL) + 1)
    places = np.linspace(grammar.low, grammar.high, count)
    return Belief(np.full((2, count), 0.5 / count), places)


def step(belief: Belief, heard: Heard, grammar: Grammar) -> Belief:
    """Return the belief after a frame."""
    moved = _moved(_turned(belief.probabilities, heard, grammar), belief.places, heard)
    weights = _likelihood(belief.places, heard.place, heard.place_deviation, grammar.weight)
    return _normal(moved * weights, belief.places)


def see(belief: Belief, place: float, deviation: float) -> Belief:
    """Return the belief after the camera saw the drawer at a place, m."""
    weights = _likelihood(belief.places, place, deviation, 1.0)
    return _normal(belief.probabilities * weights, belief.places)


def _turned(
    probabilities: Float[ndarray, "2 cell"], heard: Heard, grammar: Grammar
) -> Float[ndarray, "2 cell"]:
    below = special.ndtr((REST - heard.speed) / heard.speed_deviation)
    share = grammar.turning * float(below)
    return (1.0 - share) * probabilities + share * probabilities[::-1]


def _moved(
    probabilities: Float[ndarray, "2 cell"], places: Float[ndarray, " cell"], heard: Heard
) -> Float[ndarray, "2 cell"]:
    """Return probabilities moved by a normal length, cut at 0; the limits stop what would pass."""
    cell = float(places[1] - places[0])
    mean = heard.speed * heard.duration / cell
    spread = max(heard.speed_deviation * heard.duration / cell, LEAST_SPREAD)
    longest = int(np.ceil(mean + 4.0 * spread))
    edges = np.arange(longest + 2) - 0.5
    kernel = np.diff(special.ndtr((edges - mean) / spread))
    kernel[0] += special.ndtr((edges[0] - mean) / spread)
    kernel /= kernel.sum()
    opened = np.convolve(probabilities[1], kernel)
    closed = np.convolve(probabilities[0][::-1], kernel)
    return np.stack([_stopped(closed, len(places))[::-1], _stopped(opened, len(places))])


def _stopped(moved: Float[ndarray, " longer"], count: int) -> Float[ndarray, " cell"]:
    kept = moved[:count].copy()
    kept[-1] += moved[count:].sum()
    return kept


def _likelihood(
    places: Float[ndarray, " cell"], place: float, deviation: float, weight: float
) -> Float[ndarray, " cell"]:
    if not np.isfinite(deviation):
        return np.ones(len(places))
    logs = -0.5 * weight * ((place - places) / deviation) ** 2
    return np.asarray(np.exp(logs - logs.max()))


def _normal(values: Float[ndarray, "2 cell"], places: Float[ndarray, " cell"]) -> Belief:
    total = values.sum()
    if not total > 0.0:  # what was measured is nowhere near: the measurement alone remains
        return Belief(np.full(values.shape, 0.5 / values.shape[1]), places)
    return Belief(values / total, places)
