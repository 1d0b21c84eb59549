"""Where and when a ball may cross the robot's plane: bounces sampled one after the other.

Appendix E of Matl et al. (STReSSD). From the last two bounces the law of the next one gives n
samples; each, with the bounce before it, gives n more, up to k bounces ahead, so at most n^k. A
sample whose flight crosses the plane x = x_R ends there. A flight of time T from p to q is a
parabola, and crosses after the share f of it at

    f = (x_R - p_x) / (q_x - p_x),    y = p_y + f (q_y - p_y),    z = g T^2 f (1 - f) / 2.

With drag k the flight is that of `flight_expansion`: after the share f of its way it has taken the
share h of its time, and z has the flight's slopes at both ends.

A sample of flight j stands for n^(k-j) of the n^k and weighs n^-j, so that the weights of those
that cross, and of those that do not within k flights, sum to one. Only flights towards +x count,
from a bounce before the plane.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import flight_expansion

MOST_SAMPLES = 1_000_000
"""Largest n^k."""


@dataclass(frozen=True)
class NextBounces:
    """Samples of the next bounce, seen along the line of the last two.

    Attributes:
        time: From the last bounce to the next, s, positive.
        along, across: Displacement along the direction of travel and to the left of it, m.
    """

    time: Float[ndarray, "*batch"]
    along: Float[ndarray, "*batch"]
    across: Float[ndarray, "*batch"]

    @property
    def distance(self) -> Float[ndarray, "*batch"]:
        """Distance from the last bounce to the next, m (Eq. 7)."""
        return np.hypot(self.along, self.across)

    @property
    def turn(self) -> Float[ndarray, "*batch"]:
        """Signed angle from the last displacement to the next, rad (Eq. 8)."""
        return np.arctan2(self.across, self.along)


Law = Callable[
    [Float[ndarray, " parent"], Float[ndarray, " parent"], int, np.random.Generator], NextBounces
]
"""Sampler of the next bounce: times (s) and distances (m) between the last two bounces of each
parent, number of samples, source of randomness -> samples of shape (parent, sample)."""


@dataclass(frozen=True)
class LastBounces:
    """The last two bounces: time between them, s, the last one's place and the step to it, m."""

    time: float
    place: tuple[float, float]
    step: tuple[float, float]


@dataclass(frozen=True)
class LookAhead:
    """Samples that cross the plane, and what became of the others.

    Attributes:
        time: When each crosses, s after the last bounce.
        y, z: Where, and at what height, m.
        weight: Share of the n^k samples that each stands for.
        flight: In which flight it crosses, 1 to k.
        crossed: Share that crosses within k flights.
        missed: Share that does not; the two sum to one.
        next_event: Mean time to the next bounce or, if earlier, the crossing, s.
    """

    time: Float[ndarray, " crossing"]
    y: Float[ndarray, " crossing"]
    z: Float[ndarray, " crossing"]
    weight: Float[ndarray, " crossing"]
    flight: Int[ndarray, " crossing"]
    crossed: float
    missed: float
    next_event: float


@dataclass(frozen=True)
class Spread:
    """Mean (y, z), m, of the crossings, and their standard deviations, m."""

    mean: tuple[float, float]
    sd: tuple[float, float]


@dataclass(frozen=True)
class _Balls:
    """Samples in flight, each of shape (ball,): time since the start, last bounce, last step."""

    since: ndarray
    x: ndarray
    y: ndarray
    time: ndarray
    step_x: ndarray
    step_y: ndarray


def sample(
    last: LastBounces,
    next_bounces: Law,
    *,
    plane: float,
    depth: int,
    branches: int = 10,
    drag: float = 0.0,
    draw: np.random.Generator,
) -> LookAhead:
    """Sample bounces ahead until they cross the plane.

    Args:
        plane: x_R of the plane, m.
        depth: Number k of flights to look ahead.
        branches: Number n of samples of each next bounce.
        drag: k of the air in the flight that crosses, 1/m; between bounces the law has it.

    Raises:
        ValueError: If k or n is below 1, n^k above `MOST_SAMPLES`, or a number is not finite or
            the time not positive.
    """
    _check(last, plane, depth, branches)
    balls = _start(last)
    found, next_event = [], 0.0
    for flight in range(1, depth + 1):
        after = _fly(balls, next_bounces, branches, draw)
        crosses, crossing = _cross(balls, after, plane, drag)
        weight = np.full(crossing.shape[1], float(branches) ** -flight)
        if flight == 1:
            until = after.time.copy()
            until[crosses] = crossing[0]
            next_event = float(until.mean())
        found.append(np.stack((*crossing, weight, np.full(len(weight), float(flight)))))
        balls = _keep(after, ~crosses)
        if len(balls.x) == 0:
            break
    time, y, z, weight, flights = np.concatenate(found, axis=1)
    crossed = float(weight.sum())
    missed = len(balls.x) * float(branches) ** -flight
    return LookAhead(time, y, z, weight, flights.astype(int), crossed, missed, next_event)


