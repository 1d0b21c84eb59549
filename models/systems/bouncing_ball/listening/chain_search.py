r"""The most probable chain of bounces among onsets, by dynamic programming over pairs of onsets.

The logarithm of the ratio of successive intervals, z_n = log((t_{n+1} - t_n) / (t_n - t_{n-1})),
follows

    rho_{n+1} = rho_n + N(0, walk^2),      z_n = rho_n + N(0, scatter^2 + timing_n^2),

with exp(rho) in (lowest, 1): the restitution and its drift by drag and speed (without collision
noise Eq. 6 of Matl et al., STReSSD, gives exp(rho) = e), the scatter that collision noise adds, and
the error of the onsets. Onsets that belong to no ball come at random, `clutter` per second. The
score of a chain is the logarithm of the odds of "this ball bounced" against "this is clutter",

    log(drops / clutter) + log(p(t_1 - t_0) / clutter) + sum_n log(strength_n / usual of clutter)
        + sum_n [ log(p(t_{n+1} | past) / clutter) + log(p(loudness | past) / p(loudness)) ]

and a missed bounce inside it costs log(miss_rate). A pair (previous, current) of onsets
carries the Kalman estimate of rho along its best past, once for each value of the scatter, and
may always be the start of a chain instead.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.listening.interval_law import Law

LEAST_USUAL = 20.0
"""Evidence of clutter in a quiet recording, nats."""
USUAL_SHARE = 0.12
"""Evidence of clutter as a share of the recording's strong onsets."""


@dataclass(frozen=True)
class Path:
    """A chain by the places of its onsets.

    Attributes:
        missing: Indices n such that a bounce between members n and n + 1 was missed.
        score: Log odds against clutter, nats.
        scatter: Scatter of the log ratio that explains it best.
    """

    members: Int[ndarray, " bounce"]
    missing: tuple[int, ...]
    score: float
    scatter: float


@dataclass(frozen=True)
class _Scene:
    """What the search reads of the onsets."""

    times: Float[ndarray, " onset"]
    error: Float[ndarray, " onset"]  # variance of a time, s^2
    level: Float[ndarray, " onset"]  # log loudness
    strength: Float[ndarray, " onset"]  # log odds of an impact, by the evidence of the onset
    anywhere: Float[ndarray, " onset"]  # less the log density of the loudness, whatever the past
    clutter: float  # per second


@dataclass(frozen=True)
class _Past:
    """Chains that end in one onset: the interval they end with and their belief about rho."""

    sources: Int[ndarray, " source"]
    fresh: Bool[ndarray, " source"]  # the chain starts with this pair
    score: Float[ndarray, "scatter source 1"]
    interval: Float[ndarray, "scatter source 1"]
    ratio: Float[ndarray, "scatter source 1"]
    variance: Float[ndarray, "scatter source 1"]


@dataclass(frozen=True)
class _Next:
    """The same chains one bounce on, for every later onset."""

    score: Float[ndarray, "scatter source later"]
    interval: Float[ndarray, "scatter source later"]
    ratio: Float[ndarray, "scatter source later"]
    variance: Float[ndarray, "scatter source later"]


@dataclass(frozen=True)
class _Table:
    """Best chain of three or more that ends in each pair, and the score of starting there.

    The axes are the scatter, the current onset, and the steps back to the previous one less one.
    """

    start: Float[ndarray, "scatter onset back"]
    score: Float[ndarray, "scatter onset back"]
    interval: Float[ndarray, "scatter onset back"]
    ratio: Float[ndarray, "scatter onset back"]
    variance: Float[ndarray, "scatter onset back"]
    source: Int[ndarray, "scatter onset back"]
    fresh: Bool[ndarray, "scatter onset back"]
    skipped: Bool[ndarray, "scatter onset back"]


def best_path(onsets: Onsets, law: Law, *, clutter: float) -> Path | None:
    """Find the best chain of at least three bounces, or None, among clutter at a rate in Hz."""
    scene = _scene(onsets, law, clutter=clutter)
    table = _start(scene, law)
    for middle in range(1, len(scene.times) - 1):
        _advance(table, middle, scene, law)
    return _read(table, law)


