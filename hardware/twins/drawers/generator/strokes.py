"""How a person moves a drawer: strokes, pauses, stops at both limits.

A stroke is a movement of least jerk (Flash and Hogan, 1985) towards a place that the hand aims at,
its time warped so that no two are alike. A stroke to a limit aims beyond it: the drawer meets the
limit with the speed that it then has, hops back by a few millimetres at most, and rests. The hand
trembles, but friction holds a drawer that rests. Nothing in here makes a sound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

RATE = 1000.0  # Hz, of positions
FASTEST = 1.3  # m/s, of a stroke
LEAST_STROKE = 0.03  # m
REBOUND, SETTLING = 0.25, 0.03  # speed after over before a limit, and s in which a hop dies out
LEAST_IMPACT = 0.02  # m/s, below which a limit is reached in silence
WARP = 0.35  # standard deviation of the logarithm of a stroke's clock
GLIDING = 0.05  # m/s, above which the hand's tremor is the drawer's


@dataclass(frozen=True)
class Person:
    """How somebody moves drawers.

    Attributes:
        speed, speed_spread: Median peak speed of a stroke, m/s, and deviation of its logarithm.
        full: Share of the strokes that end at a limit.
        beyond: Mean distance by which a stroke to a limit aims beyond it, m.
        pause: Mean time between strokes, s.
        tremor: Standard deviation of the hand's tremor, m.
        release: Share of the pauses in which the hand lets go.
    """

    speed: float = 0.38
    speed_spread: float = 0.45
    full: float = 0.45
    beyond: float = 0.05
    pause: float = 0.7
    tremor: float = 1.5e-4
    release: float = 0.35


CALM = Person(speed=0.22, speed_spread=0.35, full=0.3, beyond=0.02, pause=1.3, release=0.6)
"""Somebody else: slower, fewer limits, longer pauses."""


@dataclass(frozen=True)
class Motion:
    """A drawer's motion.

    Attributes:
        position: Opening at RATE, m.
        load: How hard the hand presses the drawer on its rails, 1 on average, at RATE.
        impacts: Times, speeds and ends (0 closed, 1 open) of impacts with the limits, s and m/s.
        touches: Times and strengths of the hand's touches, s, strengths 1 on average.
    """

    position: Float[ndarray, " time"]
    load: Float[ndarray, " time"]
    impacts: Float[ndarray, "impact 3"]
    touches: Float[ndarray, "touch 2"]


def move(duration: float, stroke: float, person: Person, draw: np.random.Generator) -> Motion:
    """Return how a person moves a drawer that begins closed.

    Args:
        duration: s.
        stroke: From limit to limit, m.
        person: Who moves it.
        draw: Random numbers.
    """
    count = round(duration * RATE)
    pieces, loads = [], []
    impacts: list[tuple[float, float, float]] = []
    touches: list[tuple[float, float]] = []
    at, made = 0.0, 0
    while made < count:
        rest = np.full(round(RATE * draw.exponential(person.pause)) + 1, at)
        begun = made + len(rest)
        if draw.random() < person.release:
            lag = min(draw.uniform(0.05, 0.3) * RATE, len(rest) - 1.0)
            touches += [(made / RATE, draw.lognormal(-0.8, 0.5))]
            touches += [((begun - lag) / RATE, draw.lognormal(-0.2, 0.5))]
        moved, impact = _stroke(at, stroke, person, draw)
        if impact is not None:
            impacts.append(((begun + impact[0]) / RATE, impact[1], impact[2]))
        pieces += [rest, moved]
        loads.append(np.full(len(rest) + len(moved), draw.lognormal(-0.02, 0.2)))
        at, made = float(moved[-1]), begun + len(moved)
    position = np.concatenate(pieces)[:count]
    gliding = np.minimum(np.abs(np.gradient(position)) * RATE / GLIDING, 1.0)
    trembling = position + _smooth(gliding, 51) * _tremor(count, person, draw)
    inside = (position > 0.0) & (position < stroke)
    position = np.clip(np.where(inside, trembling, position), 0.0, stroke)
    load = _smooth(np.concatenate(loads)[:count], round(0.1 * RATE))
    return Motion(_smooth(position, 3), load, _rows(impacts, 3), _rows(touches, 2))


def _stroke(
    at: float, stroke: float, person: Person, draw: np.random.Generator
) -> tuple[Float[ndarray, " time"], tuple[int, float, float] | None]:
    """Return a stroke from where the drawer is, and its impact: at which sample, speed, end."""
    target, end = _aim(at, stroke, person, draw)
    distance = abs(target - at)
    speed = min(person.speed * np.exp(person.speed_spread * draw.standard_normal()), FASTEST)
    time = 1.875 * distance / speed  # the peak of least jerk is 1.875 times the mean
    share = _warped(max(round(time * RATE), 20), draw)
    path = at + (target - at) * (10.0 * share**3 - 15.0 * share**4 + 6.0 * share**5)
    fastest = np.abs(np.diff(path)).max() * RATE
    if fastest > FASTEST:
        return _stroke(at, stroke, person, draw)
    beyond = np.flatnonzero((path < 0.0) | (path > stroke))
    if end is None or not len(beyond):
        return np.clip(path, 0.0, stroke), None
    first = int(beyond[0])
    met = float(abs(path[first] - path[first - 1])) * RATE if first else 0.0
    since = np.arange(round(8.0 * SETTLING * RATE)) / RATE
    hop = REBOUND * met * since * np.exp(-since / SETTLING)
    after = hop if end == 0.0 else stroke - hop
    impact = (first, met, end) if met > LEAST_IMPACT else None
    return np.concatenate([path[:first], after]), impact


def _aim(
    at: float, stroke: float, person: Person, draw: np.random.Generator
) -> tuple[float, float | None]:
    """Return the place that a stroke aims at, and the limit that it will meet."""
    if draw.random() < person.full:
        far = 1.0 if at < 0.5 * stroke else 0.0
        near = draw.random() < 0.25 and LEAST_STROKE < at < stroke - LEAST_STROKE
        end = 1.0 - far if near else far
        beyond = draw.exponential(person.beyond) + 0.005
        return (stroke + beyond if end else -beyond), end
    while True:
        target = draw.uniform(0.02, stroke - 0.02)
        if abs(target - at) > LEAST_STROKE:
            return target, None


def _warped(count: int, draw: np.random.Generator) -> Float[ndarray, " time"]:
    """Return a clock from 0 to 1 that runs unevenly."""
    knots = np.exp(WARP * draw.standard_normal(6))
    pace = np.interp(np.linspace(0.0, 5.0, count), np.arange(6), knots)
    clock = np.concatenate([[0.0], np.cumsum(pace)])
    return np.asarray(clock / clock[-1])


def _tremor(count: int, person: Person, draw: np.random.Generator) -> Float[ndarray, " time"]:
    """Return the hand's tremor: noise between 8 and 12 Hz, m."""
    frequency = np.fft.rfftfreq(count, 1.0 / RATE)
    spectrum = np.fft.rfft(draw.standard_normal(count))
    spectrum[(frequency < 8.0) | (frequency > 12.0)] = 0.0
    noise = np.fft.irfft(spectrum, count)
    return np.asarray(person.tremor * noise / noise.std())


def _smooth(values: Float[ndarray, " time"], width: int) -> Float[ndarray, " time"]:
    """Return running means, with the ends repeated."""
    padded = np.pad(values, (width // 2, width - 1 - width // 2), mode="edge")
    return np.convolve(padded, np.full(width, 1.0 / width), mode="valid")


def _rows(values: Sequence[tuple[float, ...]], width: int) -> Float[ndarray, "row column"]:
    return np.array(values, float).reshape(len(values), width)