def next_places(
    last: LastBounces, next_bounces: Law, *, count: int, draw: np.random.Generator
) -> Float[ndarray, "sample 2"]:
    """Sample the place of the next bounce on the table, m; refuse numbers that are not finite."""
    _check(last, 0.0, 1, count)
    after = _fly(_start(last), next_bounces, count, draw)
    return np.stack((after.x, after.y), axis=-1)


def spread(ahead: LookAhead) -> Spread | None:
    """Return weighted mean and standard deviation of the crossings; None if no sample crosses."""
    if len(ahead.y) == 0:
        return None
    points = np.stack((ahead.y, ahead.z))
    share = ahead.weight / ahead.weight.sum()
    mean = points @ share
    variance = (points - mean[:, None]) ** 2 @ share
    return Spread(
        (float(mean[0]), float(mean[1])), (float(variance[0]) ** 0.5, float(variance[1]) ** 0.5)
    )


def _start(last: LastBounces) -> _Balls:
    return _Balls(*(np.array([n]) for n in (0.0, *last.place, last.time, *last.step)))


def _fly(balls: _Balls, law: Law, branches: int, draw: np.random.Generator) -> _Balls:
    """Draw the next bounce of each ball, n times, and turn it into the world's axes."""
    distance = np.hypot(balls.step_x, balls.step_y)
    still = distance == 0.0  # no direction of travel: the law is the same in all directions
    scale = np.where(still, 1.0, distance)
    cosine = np.where(still, 1.0, balls.step_x / scale)[:, None]
    sine = (balls.step_y / scale)[:, None]
    drawn = law(balls.time, distance, branches, draw)
    step_x = cosine * drawn.along - sine * drawn.across
    step_y = sine * drawn.along + cosine * drawn.across
    return _Balls(
        (balls.since[:, None] + drawn.time).ravel(),
        (balls.x[:, None] + step_x).ravel(),
        (balls.y[:, None] + step_y).ravel(),
        drawn.time.ravel(),
        step_x.ravel(),
        step_y.ravel(),
    )


def _cross(
    before: _Balls, after: _Balls, plane: float, drag: float
) -> tuple[ndarray, Float[ndarray, "3 crossing"]]:
    """Tell which flights cross, and their time, y and z."""
    branches = len(after.x) // len(before.x)
    crosses = (after.x >= plane) & (np.repeat(before.x, branches) < plane)
    part = _keep(after, crosses)
    back = (part.x - plane) / part.step_x  # the share of the flight behind the plane
    y = part.y - back * part.step_y
    if drag == 0.0:
        height = 0.5 * GRAVITY * part.time**2 * back * (1.0 - back)
        return crosses, np.stack((part.since - back * part.time, y, height))
    distance = np.hypot(part.step_x, part.step_y)
    lost = flight_expansion.losses_between(part.time, distance, np.asarray(drag))
    wait, height = flight_expansion.height(part.time, 1.0 - back, lost)
    return crosses, np.stack((part.since - part.time + wait, y, height))


def _keep(balls: _Balls, chosen: ndarray) -> _Balls:
    fields = (balls.since, balls.x, balls.y, balls.time, balls.step_x, balls.step_y)
    return _Balls(*(field[chosen] for field in fields))


def _check(last: LastBounces, plane: float, depth: int, branches: int) -> None:
    numbers = (last.time, *last.place, *last.step, plane)
    if not (np.isfinite(numbers).all() and last.time > 0.0):
        raise ValueError(f"last: need finite numbers and a positive time, got {last} and {plane}")
    if depth < 1 or branches < 1 or branches**depth > MOST_SAMPLES:
        raise ValueError(
            f"depth and branches: need at least 1 and n^k at most {MOST_SAMPLES}, "
            f"got k = {depth} and n = {branches}"
        )
