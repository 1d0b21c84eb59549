"""A point of the surface from arrival times: the crossing of hyperbolas, by weighted least squares.

An impact at s = (x, y, 0) emitted at t reaches microphone m at place p_m at

    t_m = t + |s - p_m| / c.

Differences of two arrivals are Eq. 9 of Matl et al. (STReSSD, appendix C); an unknown t says the
same with errors that stay independent. With errors of standard deviation e_m the estimate minimises
sum_m (t_m - t - |s - p_m| / c)^2 / e_m^2 by Gauss-Newton from the closed-form solutions of three
microphones at a time (Eq. 10 may have two; both are kept), and its covariance is (J' W J)^-1.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.sound.arrays import Microphones

STEPS = 12  # Gauss-Newton steps; quadratic once near, starts are at most a few decimetres off
LONGEST_STEP = 0.15  # m
MOST_TRIPLES = 20  # of microphones whose closed form gives starts
LEAST_AREA = 1e-4  # m^2 spanned by three microphones, twice
FARTHEST = 10.0  # m
SAME = 2e-3  # m; solutions closer than this are one


@dataclass(frozen=True)
class Region:
    """The part of the surface where impacts can be: a rectangle, m."""

    low: tuple[float, float]
    high: tuple[float, float]

    def holds(self, points: Float[ndarray, "*batch 2"]) -> Bool[ndarray, "*batch"]:
        """Return which points of the surface, in m, lie inside."""
        inside = (points >= np.asarray(self.low)) & (points <= np.asarray(self.high))
        return np.asarray(inside.all(axis=-1))


@dataclass(frozen=True)
class Fix:
    """One solution of the hyperbolas: a point of the surface, m.

    Attributes:
        emission: Time of the impact on the arrivals' clock, s.
        covariance: Of (x, y, emission), in m and s.
        residual: Sum of squared arrival errors over their variances; 0 with three microphones.
    """

    position: Float[ndarray, " 2"]
    emission: float
    covariance: Float[ndarray, "3 3"]
    residual: float


def grown(region: Region, margin: float) -> Region:
    """Add a margin, in m, on every side.

    >>> grown(Region((0.0, 0.0), (1.0, 2.0)), 0.5)
    Region(low=(-0.5, -0.5), high=(1.5, 2.5))
    """
    low, high = np.subtract(region.low, margin), np.add(region.high, margin)
    return Region((float(low[0]), float(low[1])), (float(high[0]), float(high[1])))


def surroundings(microphones: Microphones, *, margin: float = 0.1) -> Region:
    """Return the rectangle round the microphones, with a margin in m on every side.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> surroundings(array, margin=0.5)
    Region(low=(-0.5, -0.5), high=(0.8, 0.9))
    """
    low, high = microphones.positions[:, :2].min(axis=0), microphones.positions[:, :2].max(axis=0)
    return grown(Region((low[0], low[1]), (high[0], high[1])), margin)


def plausible(
    times: Float[ndarray, "*batch channel"], *, microphones: Microphones, slack: float
) -> Bool[ndarray, "*batch"]:
    """Return whether every |t_m - t_n| <= |p_m - p_n| / c + slack, times in s.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> plausible(np.array([[0.0, 1e-4, 1e-4], [0.0, 2e-3, 0.0]]), microphones=array, slack=0.0)
    array([ True, False])
    """
    places = microphones.positions
    between = np.linalg.norm(places[:, None] - places, axis=2) / microphones.speed_of_sound
    delays = np.abs(times[..., :, None] - times[..., None, :])
    return np.asarray((delays <= between + slack).all(axis=(-2, -1)))


def solve(
    times: Float[ndarray, " channel"],
    sd: Float[ndarray, " channel"],
    *,
    microphones: Microphones,
    region: Region,
    place_sd: float = 0.0,
    start: Float[ndarray, " 2"] | None = None,
) -> tuple[Fix, ...]:
    """Find every point of the region that explains the arrival times.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> travel, _ = gradients(np.array([0.1, 0.2]), microphones=array)
    >>> region = surroundings(array)
    >>> [fix] = solve(0.5 + travel, np.full(3, 1e-6), microphones=array, region=region)
    >>> fix.position.round(6).tolist(), round(fix.emission, 9)
    ([0.1, 0.2], 0.5)

    Args:
        times: Arrival times, s, on any one clock.
        sd: Standard deviation of each arrival time, independent errors, s.
        place_sd: How well each microphone's place is known along any direction, m; widens the
            covariance as an error of each arrival.
        start: A point near the solution; None tries the closed form.

    Returns:
        Distinct local solutions inside the region, least residual first; none where all starts
        leave the region. Solutions whose residual exceeds the least by 25 are dropped.
    """
    error = np.hypot(sd, place_sd / microphones.speed_of_sound)
    starts = _starts(times, microphones=microphones) if start is None else np.asarray(start)[None]
    points = _descend(times, error, starts, microphones=microphones)
    points = points[region.holds(points)]
    if not len(points):
        return ()
    emissions, residuals = _misfit(points, times, error, microphones=microphones)
    order = np.argsort(residuals)
    fixes: list[Fix] = []
    for index in order:
        if residuals[index] > residuals[order[0]] + 25.0:
            break
        if all(np.linalg.norm(points[index] - fix.position) > SAME for fix in fixes):
            covariance = bound(points[index], error, microphones=microphones)
            when, residual = float(emissions[index]), float(residuals[index])
            fixes.append(Fix(points[index], when, covariance, residual))
    return tuple(fixes)


def gradients(
    points: Float[ndarray, "*batch 2"], *, microphones: Microphones
) -> tuple[Float[ndarray, "*batch channel"], Float[ndarray, "*batch channel 2"]]:
    """Return the travel times from points of the surface, s, and their derivatives, s/m.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> travel, slope = gradients(np.array([0.0, 0.0]), microphones=array)
    >>> (travel * array.speed_of_sound).round(3), slope.shape
    (array([0.1  , 0.316, 0.412]), (3, 2))
    """
    between = points[..., None, :] - microphones.positions[:, :2]
    distances = np.sqrt((between**2).sum(axis=-1) + microphones.positions[:, 2] ** 2)
    speed = microphones.speed_of_sound
    return distances / speed, between / (distances[..., None] * speed)


def bound(
    point: Float[ndarray, "*batch 2"],
    sd: Float[ndarray, "*batch channel"],
    *,
    microphones: Microphones,
) -> Float[ndarray, "*batch 3 3"]:
    """Return the covariance of (x, y, emission time), in m and s, that arrival errors leave.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> covariance = bound(np.array([0.1, 0.2]), np.full(3, 1e-6), microphones=array)
    >>> np.sqrt(covariance.diagonal()[:2]).round(5)  # m
    array([0.00043, 0.0003 ])
    """
    _, slope = gradients(point, microphones=microphones)
    jacobian = np.concatenate([slope, np.ones((*slope.shape[:-1], 1))], axis=-1) / sd[..., None]
    scale = np.array([1.0, 1.0, microphones.speed_of_sound])  # metres throughout: well conditioned
    jacobian = jacobian / scale
    information = np.swapaxes(jacobian, -1, -2) @ jacobian
    return np.asarray(np.linalg.inv(information) / (scale[:, None] * scale))


def _starts(
    times: Float[ndarray, " channel"], *, microphones: Microphones
) -> Float[ndarray, "start 2"]:
    """Solve Eq. 10 in closed form for every three microphones, both roots.

    With D_m = c (t_m - t_1) and d_m = |s - p_m|, d_m^2 - d_1^2 = D_m^2 + 2 D_m d_1 is linear in s
    and d_1: s = u + v d_1, and d_1^2 = |s - p_1|^2 is quadratic. Noise may make its roots complex;
    their real part is then a good start.
    """
    triples = np.array(list(combinations(range(len(times)), 3))[:MOST_TRIPLES])
    places, late = microphones.positions[triples], times[triples] * microphones.speed_of_sound
    across = places[:, 1:, :2] - places[:, :1, :2]
    flat = np.abs(np.linalg.det(across)) > LEAST_AREA
    places, late, across = places[flat], late[flat], across[flat]
    further = late[:, 1:] - late[:, :1]
    square = np.sum(places**2, axis=2)
    right = np.stack([0.5 * (square[:, 1:] - square[:, :1] - further**2), -further], axis=-1)
    u, v = np.moveaxis(np.linalg.solve(across, right), -1, 0)
    u_near = u - places[:, 0, :2]
    a, b = np.sum(v**2, axis=1) - 1, np.sum(u_near * v, axis=1)
    c = np.sum(u_near**2, axis=1) + places[:, 0, 2] ** 2
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    a = np.where(np.abs(a) < 1e-9, 1e-9, a)
    distance = np.clip(np.concatenate([(-b + root) / a, (-b - root) / a]), 0.0, FARTHEST)
    return np.tile(u, (2, 1)) + np.tile(v, (2, 1)) * distance[:, None]


def _descend(
    times: Float[ndarray, " channel"],
    sd: Float[ndarray, " channel"],
    points: Float[ndarray, "start 2"],
    *,
    microphones: Microphones,
) -> Float[ndarray, "solution 2"]:
    """Walk from all starts down to local minima at once."""
    weight = (sd.min() / sd) ** 2
    weight = weight / weight.sum()
    for _ in range(STEPS):
        travel, slope = gradients(points, microphones=microphones)
        late = times - travel
        late = late - (late @ weight)[:, None]
        slope = slope - (weight @ slope)[:, None]
        weighted = slope * weight[:, None]
        step = _normal_step(np.swapaxes(weighted, 1, 2) @ slope, late[:, None] @ weighted)
        size = np.sqrt(np.sum(step**2, axis=1, keepdims=True))
        points = points + step * np.minimum(1.0, LONGEST_STEP / np.maximum(size, 1e-12))
        if size.max() < 1e-8:
            break
    return np.asarray(points[size[:, 0] < 1e-4])


def _normal_step(
    normal: Float[ndarray, "start 2 2"], right: Float[ndarray, "start 1 2"]
) -> Float[ndarray, "start 2"]:
    """Solve two normal equations in closed form, a little damped."""
    a, b, d = normal[:, 0, 0], normal[:, 0, 1], normal[:, 1, 1]
    u, v = right[:, 0, 0], right[:, 0, 1]
    damping = 1e-9 * (a + d)
    a, d = a + damping, d + damping
    return np.stack([d * u - b * v, a * v - b * u], axis=1) / (a * d - b * b)[:, None]


def _misfit(
    points: Float[ndarray, "point 2"],
    times: Float[ndarray, " channel"],
    sd: Float[ndarray, " channel"],
    *,
    microphones: Microphones,
) -> tuple[Float[ndarray, " point"], Float[ndarray, " point"]]:
    """Return each point's emission time, and its sum of squared arrival errors over variances."""
    travel, _ = gradients(points, microphones=microphones)
    late = times - travel
    emission = np.sum(late / sd**2, axis=1) / np.sum(sd**-2)
    return emission, np.asarray(np.sum(((late - emission[:, None]) / sd) ** 2, axis=1))