def _scene(onsets: Onsets, law: Law, *, clutter: float) -> _Scene:
    """Precompute; clutter is weak compared with impacts, and as loud as anything."""
    level = np.log(onsets.loudness + 1e-300)
    spread = max(float(np.std(level)), law.loudness_sd)
    apart = (level - np.median(level)) / spread
    usual = max(LEAST_USUAL, USUAL_SHARE * float(np.quantile(onsets.strengths, 0.9)))
    strength = np.clip(np.log(onsets.strengths / usual), -2.0, 2.0)
    anywhere = 2.5 * np.log1p(apart**2 / 4.0) + np.log(spread / law.loudness_sd)
    return _Scene(
        times=onsets.times,
        error=np.square(onsets.time_sd) + law.timing**2,
        level=level,
        strength=strength,
        anywhere=anywhere,
        clutter=clutter,
    )


def _start(scene: _Scene, law: Law) -> _Table:
    """Table in which every pair of onsets may be the first two bounces of a ball, no more yet."""
    times, count = scene.times, len(scene.times)
    reach = np.arange(count) - np.searchsorted(times, times - law.longest)
    width = max(1, int(reach.max()))
    current = np.arange(count)[:, None]
    previous = current - 1 - np.arange(width)
    interval = times[current] - times[np.maximum(previous, 0)]
    allowed = (previous >= 0) & (interval >= law.shortest) & (interval <= law.longest)
    interval = np.where(allowed, interval, 1.0)
    span = np.log(law.longest / law.shortest)
    score = np.log(law.drops / scene.clutter) - np.log(span * interval * scene.clutter)
    score = score + scene.strength[current] + scene.strength[np.maximum(previous, 0)]
    shape = (len(law.scatters), count, width)
    return _Table(
        start=np.where(allowed, score, -np.inf) + np.log(law.shares)[:, None, None],
        score=np.full(shape, -np.inf),
        interval=np.ones(shape),
        ratio=np.zeros(shape),
        variance=np.zeros(shape),
        source=np.full(shape, -1),
        fresh=np.zeros(shape, dtype=bool),
        skipped=np.zeros(shape, dtype=bool),
    )


def _advance(table: _Table, middle: int, scene: _Scene, law: Law) -> None:
    """Extend every chain that ends in onset `middle` by every later onset, in place."""
    width = table.score.shape[2]
    last = int(np.searchsorted(scene.times, scene.times[middle] + law.longest, side="right"))
    later = np.arange(middle + 1, min(last, middle + 1 + width))
    past = _past(table, middle, scene, law)
    if len(later) == 0 or len(past.sources) == 0:
        return
    for skipped, extend in ((False, _after_detection), (True, _after_miss)):
        _keep_better(table, past, extend(past, middle, later, scene, law), later, middle, skipped)


def _past(table: _Table, middle: int, scene: _Scene, law: Law) -> _Past:
    """Chains that end in onset `middle`, and the pairs that may start one with it."""
    near = slice(0, min(table.score.shape[2], middle))
    begun = np.flatnonzero(np.isfinite(table.score[:, middle, near]).any(axis=0))
    begin = np.flatnonzero(np.isfinite(table.start[0, middle, near]))
    sources = middle - 1 - np.concatenate([begun, begin])
    fresh = np.arange(len(sources)) >= len(begun)
    shape = (len(law.scatters), len(begin))
    interval = scene.times[middle] - scene.times[middle - 1 - begin]
    first = (table.start[:, middle, begin], np.broadcast_to(interval, shape))
    prior = (np.full(shape, np.log(law.ratio)), np.full(shape, law.ratio_sd**2))
    parts = (table.score, table.interval, table.ratio, table.variance)
    joined = [
        np.concatenate([part[:, middle, begun], new], axis=1)[..., None]
        for part, new in zip(parts, first + prior, strict=True)
    ]
    return _Past(sources, fresh, *joined)


def _after_detection(
    past: _Past, middle: int, later: Int[ndarray, " later"], scene: _Scene, law: Law
) -> _Next:
    """Each later onset is the next bounce: a Kalman step on the log ratio."""
    ahead = scene.times[later] - scene.times[middle]
    observed = np.log(ahead) - np.log(past.interval)
    here = scene.error[middle]
    noise = (scene.error[later] + here) / ahead**2 + 2.0 * here / (ahead * past.interval)
    noise = noise + (scene.error[past.sources] + here)[:, None] / past.interval**2
    noise = noise + np.square(law.scatters)[:, None, None]
    prior = past.variance + law.walk**2
    surprise = observed - past.ratio
    updated = past.ratio + prior / (prior + noise) * surprise
    gain = _gain(surprise, prior + noise, np.minimum(observed, 0.0), middle, later, scene, law)
    possible = (updated > np.log(law.lowest)) & (updated < 0.0) & (ahead >= law.shortest)
    possible &= np.abs(surprise) < law.stray
    score = np.where(possible, past.score + gain + np.log1p(-law.miss_rate), -np.inf)
    interval = np.broadcast_to(ahead, score.shape)
    return _Next(score, interval, updated, prior * noise / (prior + noise))


