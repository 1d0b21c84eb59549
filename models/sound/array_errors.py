r"""How errors of an array that many impacts share move what is located, to first order.

An impact at P = (x, y, 0), emitted at t, appears in channel m at

    tau_m = t + |P - p_m - q_m| / (c (1 + k)) + d_m + r_m t_0,

where p_m and c are the stated place and speed of sound, t_0 is the time since the recording began,
and the errors are, each as much as the true value exceeds the stated one: q_m of the place, k of
the speed, d_m the delay of the channel and r_m the drift of its clock. Channel 0 is the reference:
its delay shifts all times alike and its clock is the recording's. To first order

    d tau_m = -u_m . q_m / c - |P - p_m| k / c + d_m + r_m t_0,       u_m = (P - p_m) / |P - p_m|,

and weighted least squares on the arrivals (`multilateration`, with G the derivatives of the travel
times and e_m the arrivals' standard deviations) answers with a place and a time that are off by

    (dP, dt) = (J' W J)^-1 J' W d tau,        J = (G, 1),  W = diag(1 / e_m^2),

which is A f for errors that are standard-normal numbers f times their standard deviations. What
J' W does not see, the redundancy of four microphones and more, moves nothing.

A varies over the surface, so that areas are stretched: by 1 + sum_a dA_a / dP_a f to first order.

Errors of many millimetres bend places beyond the first order; then `relocated` locates the same
arrivals with an array from which given errors are taken out, about which `distortion` holds again.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import multilateration
from ricochet.models.sound.arrays import Microphones

FAR = 1.0  # m round the microphones in which relocated impacts are
_SMALL = 1e-4  # m, of differences
_LEAST_AREA = 0.3  # to which no errors squeeze an area
AXES = ("x", "y", "z")
SPEED = "speed of sound"


@dataclass(frozen=True)
class Spread:
    """Standard deviations of the errors of an array; the defaults reach what goes wrong with rigs.

    Attributes:
        place: Of each coordinate of a microphone, m: a stand that was pushed, an edge mistaken for
            the middle of a capsule; a tape measure alone is good to 1 or 2 mm.
        speed: Of the speed of sound, relative: 0.2 % a kelvin, so 10 K in a hall or the open air.
        delay: Of each channel against channel 0, s: converters differ by some samples where a
            channel passes one more filter, and drivers by a fraction of a block.
        drift: Of each channel's clock against that of channel 0, relative: quartzes of two sound
            cards are apart by 50 to 100 parts in a million, poor ones several times more.
    """

    place: float = 5e-3
    speed: float = 0.02
    delay: float = 1e-4
    drift: float = 2.5e-4

    def __post_init__(self) -> None:
        """Refuse standard deviations that are none."""
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} must be finite and at least 0, not {value}")


def surveyed(place_sd: float) -> Spread:
    """Return the errors of an array whose places are stated to be known so well, m.

    A better survey than the default's changes nothing: it does not hold a stand that was pushed.

    >>> surveyed(1e-3) == Spread(), surveyed(0.02).place
    (True, 0.02)
    """
    return replace(Spread(), place=max(Spread().place, place_sd))


@dataclass(frozen=True)
class ArrayErrors:
    """The errors of one array in order, with their standard deviations in SI units."""

    names: tuple[str, ...]
    sd: Float[ndarray, " error"]


@dataclass(frozen=True)
class Distortion:
    """What errors of one standard deviation each do to located impacts.

    Attributes:
        places: A, what they add to each place, m.
        times: What they add to each time of emission, s.
        areas: What they add to the area of what lies about each place, relative.
    """

    places: Float[ndarray, "impact 2 error"]
    times: Float[ndarray, "impact error"]
    areas: Float[ndarray, "impact error"]


def errors(channels: int, spread: Spread | None = None) -> ArrayErrors:
    """Name the errors of an array: places by microphone, speed of sound, delays, drifts.

    >>> errors(3).names[8:]
    ('microphone 2 z', 'speed of sound', 'delay of channel 1', 'delay of channel 2', \
'drift of channel 1', 'drift of channel 2')
    """
    spread = spread or Spread()
    places = [f"microphone {number} {axis}" for number in range(channels) for axis in AXES]
    delays = [f"delay of channel {number}" for number in range(1, channels)]
    drifts = [f"drift of channel {number}" for number in range(1, channels)]
    counts = (len(places), 1, len(delays), len(drifts))
    sizes = (spread.place, spread.speed, spread.delay, spread.drift)
    return ArrayErrors((*places, SPEED, *delays, *drifts), np.repeat(sizes, counts))


def distortion(
    places: Float[ndarray, "impact 2"],
    since: Float[ndarray, " impact"],
    *,
    microphones: Microphones,
    arrival_sd: Float[ndarray, "impact channel"] | None = None,
    spread: Spread | None = None,
) -> Distortion:
    """Return how errors of one standard deviation each move located impacts.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> found = distortion(np.array([[0.1, 0.1]]), np.ones(1), microphones=array)
    >>> together = found.places[0][:, [0, 3, 6]].sum(axis=1)  # all microphones 5 mm along x
    >>> together.round(6).tolist()
    [-0.005, 0.0]

    Args:
        places: Where the impacts were located, m.
        since: Time of each since its recording began, s.
        arrival_sd: Standard deviations of the arrivals that the localiser weighed them by, s; None
            takes them as equal, which is exact with three microphones.
        spread: Standard deviations of the errors.

    Raises:
        ValueError: A place or a time that is not finite, or a deviation that is not positive.
    """
    _check(places, since, arrival_sd)
    sd = np.ones((len(places), len(microphones.positions))) if arrival_sd is None else arrival_sd
    spread = spread or Spread()
    answer = _moved(places, since, sd, microphones=microphones, spread=spread)
    areas = np.zeros((len(places), answer.shape[-1]))
    for axis, step in enumerate(_SMALL * np.eye(2)):
        ahead, behind = (
            _moved(places + sign * step, since, sd, microphones=microphones, spread=spread)
            for sign in (1.0, -1.0)
        )
        areas += (ahead - behind)[:, axis] / (2.0 * _SMALL)
    return Distortion(answer[:, :2], answer[:, 2] / microphones.speed_of_sound, areas)


def _moved(
    places: Float[ndarray, "impact 2"],
    since: Float[ndarray, " impact"],
    arrival_sd: Float[ndarray, "impact channel"],
    *,
    microphones: Microphones,
    spread: Spread,
) -> Float[ndarray, "impact 3 error"]:
    """Return what errors add to places and to the way of sound since each emission, m."""
    moved = arrival_slopes(places, since, microphones=microphones)
    moved = moved * errors(len(microphones.positions), spread).sd
    _, slope = multilateration.gradients(places, microphones=microphones)
    speed = microphones.speed_of_sound  # metres throughout: well conditioned
    jacobian = np.concatenate([slope * speed, np.ones((*slope.shape[:-1], 1))], axis=-1)
    weight = arrival_sd.min() / arrival_sd
    weighted = jacobian * weight[..., None]
    return np.asarray(np.linalg.pinv(weighted) @ (moved * speed * weight[..., None]))


def corrected(
    microphones: Microphones, sizes: Float[ndarray, " error"]
) -> tuple[Microphones, Float[ndarray, " channel"], Float[ndarray, " channel"]]:
    """Take errors, in SI units, out of an array: the array, delays, s, and drifts of its channels.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> faster, late, _ = corrected(array, np.eye(14)[9] * 0.01 + np.eye(14)[11] * 1e-4)
    >>> round(faster.speed_of_sound / array.speed_of_sound, 6), late.tolist()
    (1.01, [0.0, 0.0, 0.0001])
    """
    count = len(microphones.positions)
    places, speed, delays, drifts = np.split(sizes, np.cumsum([3 * count, 1, count - 1]))
    kelvin = (microphones.temperature + 273.15) * (1.0 + float(speed[0])) ** 2
    array = replace(
        microphones,
        positions=microphones.positions + places.reshape(count, 3),
        temperature=kelvin - 273.15,
    )
    return array, np.concatenate([[0.0], delays]), np.concatenate([[0.0], drifts])


def relocated(
    places: Float[ndarray, "impact 2"],
    since: Float[ndarray, " impact"],
    sizes: Float[ndarray, " error"],
    *,
    microphones: Microphones,
    arrival_sd: Float[ndarray, "impact channel"] | None = None,
) -> tuple[Float[ndarray, "impact 2"], Float[ndarray, " impact"]]:
    """Return places, m, and times, s, as an array without given errors would have located them.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> sizes = np.zeros(14)
    >>> sizes[[0, 3, 6]] = 0.01  # the whole array stands 10 mm further along x
    >>> relocated(np.array([[0.1, 0.1]]), np.ones(1), sizes, microphones=array)[0].round(6).tolist()
    [[0.11, 0.1]]

    Args:
        places, since: As the stated array located them.
        sizes: Errors to take out, in SI units, in the order of `errors`.
        arrival_sd: As in `distortion`.

    Returns:
        NaN where the arrivals, without these errors, come from no place.
    """
    array, delays, drifts = corrected(microphones, sizes)
    travel, _ = multilateration.gradients(places, microphones=microphones)
    arrivals = since[:, None] * (1.0 - drifts) + travel - delays
    weights = np.ones(travel.shape) if arrival_sd is None else arrival_sd
    region = multilateration.surroundings(array, margin=FAR)
    found, times = np.full(places.shape, np.nan), np.full(since.shape, np.nan)
    for row, place in enumerate(places):
        fixes = multilateration.solve(
            arrivals[row], weights[row], microphones=array, region=region, start=place
        )
        if fixes:
            found[row], times[row] = fixes[0].position, fixes[0].emission
    return found, times


def about(
    areas: Float[ndarray, "impact error"], f: Float[ndarray, " error"]
) -> Float[ndarray, "impact error"]:
    """Return t of areas 1 - t g, where those about given errors f are 1 - areas (g - f), scaled.

    >>> about(np.array([[0.1]]), np.array([2.0])).round(4).tolist()
    [[0.0833]]
    """
    whole = 1.0 + areas @ f
    return np.asarray(areas / np.maximum(whole, _LEAST_AREA)[:, None])


def arrival_slopes(
    places: Float[ndarray, "impact 2"],
    since: Float[ndarray, " impact"],
    *,
    microphones: Microphones,
) -> Float[ndarray, "impact channel error"]:
    """Return by how much errors of one SI unit each delay the arrivals of impacts, s.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> slopes = arrival_slopes(np.array([[0.0, 0.0]]), np.array([2.0]), microphones=array)
    >>> (slopes[0, 0, 2] * array.speed_of_sound).round(6)  # straight below: higher is later
    np.float64(1.0)
    >>> slopes[0, :, -1].round(6).tolist()
    [0.0, 0.0, 2.0]
    """
    channels, count = len(microphones.positions), len(places)
    points = np.concatenate([places, np.zeros((count, 1))], axis=1)
    between = points[:, None] - microphones.positions
    travel, _ = multilateration.gradients(places, microphones=microphones)
    own = np.eye(channels)
    ways = between / (travel * microphones.speed_of_sound**2)[..., None]
    by_place = -own[:, :, None] * ways[:, :, None]
    by_delay = np.broadcast_to(own[:, 1:], (count, channels, channels - 1))
    return np.concatenate(
        [
            by_place.reshape(count, channels, 3 * channels),
            -travel[..., None],
            by_delay,
            by_delay * since[:, None, None],
        ],
        axis=-1,
    )


def _check(
    places: Float[ndarray, "impact 2"],
    since: Float[ndarray, " impact"],
    arrival_sd: Float[ndarray, "impact channel"] | None,
) -> None:
    if not (np.isfinite(places).all() and np.isfinite(since).all()):
        raise ValueError("places and since must be finite")
    if arrival_sd is not None and not (np.isfinite(arrival_sd) & (arrival_sd > 0.0)).all():
        raise ValueError("arrival_sd must be positive and finite")
