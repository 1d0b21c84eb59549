r"""Chains of bounces: which onsets belong to one ball, told by intervals that shrink steadily.

One ball's bounces are at t_0 < t_1 < ...; the logarithm of the ratio of successive intervals,
z_n = log((t_{n+1} - t_n) / (t_n - t_{n-1})), follows

    rho_{n+1} = rho_n + N(0, walk^2),      z_n = rho_n + N(0, scatter^2 + timing_n^2),

with exp(rho) in (0.4, 1): the restitution and its drift by drag and speed (Eq. 6 of Matl et al.,
STReSSD, gives exp(rho) = e without collision noise), the scatter that collision noise adds, and the
error of the onsets. Onsets that belong to no ball come at random at `clutter` per second. The score
of a chain is the logarithm of the odds of "this ball bounced" against "these onsets are clutter",

    log(drops / clutter) + log(p(t_1 - t_0) / clutter)
        + sum_n [ log(p(t_{n+1} | past) / clutter) + log(p(loudness | past) / p(loudness)) ],

a bounce that nobody heard inside it costs log(missed). The best chain is found by dynamic
programming over pairs (previous, current) of onsets; every pair carries the Kalman estimate of rho
along its best past, once per value of the scatter. Every second bounce of a chain shrinks steadily
as well, but explains half as many onsets and loses. Chains are peeled off one by one, each with the
echoes that follow it at a constant delay.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from models.sound.onsets import Onsets

LOUDEST_COUNT = 3000
"""Onsets beyond this many are dropped, the weakest first."""
ECHO_SPAN = 0.06
"""Longest delay of an echo, s."""
ECHO_WIDTH = 1e-3
"""Half the spread of an echo's delay within one chain, s."""


@dataclass(frozen=True)
class Law:
    """How the intervals of one ball shrink, and how often other things happen.

    Attributes:
        lowest: Least ratio of successive intervals.
        longest: Longest interval, s.
        shortest: Shortest interval, s.
        ratio: Centre of the prior of the first ratio.
        ratio_sd: Standard deviation of the logarithm of the first ratio.
        walk: Standard deviation of the change of the log ratio from bounce to bounce.
        scatters: Standard deviations tried for the log ratio about its mean, one for a whole chain.
        missed: Probability that a bounce inside a chain is not heard.
        drops: Expected number of dropped balls, per second.
        timing: Standard deviation of an onset beside its own, s.
        loudness_sd: Standard deviation of the change in log loudness.
    """

    lowest: float = 0.4
    longest: float = 1.6
    shortest: float = 9e-3
    ratio: float = 0.75
    ratio_sd: float = 0.25
    walk: float = 0.008
    scatters: tuple[float, ...] = (0.004, 0.016, 0.05, 0.13)
    missed: float = 0.01
    drops: float = 0.2
    timing: float = 0.2e-3
    loudness_sd: float = 0.7


@dataclass(frozen=True)
class Chain:
    """The bounces of one drop that were heard.

    Attributes:
        times: First arrivals, s, shape (bounce,).
        strengths: Evidence of each onset, nats, shape (bounce,).
        time_sd: Standard deviations of `times`, s, shape (bounce,).
        loudness: Loudness of each onset, sample units, shape (bounce,).
        score: Log odds of the chain against clutter, nats.
        missing: Indices n such that a bounce between `times[n]` and `times[n + 1]` was not heard;
            the two intervals beside it make no ratio.
        scatter: Standard deviation of the log ratio that explains the chain best.
    """

    times: Float[ndarray, " bounce"]
    strengths: Float[ndarray, " bounce"]
    time_sd: Float[ndarray, " bounce"]
    loudness: Float[ndarray, " bounce"]
    score: float
    missing: tuple[int, ...] = ()
    scatter: float = 0.0


