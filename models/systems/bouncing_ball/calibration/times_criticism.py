r"""What the family of balls does not explain in bounce times, pooled over all drops.

The filter of `drop_times` predicts every time from those before it; the surprises z are independent
and standard normal if the model holds. Where restitution differs by the factor 1 + c, they move by
c dz/dc, so that any stretch of bounces says by how much it is off, by least squares:

    c = sum_n z_n g_n / sum_n g_n^2,   g = dz / dc,   var(c) = 1 / sum_n g_n^2.

Two divisions of the bounces are judged, each by chi squared, sum c^2 / var(c), less one degree of
freedom for the fitted restitution:

    drops        one c each: two balls, two surfaces, a ball that warms up
    stretches    bounce numbers cut in five, the same over all drops: an arch or a trend that no
                 law of restitution by speed and no drag explains

What is found widens the answer by the standard deviation of the c, as a ball that changes from drop
to drop, or from bounce to bounce, has no better known restitution than that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.systems.bouncing_ball.calibration import drop_times
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Ball, Drop
from ricochet.models.systems.bouncing_ball.calibration.times_posterior import LAWS, Posterior

SUSPICIOUS = 0.01
"""Chance that a perfect ball's recording has a given finding."""
STRETCHES = 5
_FEWEST = 8  # surprises from which stretches are judged
_BUMP = 1e-3  # of the restitution


@dataclass(frozen=True)
class BareFinding:
    """Something that needs a look: its name, what it is and what to do, and the chance of as much.

    Attributes:
        chains: Numbers of the drops that it concerns.
    """

    name: str
    sentence: str
    p_value: float
    chains: tuple[int, ...]


@dataclass(frozen=True)
class Criticism:
    """What was found, and the standard deviation of restitution that it adds."""

    findings: tuple[BareFinding, ...]
    extra: float


@dataclass(frozen=True)
class _Surprises:
    """Surprises z and their slopes g, by time after the second of each drop."""

    z: tuple[Float[ndarray, " _"], ...]
    g: tuple[Float[ndarray, " _"], ...]


def criticise(posterior: Posterior, drops: Sequence[Drop]) -> Criticism:
    """Compare the times with what the most probable law predicts of them one by one."""
    surprises, restitution = _surprises(posterior, drops)
    findings, extras = [], [0.0]
    for judge in (_drops, _stretches):
        offsets, weights = judge(surprises)
        if len(offsets) < 2:
            continue
        centred = offsets - float(weights @ offsets) / float(weights.sum())
        statistic = float(weights @ centred**2)
        p_value = float(stats.chi2.sf(statistic, len(offsets) - 1))
        if p_value >= SUSPICIOUS:
            continue
        excess = max(0.0, float(np.var(offsets, ddof=1) - np.mean(1.0 / weights)))
        extras.append(restitution * math.sqrt(excess))
        findings.append(_FINDING[judge](restitution * offsets, p_value, len(drops)))
    return Criticism(tuple(findings), max(extras))


def _surprises(posterior: Posterior, drops: Sequence[Drop]) -> tuple[_Surprises, float]:
    """Return the surprises under the mean ball of the most probable law, and its restitution."""
    members = posterior.members()
    name = max(members, key=lambda each: members[each])
    alone = posterior.only(name)
    mean = Ball(*(np.asarray(alone.weights @ value) for value in vars(alone.balls).values()))
    mean = replace(mean, scatter=_geometric(alone, "scatter"), jitter=_geometric(alone, "jitter"))
    more = replace(mean, restitution=np.asarray(mean.restitution * (1.0 + _BUMP)))
    found, moved = (
        [drop_times.forecast(drop, ball, law=LAWS[name]) for drop in drops] for ball in (mean, more)
    )
    z = tuple(np.clip(each.surprise * each.sound, -_HELD, _HELD) for each in found)
    g = tuple(
        (other.surprise - each.surprise) / _BUMP * each.sound
        for each, other in zip(found, moved, strict=True)
    )
    return _Surprises(z, g), float(mean.restitution)


def _geometric(posterior: Posterior, name: str) -> np.ndarray:
    return np.asarray(np.exp(posterior.weights @ np.log(getattr(posterior.balls, name))))


def _drops(found: _Surprises) -> tuple[Float[ndarray, " _"], Float[ndarray, " _"]]:
    """Return every drop's offset and its weight."""
    pairs = zip(found.z, found.g, strict=True)
    sums = np.array([(z @ g, g @ g) for z, g in pairs if g @ g > 0.0]).reshape(-1, 2)
    return sums[:, 0] / sums[:, 1], sums[:, 1]


def _stretches(found: _Surprises) -> tuple[Float[ndarray, " _"], Float[ndarray, " _"]]:
    """Return the offset of each stretch over all drops, of about as many surprises each."""
    number = np.concatenate([np.arange(len(z)) for z in found.z])
    z, g = np.concatenate(found.z), np.concatenate(found.g)
    if len(z) < _FEWEST:
        return np.zeros(0), np.zeros(0)
    rank = np.searchsorted(np.sort(number), number, side="left") / len(number)
    stretch = np.minimum((STRETCHES * rank).astype(int), STRETCHES - 1)
    weights = np.bincount(stretch, g * g, STRETCHES)
    sums = np.bincount(stretch, z * g, STRETCHES)
    held = weights > 0.0
    return sums[held] / weights[held], weights[held]


def _disagreement(offsets: Float[ndarray, " _"], p_value: float, drops: int) -> BareFinding:
    sentence = (
        f"The {drops} drops differ in restitution by {np.ptp(offsets):.4f}, more than their errors "
        "allow: record one ball on one surface, and let it rest between drops."
    )
    return BareFinding("disagreement", sentence, p_value, tuple(range(drops)))


def _misfit(offsets: Float[ndarray, " _"], p_value: float, drops: int) -> BareFinding:
    said = ", ".join(f"{value:+.4f}" for value in offsets)
    sentence = (
        f"Along the bounces restitution is off the best law by {said}: look at the picture for "
        "bounces that are none, and at the surface for a seam or a tilt."
    )
    return BareFinding("drift", sentence, p_value, tuple(range(drops)))


_HELD = 4.0  # a surprise counts for no more, as single late times are none of the ball's
_FINDING = {_drops: _disagreement, _stretches: _misfit}
