"""False bounces: detections of a take's chain that are no bounce, as a click, speech or an echo.

Of a take's n detections a set S is false. Each is so with chance q, at any time of the take's
duration D and, where its place counts, anywhere in an area A; the others are the ball's:

    p(take, S) = q^|S| (1 - q)^(n - |S|) prod_{j in S} 1 / (D A) p(take without S | theta).

At most two are false, and what is left is a chain. The probability of S given theta is p(take, S)
over the sum of all sets (`weighed`), the errors that a session shares integrated with their prior
law: what other takes say of them favours no set, but for the height of the fall, which the first
bounce shows, and which is restated beforehand as the other takes have it.

**One term of the sum is enough.** A false time misses a ball's by milliseconds where times are
known to tens of microseconds, so that one set has nearly the whole sum, at any likely theta. Where
its probability at the pilot's is above `SURE` it is left out; a take without such a set stays as
it is.

**Intervals come first.** A ball's intervals shrink by nearly one ratio. Of takes in which a ratio
is far from the median of all, `suspected` returns the sets without which none is. Nothing else is
weighed: a take of another ball has no such set, and few takes of a sound session do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.chains import (
    laplace,
    observations,
    parameters,
    preparation,
)
from ricochet.models.systems.bouncing_ball.chains.log_density import Density
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.parameters import Prior

CHANCE = 0.02
"""That a detection is false: one in ten takes. A quiet room has one in ten of eighteen bounces."""
AREA = 1.0
"""Where the place of a false detection may be, m^2."""
SURE = 0.99
"""Probability of a set that is left out."""
MOST = 2
"""False detections of a take."""
_FEWEST, _FEWEST_PLACES = 3, 2  # bounces and places of a chain
_FAR, _LEAST_SPREAD = 6.0, 0.005  # in deviations of all log ratios, and their least one
_PROMISE = 1.0  # nats; where a step promises more, no path has been found

Set = tuple[int, ...]
"""Numbers of the detections of a take that are false, ascending."""


@dataclass(frozen=True)
class Judged:
    """What is false of a take.

    Attributes:
        chance: That some of it is not false, or that something else is.
    """

    false: Set = ()
    chance: float = 1.0


def without(take: Take, false: Set) -> Take:
    """Return a take without some of its detections."""
    columns = ("times", "places", "time_sd", "place_sd", "distortion", "areas")
    left = {name: np.delete(getattr(take, name), false, axis=0) for name in columns}
    return replace(take, **left) if false else take


def left_out(takes: Sequence[Take], false: Sequence[Set]) -> list[Take]:
    """Return takes without what is false of each."""
    return [without(*each) for each in zip(takes, false, strict=True)]


def sets_of(take: Take) -> list[Set]:
    """Return all sets of detections that may be false, the smallest first."""
    seen = np.flatnonzero(np.isfinite(take.time_sd)).tolist()
    every = [tuple(false) for count in range(MOST + 1) for false in combinations(seen, count)]
    return [false for false in every if _is_chain(without(take, false))]


def _is_chain(take: Take) -> bool:
    seen, placed = np.isfinite(take.time_sd), np.isfinite(take.place_sd)
    return bool(seen.sum() >= _FEWEST and placed.sum() >= _FEWEST_PLACES and seen[0] and seen[-1])


def suspected(takes: Sequence[Take]) -> list[list[Set]]:
    """Return, of each take whose intervals do not agree with all, the sets without which they do.

    The one that agrees best among the smallest comes first; takes that agree have none.
    """
    ratios = np.concatenate([_log_ratios(take) for take in takes])
    middle = float(np.median(ratios))
    far = _FAR * max(1.4826 * float(np.median(np.abs(ratios - middle))), _LEAST_SPREAD)
    return [_agreeing(take, middle, far) if _away(take, middle) > far else [] for take in takes]


def _agreeing(take: Take, middle: float, far: float) -> list[Set]:
    away = {false: _away(without(take, false), middle) for false in sets_of(take)}
    agreeing = [false for false in away if away[false] <= far]
    return sorted(agreeing, key=lambda false: (len(false), away[false]))


def _away(take: Take, middle: float) -> float:
    """Return by how much the log ratio that is farthest differs from the usual one."""
    return float(np.abs(_log_ratios(take) - middle).max())


def _log_ratios(take: Take) -> Float[ndarray, " ratio"]:
    return np.asarray(np.diff(np.log(np.diff(take.times))))


def judged(
    takes: Sequence[Take], suspects: Sequence[Sequence[Set]], pilot: Density
) -> list[Judged]:
    """Return what is false of each take.

    Args:
        suspects: What `suspected` returns.
        pilot: At a likely point, with its paths there.
    """
    heights = pilot.paths.shared[0][:, 0]
    return [
        _judged(_restated(take, heights[take.session]), sets, pilot) if sets else Judged()
        for take, sets in zip(takes, suspects, strict=True)
    ]


def _restated(take: Take, error: float) -> Take:
    """State the height as a shared error has it."""
    return replace(take, height=take.height * float(np.exp(error * take.height_sd / take.height)))


def _judged(take: Take, sets: Sequence[Set], pilot: Density) -> Judged:
    tried = [(), *sets]
    shares = weighed(take, tried, pilot.prior, pilot.point)
    best = int(np.argmax(shares))
    sure = best > 0 and shares[best] > SURE
    return Judged(tried[best], float(np.delete(shares, best).sum())) if sure else Judged()


def weighed(
    take: Take, sets: Sequence[Set], prior: Prior, point: Float[ndarray, " parameter"]
) -> Float[ndarray, " set"]:
    """Return the probability of each of some sets at a point, given that one of them is right.

    Sets of which no path is found have none; if that is all of them, they are equal.
    """
    logs = np.array([_log_density(take, false, prior, point) for false in sets])
    top = logs.max()
    shares = np.exp(logs - top) if np.isfinite(top) else np.ones_like(logs)
    return np.asarray(shares / shares.sum())


def _log_density(
    take: Take, false: Set, prior: Prior, point: Float[ndarray, " parameter"]
) -> float:
    """Return log p(take, S)."""
    values = parameters.values(point[None])
    chains = observations.grouped([replace(without(take, false), session=0)])
    with np.errstate(all="ignore"):  # with a false time there may be no path
        groups, paths = preparation.prepare(chains, prior.law, values)
        found = laplace.evidence(groups, values, paths)
    known = found.promise[0] < _PROMISE and np.isfinite(found.log_likelihood[0])
    return float(found.log_likelihood[0]) + log_prior(take, false) if known else -np.inf


def log_prior(take: Take, false: Set) -> float:
    """Return the log of the chance of a set, and of the density of its times and places."""
    seen = int(np.isfinite(take.time_sd).sum())
    places = int(np.isfinite(take.place_sd[list(false)]).sum())
    chance = len(false) * np.log(CHANCE) + (seen - len(false)) * np.log1p(-CHANCE)
    return float(chance - len(false) * np.log(np.ptp(take.times)) - places * np.log(AREA))