@dataclass(frozen=True)
class _Table:
    """Best chain that ends in each pair; axes: scatter, current onset, steps back less one."""

    score: Float[ndarray, "scatter onset back"]
    interval: Float[ndarray, "scatter onset back"]
    ratio: Float[ndarray, "scatter onset back"]
    variance: Float[ndarray, "scatter onset back"]
    source: Int[ndarray, "scatter onset back"]
    skipped: Bool[ndarray, "scatter onset back"]


def find_chains(
    onsets: Onsets, *, law: Law | None = None, least_score: float = 3.0, least_bounces: int = 3
) -> tuple[Chain, ...]:
    """Find the balls that bounced in a recording.

    Args:
        onsets: Onsets in order of time.
        law: How intervals shrink; None takes the default.
        least_score: Least log odds of a chain, nats.
        least_bounces: Least number of bounces of a chain.

    Returns:
        The chains in order of their first bounce; no onset is in two of them.
    """
    law = law or Law()
    left = _loudest(onsets)
    chains: list[Chain] = []
    while len(left.times) >= least_bounces:
        found = _best(left, law)
        if found is None or found[0].score < least_score:
            break
        chain, members = found
        if len(members) >= least_bounces:
            chains.append(chain)
        left = _take(left, _others(left, members))
    return tuple(sorted(chains, key=lambda chain: float(chain.times[0])))


def interval_ratios(chain: Chain) -> Float[ndarray, " ratio"]:
    """Return the ratios of successive intervals, none across a bounce that was not heard.

    Args:
        chain: Bounces of one drop.

    Returns:
        Ratios in order; a chain of n bounces without a gap has n - 2.
    """
    intervals = np.diff(chain.times)
    whole = np.ones(len(intervals), dtype=bool)
    whole[list(chain.missing)] = False
    both = whole[1:] & whole[:-1]
    return np.asarray((intervals[1:] / intervals[:-1])[both])


def _take(onsets: Onsets, index: Int[ndarray, " kept"]) -> Onsets:
    return Onsets(
        onsets.times[index],
        onsets.strengths[index],
        onsets.time_sd[index],
        onsets.loudness[index],
        onsets.duration,
    )


def _loudest(onsets: Onsets) -> Onsets:
    """Keep no more onsets than the search can hold."""
    order = np.argsort(-onsets.strengths, kind="stable")[:LOUDEST_COUNT]
    return _take(onsets, np.sort(order))


def _others(onsets: Onsets, members: Int[ndarray, " bounce"]) -> Int[ndarray, " kept"]:
    """Onsets that are neither in a chain nor echoes of it at a constant delay."""
    times, bounces = onsets.times, onsets.times[members]
    before = np.searchsorted(bounces, times, side="right") - 1
    delay = np.where(before >= 0, times - bounces[np.maximum(before, 0)], np.inf)
    follows = (delay > 0) & (delay < ECHO_SPAN)
    follows &= onsets.loudness < onsets.loudness[members][np.maximum(before, 0)]
    alike = np.abs(delay[:, None] - delay[follows]) < ECHO_WIDTH
    echo = follows & (alike.sum(axis=1) >= max(2.0, 0.25 * len(members)))
    free = ~echo
    free[members] = False
    return np.flatnonzero(free)


def _best(onsets: Onsets, law: Law) -> tuple[Chain, Int[ndarray, " bounce"]] | None:
    """The chain of the highest score with the places of its onsets; None if no three fit."""
    table = _start(onsets, law)
    for middle in range(1, len(onsets.times) - 1):
        _advance(table, middle, onsets, law)
    ends = np.where(table.source >= 0, table.score, -np.inf)
    place = np.unravel_index(int(np.argmax(ends)), ends.shape)
    if not np.isfinite(ends[place]):
        return None
    scatter, current, back = (int(axis) for axis in place)
    path, missing = [current], []
    while True:
        previous = current - 1 - back
        path.append(previous)
        if table.skipped[scatter, current, back]:
            missing.append(len(path) - 2)
        source = int(table.source[scatter, current, back])
        if source < 0:
            break
        current, back = previous, previous - 1 - source
    members = np.array(path[::-1])
    kept = _take(onsets, members)
    gaps = tuple(sorted(len(path) - 2 - n for n in missing))
    chain = Chain(
        kept.times,
        kept.strengths,
        kept.time_sd,
        kept.loudness,
        score=float(ends[place]),
        missing=gaps,
        scatter=law.scatters[scatter],
    )
    return chain, members


