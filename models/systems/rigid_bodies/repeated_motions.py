"""Motions that are one film: smoothed, offset, mirrored, cut, or written in other units.

Of positions a and b of two motions, seen with independent noise of deviations s and t, what differs

    d = +-b(time) - a(time + lag) - offset - tau a' - c a''

has the deviation sqrt(s^2 + t^2), and more where the motions differ. A running mean of weights w
leaves |w| of it where noise is white, more where it is slow, and less of what is fast, as hum: that
noise is therefore what most frequencies hold. Of one film the mean leaves far less: a smoothed copy
differs in what is fast alone, one in other units hardly. So two repeats that agree to within their
noise stay two; two swings of a chaotic pendulum part anyway.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import fft, ndimage

from ricochet.models.core import near_rows

COPIED = 0.9
"""Share of frames that two motions have together, above which they are one that was cut: two swings
of one hinge that an encoder of 10 bit counts 400 times a second have 0.8."""
SHARED = 0.3
"""Of what independent noise leaves in the mean of the difference: below it motions are one."""
ENOUGH = 300
"""Common frames from which on that is well known; of fewer it is as much smaller."""
FLOOR = 1e-5
"""Noise, and difference, in `near_rows.scales`, below which there is none."""
COMMON = 0.5
"""Least share of the shorter motion's frames that both have."""
HALF = 9
"""Frames of each of the two running means that follow one another."""
NEAR = 0.2
"""Difference of slow velocities, in their energy, above which motions are two at once."""
PHASES = 8
"""First frames from which on a film may have been copied at a lower rate."""
_WEIGHTS = np.convolve(np.full(HALF, 1.0 / HALF), np.full(HALF, 1.0 / HALF))
_EDGE = HALF - 1
_LEAST = 120
_STEP, _LONG = 4, 4000  # frames between those compared first, where there are so many
_ORDERS = (4, 6, 8, 10)
_QUANTILE, _DEVIATIONS = 0.9, 1.645
_SHARE = 0.75  # of frequencies: a smoothed copy lacks what is fast alone


@dataclass(frozen=True)
class Motion:
    """Positions, and their running mean.

    Attributes:
        seen: Positions but the first and last few frames, of which there is no mean.
        mean: Their running mean.
        bends: Velocity and acceleration of that, a frame and its square.
        noise: Deviation of the noise of each position, or less.
        scale: How far each position reaches.
    """

    seen: Float[ndarray, "frame position"]
    mean: Float[ndarray, "frame position"]
    bends: Float[ndarray, "2 frame position"]
    noise: Float[ndarray, " position"]
    scale: Float[ndarray, " position"]


@np.errstate(all="ignore")  # what is far out of scale is like nothing
def of(positions: Float[ndarray, "frame position"]) -> Motion | None:
    """Return a motion for comparison; none where it is too short or nothing moves."""
    if len(positions) < _LEAST or not (np.ptp(positions, axis=0) > 0.0).any():
        return None
    inner = slice(_EDGE, -_EDGE)
    mean = ndimage.convolve1d(positions, _WEIGHTS, axis=0)[inner]
    velocity = np.gradient(mean, axis=0)
    bends = np.stack([velocity, np.gradient(velocity, axis=0)])
    scale = near_rows.scales(positions)
    return Motion(positions[inner], mean, bends, _noise(positions), scale)


def cut(states: Sequence[Float[ndarray, "_ state"]]) -> Iterator[tuple[int, int]]:
    """Yield which of several motions have nearly all frames together, by number."""
    if not states:
        return
    scale = near_rows.scales(np.concatenate(states))
    frames = [near_rows.cells(each, scale) for each in states]
    for grid in range(len(near_rows.BORDERS)):
        shares = near_rows.shared([each[grid] for each in frames])
        yield from (pair for pair, share in shares.items() if share > COPIED)


def pairs(
    positions: Sequence[Float[ndarray, "_ position"]], rates: Sequence[float]
) -> Iterator[tuple[int, int]]:
    """Yield which of several motions are one however it is written, by number.

    Args:
        rates: Frames a second of each; the faster of two is compared at the rate of the slower.
    """
    motions = [of(each) for each in positions]
    for one, other in combinations(range(len(motions)), 2):
        slow, fast = (one, other) if rates[one] < rates[other] else (other, one)
        every = rates[fast] / rates[slow]
        again = (motions[fast],) if every < 1.001 else _sampled(positions[fast], every)
        mine = motions[slow]
        if mine and any(each and are_one(mine, each) for each in again):
            yield one, other


@np.errstate(all="ignore")
def are_one(one: Motion, other: Motion) -> bool:
    """Return whether two motions, of one rate, are one film."""
    noise, scale = np.maximum(one.noise, other.noise), np.maximum(one.scale, other.scale)
    clean = bool((noise < FLOOR * scale).all())
    found = _lag(one, other, scale, mirrored=not clean)
    if found is None:
        return False
    differences = _differences(one, other, *found, scale)
    seen, mean = _white(differences[0]), _deviations(differences[1])
    if clean and (mean < FLOOR * scale).all():
        return True
    known = min(1.0, len(differences[0]) / ENOUGH)
    left = np.linalg.norm(_WEIGHTS) * np.maximum(noise, seen)
    return bool((mean <= SHARED * known * left).all())


