r"""Whether channels are swapped: what should be constant under the right order of the channels.

With channel p(m) taken for microphone m, the arrivals are located anew. Under the right order

- four microphones and more: the arrivals' misfit is their error, and under a wrong one far more;
- three microphones, which fit any arrivals: loudness times distance is each microphone's gain, the
  same at every impact. A wrong order leaves differences of distance right, so that distances are
  off by one length common to all; loudness tells that length.

Q_p, the mean square of misfit or of log gain about its mean over the degrees of freedom, has under
the right order the variance of the errors and under any other one more. The ratio of Q of the
stated order to the least Q is therefore at most F-distributed if the stated order is right, and
other channels are named where its chance is below 1e-3 shared by all orders and the ratio is above
four: microphones louder in one direction than in another make errors that are no chance.
"""

import math
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.sound import arrival_hypotheses, multilateration
from ricochet.models.sound.array_errors import Spread
from ricochet.models.sound.arrays import Microphones

CHANCE = 1e-3  # of an array in order to be refused, if errors are independent
LEAST_RATIO = 4.0
UNLIKELY = 2.0  # ratio that an order of more than two exchanged channels needs over one of two
FEWEST = 6  # impacts on which an order is judged
CLEAR = 0.5e-6  # s; arrivals that err less are looked at ..
CLEAREST = (0.5, 60)  # .. and this share of the impacts, those of least error, up to this number
MOST_ORDERS = 4  # microphones of which all orders are tried; of more, all exchanges of two
GAIN_SD = 0.01  # nepers; what log loudness errs by in the least
PITCH = 4e4  # rad/s; error of a log loudness over that of its arrival: a click's mean frequency
MARGIN = 1.0  # m round the microphones where impacts are sought
CAP = 25.0  # most that one impact counts, in units of its variance
Order = tuple[int, ...]


@dataclass(frozen=True)
class Impacts:
    """What arrived of some impacts, one a row; all of one array.

    Attributes:
        arrivals, sd: At each channel, s, and their standard deviations.
        loudness: Logarithm of the strength in each channel, but for a constant of each impact.
    """

    arrivals: Float[ndarray, "impact channel"]
    sd: Float[ndarray, "impact channel"]
    loudness: Float[ndarray, "impact channel"]


def swapped(impacts: Impacts, microphones: Microphones) -> Order | None:
    """Return the channel of each microphone if it is surely another one than stated, else None.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> nothing = np.zeros((0, 3))
    >>> swapped(Impacts(nothing, nothing, nothing), array) is None  # too little to go by
    True
    """
    channels = len(microphones.positions)
    impacts = _clearest(impacts)
    count = len(impacts.arrivals)
    if channels < 3 or count < FEWEST:
        return None
    orders = _orders(channels)
    if channels > 3 and _mean_square(impacts, orders[0], microphones) < LEAST_RATIO:
        return None  # the stated order fits
    squares = {order: _mean_square(impacts, order, microphones) for order in orders}
    best = min(orders, key=lambda order: squares[order] * (1.0 if _moved(order) <= 2 else UNLIKELY))
    ratio = squares[orders[0]] / squares[best]
    freedom = _freedom(count, channels)
    chance = float(stats.f.sf(ratio, freedom, freedom))
    sure = ratio > LEAST_RATIO and chance < CHANCE / len(orders)
    return best if best != orders[0] and sure else None


def sentence(order: Order) -> str:
    """Say which channels look swapped.

    >>> sentence((0, 2, 1))
    'channels 1 and 2 look swapped: each fits where the other is stated'
    >>> sentence((1, 2, 0))
    'channels 0, 1 and 2 look mixed up: microphones 0, 1, 2 seem to be on channels 1, 2, 0'
    """
    moved = [number for number, channel in enumerate(order) if channel != number]
    names = ", ".join(map(str, moved[:-1])) + f" and {moved[-1]}"
    if len(moved) == 2:
        return f"channels {names} look swapped: each fits where the other is stated"
    places, channels = (", ".join(map(str, x)) for x in (moved, [order[m] for m in moved]))
    return f"channels {names} look mixed up: microphones {places} seem to be on channels {channels}"


def _clearest(impacts: Impacts) -> Impacts:
    """Keep the impacts whose arrivals err least."""
    share, most = CLEAREST
    error = impacts.sd.max(axis=1)
    known = int(np.isfinite(error).sum())
    clear = int((error < CLEAR).sum())
    count = min(max(math.ceil(share * known), clear, FEWEST), most, known)
    kept = np.argsort(error, kind="stable")[:count]
    return Impacts(impacts.arrivals[kept], impacts.sd[kept], impacts.loudness[kept])


def _orders(channels: int) -> list[Order]:
    """Return the orders to try, the stated one first."""
    stated = tuple(range(channels))
    if channels <= MOST_ORDERS:
        return list(permutations(stated))
    exchanges = []
    for first, second in combinations(stated, 2):
        order = list(stated)
        order[first], order[second] = second, first
        exchanges.append(tuple(order))
    return [stated, *exchanges]


def _moved(order: Order) -> int:
    """Return how many microphones are on another channel than stated."""
    return sum(channel != number for number, channel in enumerate(order))


def _freedom(impacts: int, channels: int) -> int:
    return impacts * (channels - 3) if channels > 3 else (impacts - 1) * (channels - 1)


def _mean_square(impacts: Impacts, order: Order, microphones: Microphones) -> float:
    """Return Q: what should vanish, over its variance and the degrees of freedom."""
    index = list(order)
    arrivals, sd = impacts.arrivals[:, index], impacts.sd[:, index]
    loudness = impacts.loudness[:, index]
    rows = [_located(*row, microphones) for row in zip(arrivals, sd, loudness, strict=True)]
    residuals = np.array([row[0] for row in rows])
    freedom = _freedom(len(rows), len(microphones.positions))
    if len(microphones.positions) > 3:
        return float(np.minimum(residuals, CAP).sum()) / freedom
    fits = np.isfinite(residuals)
    if not fits.any():
        return math.inf
    gains, variance = np.array([row[1] for row in rows])[fits], GAIN_SD**2 + (PITCH * sd[fits]) ** 2
    mean = np.sum(gains / variance, axis=0) / np.sum(1.0 / variance, axis=0)
    squares = np.sum((gains - mean) ** 2 / variance, axis=1)
    return float(np.sum(np.minimum(squares, CAP)) + CAP * np.sum(~fits)) / freedom


def _located(
    arrivals: Float[ndarray, " channel"],
    sd: Float[ndarray, " channel"],
    loudness: Float[ndarray, " channel"],
    microphones: Microphones,
) -> tuple[float, Float[ndarray, " channel"]]:
    """Return misfit and log gains of the solution of the steadiest gains; no fit is infinite."""
    fixes = multilateration.solve(
        arrivals,
        sd,
        microphones=microphones,
        region=multilateration.surroundings(microphones, margin=MARGIN),
        place_sd=Spread().place,
    )
    strengths = np.exp(loudness - loudness.mean())
    answers = [
        (
            fix.residual,
            arrival_hypotheses.implied_gains(strengths, fix.position, microphones=microphones),
        )
        for fix in fixes
    ]
    nowhere = (math.inf, np.zeros(len(arrivals)))
    return min(answers, key=lambda answer: float(np.sum(answer[1] ** 2)), default=nowhere)