def _after_miss(
    past: _Past, middle: int, later: Int[ndarray, " later"], scene: _Scene, law: Law
) -> _Next:
    """Each later onset is the bounce after next: nothing is learnt about the ratio."""
    ahead = scene.times[later] - scene.times[middle]
    factor = np.exp(past.ratio)
    prior = past.variance + 2.0 * law.walk**2
    slope = 1.0 + factor / (1.0 + factor)
    timing = 4.0 * law.timing**2 / np.minimum(ahead, past.interval) ** 2
    total = slope**2 * prior + 1.5 * np.square(law.scatters)[:, None, None] + timing
    surprise = np.log(ahead) - np.log(past.interval * factor * (1.0 + factor))
    gain = _gain(surprise, total, 2.0 * past.ratio, middle, later, scene, law)
    known = past.variance < 0.5 * law.ratio_sd**2
    possible = known & (ahead >= 2.0 * law.shortest) & (np.abs(surprise) < law.stray)
    score = np.where(possible, past.score + gain + np.log(law.miss_rate), -np.inf)
    shape = score.shape
    interval = ahead * factor / (1.0 + factor)
    same, wider = np.broadcast_to(past.ratio, shape), np.broadcast_to(prior, shape)
    return _Next(score, interval, same, wider)


def _gain(
    surprise: Float[ndarray, "scatter source later"],
    variance: Float[ndarray, "scatter source later"],
    drop: Float[ndarray, "scatter source #later"],
    middle: int,
    later: Int[ndarray, " later"],
    scene: _Scene,
    law: Law,
) -> Float[ndarray, "scatter source later"]:
    """Log odds of a later onset: its time, and its loudness (Student's t with four degrees)."""
    ahead = scene.times[later] - scene.times[middle]
    time = -0.5 * np.log(2.0 * np.pi * variance) - 0.5 * surprise**2 / variance
    change = (scene.level[later] - scene.level[middle] - drop) / law.loudness_sd
    loudness = -2.5 * np.log1p(change**2 / 4.0) + scene.anywhere[later]
    return np.asarray(time - np.log(ahead * scene.clutter) + loudness + scene.strength[later])


def _keep_better(
    table: _Table,
    past: _Past,
    extended: _Next,
    later: Int[ndarray, " later"],
    middle: int,
    skipped: bool,
) -> None:
    """Write the best extension of each pair (middle, later) where it beats what is there."""
    best = np.argmax(extended.score, axis=1)
    scatter, column = np.indices(best.shape)
    score = extended.score[scatter, best, column]
    onset = np.broadcast_to(later, best.shape)
    better = score > table.score[scatter, onset, onset - middle - 1]
    chosen = (scatter[better], best[better], column[better])
    target = (scatter[better], onset[better], onset[better] - middle - 1)
    for name, values in vars(extended).items():
        getattr(table, name)[target] = values[chosen]
    table.source[target] = past.sources[best[better]]
    table.fresh[target] = past.fresh[best[better]]
    table.skipped[target] = skipped


def _read(table: _Table, law: Law) -> Path | None:
    """Follow the best chain back from its last pair of onsets."""
    place = np.unravel_index(int(np.argmax(table.score)), table.score.shape)
    if not np.isfinite(table.score[place]):
        return None
    scatter, current, back = (int(axis) for axis in place)
    members, detected, fresh = [current], [], False
    while not fresh:
        members.append(current - 1 - back)
        detected.append(not table.skipped[scatter, current, back])
        fresh = bool(table.fresh[scatter, current, back])
        source = int(table.source[scatter, current, back])
        current, back = members[-1], members[-1] - 1 - source
    members, detected = [*members, source], [*detected, True]
    gaps = np.flatnonzero(~np.array(detected[::-1]))
    return Path(
        members=np.array(members[::-1]),
        missing=tuple(int(gap) for gap in gaps),
        score=float(table.score[place]),
        scatter=law.scatters[scatter],
    )