def _sampled(positions: Float[ndarray, "frame position"], every: float) -> Iterator[Motion | None]:
    """Yield motions of every so many frames, between them too, from each of the first on."""
    frames = np.arange(len(positions))
    for begin in range(min(math.ceil(every - 1e-3), PHASES)):
        places = np.arange(begin, len(positions) - 1 + 1e-6, every)
        yield of(np.stack([np.interp(places, frames, column) for column in positions.T], 1))


def _noise(positions: Float[ndarray, "frame position"]) -> Float[ndarray, " position"]:
    """Return what differences of high orders say, which hold least of the motion."""
    found = [
        np.median(np.abs(np.diff(positions, order, axis=0)), axis=0)
        / (0.6745 * math.sqrt(math.comb(2 * order, order)))
        for order in _ORDERS
    ]
    return np.min(found, axis=0)


def _white(values: Float[ndarray, "frame position"]) -> Float[ndarray, " position"]:
    """Return deviations of the noise that most frequencies hold, as hum at a few does not."""
    power = np.abs(fft.rfft(values, axis=0)[1:]) ** 2 / len(values)
    return np.sqrt(np.quantile(power, _SHARE, axis=0) / -math.log1p(-_SHARE))


def _deviations(values: Float[ndarray, "frame position"]) -> Float[ndarray, " position"]:
    """Return deviations of columns, whatever a tenth of the frames are."""
    return np.quantile(np.abs(values), _QUANTILE, axis=0) / _DEVIATIONS


def _lag(
    one: Motion, other: Motion, scale: Float[ndarray, " position"], *, mirrored: bool
) -> tuple[int, float] | None:
    """Return by how many frames the first is later, and -1 where it is mirrored, else 1.

    None where no lag has them near.
    """
    step = _STEP if min(len(one.mean), len(other.mean)) > _LONG else 1
    first, second = (np.diff(each.mean[::step] / scale, axis=0) for each in (one, other))
    lags, products, energies = _correlated(first, second)
    differ = 1.0 - 2.0 * (np.abs(products) if mirrored else products) / energies
    below, at, above = differ[:-2], differ[1:-1], differ[2:]
    bend = np.maximum(below - 2.0 * at + above, 1e-12)
    least = np.where((at <= below) & (at <= above), at - (above - below) ** 2 / (8.0 * bend), 1.0)
    place = int(least.argmin())
    if not least[place] < NEAR:
        return None
    between = (below[place] - above[place]) / (2.0 * bend[place])
    sign = math.copysign(1.0, products[place + 1])
    return round(step * (float(lags[place + 1]) + between)), sign


def _correlated(
    one: Float[ndarray, "_ position"], other: Float[ndarray, "_ position"]
) -> tuple[ndarray, Float[ndarray, " lag"], Float[ndarray, " lag"]]:
    """Return lags at which enough is common, and sums there of products and of both squares."""
    count = fft.next_fast_len(len(one) + len(other), real=True)
    first, second = (fft.rfft(each, count, axis=0) for each in (one, other))
    products = fft.irfft((first * second.conj()).sum(1), count)
    lags = np.arange(1 - len(other), len(one))
    begin, end = np.maximum(lags, 0), np.minimum(len(one), lags + len(other))
    wide = end - begin >= COMMON * min(len(one), len(other))
    lags, begin, end = lags[wide], begin[wide], end[wide]
    sums = [np.append(0.0, np.cumsum(np.square(each).sum(1))) for each in (one, other)]
    energies = sums[0][end] - sums[0][begin] + sums[1][end - lags] - sums[1][begin - lags]
    return lags, products[lags], np.maximum(energies, 1e-300)


def _differences(
    one: Motion, other: Motion, lag: int, sign: float, scale: Float[ndarray, " position"]
) -> tuple[Float[ndarray, "frame position"], Float[ndarray, "frame position"]]:
    """Return what differs, of all that was seen and of its mean, at the best lag and offset."""
    common = round(COMMON * min(len(one.mean), len(other.mean)))
    for _ in range(4):
        begin, end = max(0, -lag), min(len(other.mean), len(one.mean) - lag)
        here, there = slice(begin, end), slice(begin + lag, end + lag)
        parts = one.bends[:, there] - one.bends[:, there].mean(1, keepdims=True)
        mean = sign * other.mean[here] - one.mean[there]
        offset = mean.mean(0)
        late, bent = _fitted(parts / scale, (mean - offset) / scale)
        if abs(late) <= 0.75:
            break
        lag = max(common - len(other.mean), min(len(one.mean) - common, lag + round(late)))
    fitted = offset + late * parts[0] + bent * parts[1]
    return sign * other.seen[here] - one.seen[there] - fitted, mean - fitted


def _fitted(
    parts: Float[ndarray, "2 frame position"], differs: Float[ndarray, "frame position"]
) -> tuple[float, float]:
    """Return how much of velocity and acceleration is in what differs, of the second one at most.

    In frames and their squares: more than that no smoothing of few frames leaves.
    """
    both, left = parts.reshape(2, -1), differs.ravel()
    (own, shared), (_, other) = both @ both.T
    along, across = both @ left
    bent = (across - shared * along / own) / (other - shared**2 / own)
    bent = float(np.clip(np.nan_to_num(bent), -1.0, 1.0))
    return float(np.nan_to_num((along - bent * shared) / own)), bent