def _clutter(onsets: Onsets) -> float:
    """Rate of onsets that belong to nothing, per second, from above."""
    return (len(onsets.times) + 1.0) / max(onsets.duration, 0.1)


def _start(onsets: Onsets, law: Law) -> _Table:
    """Table in which every pair of onsets is the first two bounces of a ball."""
    times, count = onsets.times, len(onsets.times)
    reach = np.arange(count) - np.searchsorted(times, times - law.longest)
    width = max(1, int(reach.max()))
    current = np.arange(count)[:, None]
    previous = current - 1 - np.arange(width)
    interval = times[current] - times[np.maximum(previous, 0)]
    allowed = (previous >= 0) & (interval >= law.shortest) & (interval <= law.longest)
    interval = np.where(allowed, interval, 1.0)
    clutter = _clutter(onsets)
    span = np.log(law.longest / law.shortest)
    score = np.log(law.drops / clutter) - np.log(span * interval * clutter)
    shape = (len(law.scatters), count, width)
    return _Table(
        score=np.broadcast_to(np.where(allowed, score, -np.inf), shape).copy(),
        interval=np.broadcast_to(interval, shape).copy(),
        ratio=np.full(shape, np.log(law.ratio)),
        variance=np.full(shape, law.ratio_sd**2),
        source=np.full(shape, -1),
        skipped=np.zeros(shape, dtype=bool),
    )


def _advance(table: _Table, middle: int, onsets: Onsets, law: Law) -> None:
    """Extend every chain that ends in onset `middle` by every later onset, in place."""
    times = onsets.times
    width = min(table.score.shape[2], middle)
    last = int(np.searchsorted(times, times[middle] + law.longest, side="right"))
    later = np.arange(middle + 1, min(last, middle + 1 + table.score.shape[2]))
    if len(later) == 0:
        return
    sources = middle - 1 - np.arange(width)
    score = table.score[:, middle, :width]
    live = np.isfinite(score).any(axis=0)
    if not live.any():
        return
    sources, score = sources[live], score[:, live]
    interval, ratio, variance = (
        part[:, middle, :width][:, live] for part in (table.interval, table.ratio, table.variance)
    )
    heard = _heard(interval, ratio, variance, sources, middle, later, onsets, law)
    unheard = _unheard(interval, ratio, variance, middle, later, onsets, law)
    options = [(gain + score[..., None], *rest) for gain, *rest in (heard, unheard)]
    for skipped, option in zip((False, True), options, strict=True):
        _keep_better(table, middle, later, sources, option, skipped=skipped)


def _heard(
    interval: Float[ndarray, "scatter source"],
    ratio: Float[ndarray, "scatter source"],
    variance: Float[ndarray, "scatter source"],
    sources: Int[ndarray, " source"],
    middle: int,
    later: Int[ndarray, " later"],
    onsets: Onsets,
    law: Law,
) -> tuple[Float[ndarray, "scatter source later"], ...]:
    """Gain, next interval, ratio and its variance if each later onset is the next bounce."""
    ahead = onsets.times[later] - onsets.times[middle]
    observed = np.log(ahead) - np.log(interval)[..., None]
    error = np.square(onsets.time_sd) + law.timing**2
    behind = interval[..., None]
    timing = (error[later] + error[middle]) / ahead**2 + 2.0 * error[middle] / (ahead * behind)
    timing = timing + (error[sources] + error[middle])[:, None] / behind**2
    prior = variance[..., None] + law.walk**2
    noise = timing + np.square(law.scatters)[:, None, None]
    total = prior + noise
    surprise = observed - ratio[..., None]
    gain = -0.5 * np.log(2.0 * np.pi * total) - 0.5 * surprise**2 / total
    gain += np.log1p(-law.missed) - np.log(ahead * _clutter(onsets))
    gain = gain + _loudness_gain(onsets, middle, later, np.minimum(observed, 0.0), law)
    updated = ratio[..., None] + prior / total * surprise
    possible = (updated > np.log(law.lowest)) & (updated < 0.0) & (ahead >= law.shortest)
    gain = np.where(possible, gain, -np.inf)
    return gain, np.broadcast_to(ahead, gain.shape), updated, prior * noise / total


