r"""Is it a ball at all? The odds of a chain of bounces against what else makes onsets.

All onsets from the first of the chain to the last are explained, by a ball and clutter or without
a ball. With n onsets in the chain, m in its span S and r per second left over by the chain,

    ball      drops / r  p(times after the first | ball) r^(m - n) exp(-r S)   (`times_posterior`)
    clicks    Poisson at the rate r' of all onsets: r'^(m - 1) exp(-r' S)
    rhythm    intervals of the m onsets independent and log-normal, by their marginal likelihood
    clock     intervals of the m onsets whole multiples of a beat, perhaps ever faster, with jitter

A rhythm or a clock makes either all m onsets, or those of the chain among clutter; so does a clock
whose pace changes steadily (`tempo`), which is all that tells a slow ball from a drummer. The first
time, at which any of them may begin, counts alike in all. The ball is given the prior rate of
drops, which stands for the number of chains that the search may choose from: in clicks at random no
more than drops * duration * exp(-x) chains reach log odds x (Markov's inequality), and so for every
alternative that holds. Speech and music hold none of them exactly; what they do, they do as well
backwards. So the chain must also beat the best one of the recording in reverse.

Loudness has a direction: an impact of a ball is as loud as about the speed, so

    log loudness_n = a + b log speed_n + N(0, d^2),   b ~ N(1, 0.5^2)

against b about 0 or, as often, of either sign, N(0, 1). A recorder's gain may follow the sound, so
that this counts for no more than LOUDEST either way.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special, stats

from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.listening.bounce_chains import Chain
from ricochet.models.systems.bouncing_ball.listening.interval_law import Law

LOUDEST = 4.0
"""Most nats that loudness counts for."""
POWER, POWER_SD = 1.0, 0.5
"""Exponent of loudness by impact speed, and its standard deviation."""
_STILL, _ANY = 0.05, 1.0  # standard deviations of that exponent where there is no ball
_LOUDNESS_SDS = np.geomspace(0.1, 1.6, 9)
_BEATS = np.geomspace(0.06, 1.5, 600)  # s
_JITTERS = np.array([1e-3, 4e-3, 0.012])  # s
_CHANGES = np.linspace(-0.4, 0.4, 17)  # of the pace from first to last; positive is faster
_MOST = 16  # beats between two strokes
_FEW = 0.7  # probability of a multiple, against the one below it
_PACE_SD = 0.2  # of the pace's change over a chain
_PACE_JITTERS = (0.002, 0.006, 0.02, 0.06)  # of an interval, relative
_OFF = 0.05  # share of strokes off the beat
_RHYTHM = (0.0, 1.0, 0.35)  # of a normal-gamma law: weight, shape, and rate of the log intervals


@dataclass(frozen=True)
class Evidence:
    """How much better a ball explains the onsets than something else does.

    Attributes:
        odds: Log odds of a ball against each alternative, nats; the loudness is in all of them.
        loudness: Its share, nats.
        backwards: Score of the best chain of the recording in reverse.
        score: That of the chain.
    """

    odds: dict[str, float]
    loudness: float
    backwards: float
    score: float

    @property
    def likeliest(self) -> str:
        """Return the best alternative to a ball."""
        return min(self.odds, key=lambda name: self.odds[name])

    @property
    def log_odds(self) -> float:
        """Return the log odds against all alternatives together, each as probable as any other."""
        return -float(special.logsumexp([-value for value in self.odds.values()]))


def reversed_in_time(onsets: Onsets) -> Onsets:
    """Return the onsets as they are when the recording runs backwards."""
    return Onsets(
        onsets.duration - onsets.times[::-1],
        onsets.strengths[::-1],
        onsets.time_sd[::-1],
        onsets.loudness[::-1],
        onsets.duration,
    )


def weigh(
    onsets: Onsets, chain: Chain, log_evidence: float, *, backwards: float, law: Law | None = None
) -> Evidence:
    """Weigh a chain.

    Args:
        onsets: All of the recording, less those of other chains and their echoes.
        log_evidence: Log density of the chain's times after the first as those of a ball, s^-1
            each, the first speed with a flat density in its logarithm.
        backwards: Score of the best chain of the onsets in reverse.
    """
    law = law or Law()
    first, last = chain.times[0], chain.times[-1]
    inside = onsets.times[(onsets.times >= first) & (onsets.times <= last)]
    span, others = float(last - first), len(inside) - len(chain.times)
    rest = max(
        (others + 1.0) / span, (len(onsets.times) - len(chain.times) + 1.0) / onsets.duration
    )
    scale = math.log(math.log(law.longest / law.shortest))
    clutter, own = others * math.log(rest) - rest * span, _flights(chain)
    ball = math.log(law.drops / rest) + log_evidence - scale + clutter
    loudness = loudness_odds(chain)
    intervals = np.diff(inside)

    def either(model: Callable[[Float[ndarray, " interval"]], float]) -> float:
        return float(np.logaddexp(model(intervals), model(own) + clutter)) - math.log(2.0)

    against = {
        "clicks at random": clicks(len(intervals), span),
        "a rhythm": either(rhythm),
        "a clock": float(np.logaddexp(either(clock), tempo(own) + clutter)) - math.log(2.0),
    }
    odds = {name: ball - value + loudness for name, value in against.items()}
    return Evidence(odds, loudness, backwards, chain.score)


def clicks(intervals: int, span: float) -> float:
    """Return the log density of times at random, their rate integrated with density 1 / rate."""
    return float(special.gammaln(max(intervals, 1)) - intervals * math.log(span))


def rhythm(intervals: Float[ndarray, " interval"]) -> float:
    """Return the log density, s^-1 each, of independent log-normal intervals of any mean.

    The mean of the logarithm is uniform over a second to ten milliseconds, its precision gamma.
    """
    values = np.log(intervals)
    count, (_, shape, rate) = len(values), _RHYTHM
    squares = float(((values - values.mean()) ** 2).sum())
    after = shape + 0.5 * (count - 1)
    found = special.gammaln(after) - special.gammaln(shape) + shape * math.log(rate)
    found -= after * math.log(rate + 0.5 * squares)
    found -= 0.5 * (count - 1) * math.log(2.0 * math.pi) + 0.5 * math.log(count)
    return float(found - math.log(math.log(100.0)) - values.sum())


def clock(intervals: Float[ndarray, " interval"]) -> float:
    """Return the log density, s^-1 each, of whole multiples of some beat with some jitter.

    The beat may change steadily, as a hand's does: by the time t of the span S it is 1 + c t / S
    times as fast, so that t + c t^2 / (2 S) keeps the beat.
    """
    times = np.append(0.0, np.cumsum(intervals)) / intervals.sum()
    logs = []
    for change in _CHANGES:
        pace = 1.0 + change * times
        beats = np.diff(times + 0.5 * change * times**2) * intervals.sum()
        logs.append(_steady_clock(beats) + np.log(pace[1:]).sum())
    return float(special.logsumexp(logs) - math.log(len(_CHANGES)))


def tempo(intervals: Float[ndarray, " interval"]) -> float:
    """Return the log density, s^-1 each, of strokes one beat apart whose pace changes steadily.

    Relative to their mean, intervals are a - c x_n + N(0, d^2), x_n from -1/2 to 1/2, c ~
    N(0, 0.2^2), the logarithm of the mean uniform over a second to ten milliseconds.
    """
    mean, count = float(intervals.mean()), len(intervals)
    place = np.linspace(-0.5, 0.5, count)
    level = (math.log(100.0) / math.sqrt(2.0 * math.pi)) ** 2
    shared = level + _PACE_SD**2 * np.outer(place, place)
    logs = [
        stats.multivariate_normal(np.ones(count), shared + sd**2 * np.eye(count)).logpdf(
            intervals / mean
        )
        for sd in _PACE_JITTERS
    ]
    return float(special.logsumexp(logs)) - math.log(len(logs)) - count * math.log(mean)


def _steady_clock(intervals: Float[ndarray, " interval"]) -> float:
    """Return the same for a beat that does not change; one stroke in twenty is off it."""
    multiple = np.clip(np.round(intervals[:, None] / _BEATS), 1.0, _MOST)
    share = np.log((1.0 - _FEW) / (1.0 - _FEW**_MOST)) + (multiple - 1.0) * math.log(_FEW)
    apart = intervals[:, None] - multiple * _BEATS
    logs = []
    for jitter in _JITTERS:
        on = share - 0.5 * (apart / jitter) ** 2 - math.log(jitter * math.sqrt(2.0 * math.pi))
        off = math.log(_OFF) - intervals[:, None] / _BEATS - np.log(_BEATS)
        logs.append(np.logaddexp(math.log1p(-_OFF) + on, off).sum(0))
    return float(special.logsumexp(logs) - math.log(len(_BEATS) * len(_JITTERS)))


def loudness_odds(chain: Chain) -> float:
    """Return how much better loudness falls with the speed than it stays, nats, bounded."""
    flights = _flights(chain)
    speed = np.log(np.append(flights, flights[-1]))
    level = np.log(chain.loudness + 1e-300)
    x, y = speed - speed.mean(), level - level.mean()
    xx, xy, yy = float(x @ x), float(x @ y), float(y @ y)

    def density(power: float, power_sd: float) -> float:
        logs = []
        for sd in _LOUDNESS_SDS:
            precision = xx / sd**2 + power_sd**-2
            middle = (xy / sd**2 + power * power_sd**-2) / precision
            square = yy / sd**2 + (power / power_sd) ** 2 - precision * middle**2
            logs.append(-(len(y) - 1) * math.log(sd) - 0.5 * square - math.log(power_sd))
            logs[-1] -= 0.5 * math.log(precision)
        return float(special.logsumexp(logs))

    other = np.logaddexp(density(0.0, _STILL), density(0.0, _ANY)) - math.log(2.0)
    return float(np.clip(density(POWER, POWER_SD) - other, -LOUDEST, LOUDEST))


def _flights(chain: Chain) -> Float[ndarray, " interval"]:
    """Return the intervals, half of those across which a bounce was missed."""
    parts = np.ones(len(chain.times) - 1)
    parts[list(chain.missing)] = 2.0
    return np.asarray(np.diff(chain.times) / parts)