def _unheard(
    interval: Float[ndarray, "scatter source"],
    ratio: Float[ndarray, "scatter source"],
    variance: Float[ndarray, "scatter source"],
    middle: int,
    later: Int[ndarray, " later"],
    onsets: Onsets,
    law: Law,
) -> tuple[Float[ndarray, "scatter source later"], ...]:
    """The same if each later onset is the bounce after next; the ratio is not learnt from it."""
    ahead = onsets.times[later] - onsets.times[middle]
    factor = np.exp(ratio)[..., None]
    expected = np.log(interval * np.exp(ratio))[..., None] + np.log1p(factor)
    slope = 1.0 + factor / (1.0 + factor)
    prior = variance[..., None] + 2.0 * law.walk**2
    timing = 4.0 * law.timing**2 / np.minimum(ahead, interval[..., None]) ** 2
    total = slope**2 * prior + 1.5 * np.square(law.scatters)[:, None, None] + timing
    surprise = np.log(ahead) - expected
    gain = -0.5 * np.log(2.0 * np.pi * total) - 0.5 * surprise**2 / total
    gain += np.log(law.missed) - np.log(ahead * _clutter(onsets))
    gain = gain + _loudness_gain(onsets, middle, later, 2.0 * ratio[..., None], law)
    known = variance[..., None] < 0.5 * law.ratio_sd**2
    gain = np.where(known & (ahead >= 2.0 * law.shortest), gain, -np.inf)
    shape = gain.shape
    next_interval = np.broadcast_to(ahead * factor / (1.0 + factor), shape)
    return (
        gain,
        next_interval,
        np.broadcast_to(ratio[..., None], shape),
        np.broadcast_to(prior, shape),
    )


def _loudness_gain(
    onsets: Onsets,
    middle: int,
    later: Int[ndarray, " later"],
    expected: Float[ndarray, "scatter source later"],
    law: Law,
) -> Float[ndarray, "scatter source later"]:
    """Log odds of the next onset's loudness: near the last one's against anywhere."""
    level = np.log(onsets.loudness + 1e-300)
    spread = max(float(np.std(level)), law.loudness_sd)
    apart = (level[later] - np.median(level)) / spread
    change = (level[later] - level[middle] - expected) / law.loudness_sd
    heavy = -2.5 * np.log1p(change**2 / 4.0) + 2.5 * np.log1p(apart**2 / 4.0)
    return np.asarray(heavy + np.log(spread / law.loudness_sd))


def _keep_better(
    table: _Table,
    middle: int,
    later: Int[ndarray, " later"],
    sources: Int[ndarray, " source"],
    option: tuple[Float[ndarray, "scatter source later"], ...],
    *,
    skipped: bool,
) -> None:
    """Write the best extension of each pair (middle, later) where it beats what is there."""
    gain, interval, ratio, variance = option
    best = np.argmax(gain, axis=1)
    scatter, column = np.indices(best.shape)
    score = gain[scatter, best, column]
    back = np.broadcast_to(later - middle - 1, best.shape)
    onset = np.broadcast_to(later, best.shape)
    better = score > table.score[scatter, onset, back]
    chosen = (scatter[better], best[better], column[better])
    target = (scatter[better], onset[better], back[better])
    table.score[target] = score[better]
    table.interval[target] = interval[chosen]
    table.ratio[target] = ratio[chosen]
    table.variance[target] = variance[chosen]
    table.source[target] = sources[best[better]]
    table.skipped[target] = skipped
