r"""Chains of bounces: which onsets belong to one ball, as their intervals shrink steadily.

The best chain (`chain_search` states its probability) is taken, then the best of what is left, and
so on, as long as the odds favour a ball:

    log odds(chain) >= least_score for the first chain, next_score for every other.

This is done for steady chains alone and for all, and the greater sum of log odds wins: a chain with
much scatter can otherwise be threaded through several drops.

Every second bounce of a chain shrinks steadily as well, but explains half as many onsets and
loses to the whole. A room answers every bounce alike, so the onsets that follow many bounces of a
chain at one delay are its echoes and leave with it. A first onset whose interval does not fit the
law of the bounces after it (a hand that lets go, a word before the drop) is not the ball's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import stats

from ricochet.models.sound.onsets import Onsets
from ricochet.models.systems.bouncing_ball.listening import chain_search
from ricochet.models.systems.bouncing_ball.listening.chain_search import Path
from ricochet.models.systems.bouncing_ball.listening.interval_law import Law

LEAST_BOUNCES = 3
"""A chain has at least this many bounces."""
MOST_ONSETS = 3000
"""Onsets beyond this many are dropped, the weakest first."""
LAZIEST = 0.98
"""Mean ratio of successive intervals below which a chain is no clock."""
CERTAIN = 6.0
"""Standard errors by which a chain's log intervals shrink that do so more slowly."""
LEAST_LINE = 8
"""Intervals of which that is judged."""
LEAST_ERROR = 2e-4
"""Standard error of the slope of log intervals that a clock may be off by."""
STEADY = 2
"""Number of the law's scatters with which chains are steady."""
TRIM = 3.5
"""A first interval off the law of the next five by more standard deviations is not the ball's."""
ECHO_SPAN = 0.3
"""Longest delay of an echo, s."""
ECHO_WIDTH = 1e-3
"""Half the spread of an echo's delay within one chain, s."""
ECHO_SHARE = 0.2
"""Share of a chain's bounces that an echo follows at least."""


@dataclass(frozen=True)
class Chain:
    """The detected bounces of one drop.

    Attributes:
        times, time_sd: First arrivals and their standard deviations, s.
        strengths, loudness: Evidence, nats, and loudness of each onset, sample units.
        score: Log odds of the chain against clutter, nats.
        missing: Indices n such that a bounce between `times[n]` and `times[n + 1]` was missed; no
            ratio is made of that interval.
        scatter: Standard deviation of the log ratio that explains the chain best.
    """

    times: Float[ndarray, " bounce"]
    strengths: Float[ndarray, " bounce"]
    time_sd: Float[ndarray, " bounce"]
    loudness: Float[ndarray, " bounce"]
    score: float
    missing: tuple[int, ...] = ()
    scatter: float = 0.0


def find_chains(
    onsets: Onsets, *, law: Law | None = None, least_score: float = 1.0, next_score: float = 9.0
) -> tuple[Chain, ...]:
    """Find the balls that bounced in a recording, in order of their first bounce.

    Args:
        least_score, next_score: Least log odds of the best chain and of any further one, nats.
    """
    law = law or Law()
    kept = _strongest(onsets)
    steady = replace(law, scatters=law.scatters[:STEADY], shares=law.shares[:STEADY])
    options = [
        _peel(kept, each, least_score=least_score, next_score=next_score) for each in (steady, law)
    ]
    chains = max(options, key=lambda option: sum(chain.score for chain in option))
    return tuple(sorted(chains, key=lambda chain: float(chain.times[0])))


def best_score(onsets: Onsets, law: Law) -> float:
    """Return the log odds of the best chain against clutter, nats; -inf if there is none."""
    path = _settled_path(_strongest(onsets), law) if len(onsets.times) >= LEAST_BOUNCES else None
    return -math.inf if path is None else path.score


def interval_ratios(
    times: Float[ndarray, " bounce"], missing: Sequence[int] = ()
) -> Float[ndarray, " ratio"]:
    """Return the ratios of successive intervals in order, none across a missed bounce.

    A chain of n bounces without a gap has n - 2.
    """
    intervals = np.diff(times)
    whole = np.ones(len(intervals), dtype=bool)
    whole[list(missing)] = False
    both = whole[1:] & whole[:-1]
    return np.asarray((intervals[1:] / intervals[:-1])[both])


def _peel(onsets: Onsets, law: Law, *, least_score: float, next_score: float) -> list[Chain]:
    """Take the best chain and its echoes out until no chain is likely."""
    chains: list[Chain] = []
    while len(onsets.times) >= LEAST_BOUNCES:
        path = _settled_path(onsets, law)
        if path is None or path.score < (next_score if chains else least_score):
            break
        chain = _trimmed(_chain(onsets, path), law)
        if _shrinks(chain):
            chains.append(chain)
        onsets = _take(onsets, _others(onsets, path.members))
    return chains


def _take(onsets: Onsets, index: Int[ndarray, " kept"]) -> Onsets:
    return Onsets(
        onsets.times[index],
        onsets.strengths[index],
        onsets.time_sd[index],
        onsets.loudness[index],
        onsets.duration,
    )


def _strongest(onsets: Onsets) -> Onsets:
    """Keep no more onsets than the search can hold."""
    order = np.argsort(-onsets.strengths, kind="stable")[:MOST_ONSETS]
    return _take(onsets, np.sort(order))


def _chain(onsets: Onsets, path: Path) -> Chain:
    kept = _take(onsets, path.members)
    return Chain(
        kept.times,
        kept.strengths,
        kept.time_sd,
        kept.loudness,
        score=path.score,
        missing=path.missing,
        scatter=path.scatter,
    )


def _others(onsets: Onsets, members: Int[ndarray, " bounce"]) -> Int[ndarray, " kept"]:
    """Onsets that are neither in a chain nor echoes of it at a constant delay."""
    delay = onsets.times[:, None] - onsets.times[members]
    quieter = onsets.loudness[:, None] < onsets.loudness[members]
    follows = (delay > 0) & (delay < ECHO_SPAN) & quieter
    follows[members] = False
    order = np.sort(delay[follows])
    near = np.searchsorted(order, delay + ECHO_WIDTH) - np.searchsorted(order, delay - ECHO_WIDTH)
    echo = np.any(follows & (near >= max(3.0, ECHO_SHARE * len(members))), axis=1)
    free = ~echo
    free[members] = False
    return np.flatnonzero(free)


def _settled_path(onsets: Onsets, law: Law) -> Path | None:
    """The best path, clutter being first every onset and then those that the path leaves over."""
    span = max(onsets.duration, 0.1)
    path = chain_search.best_path(onsets, law, clutter=(len(onsets.times) + 1.0) / span)
    if path is None:
        return None
    rest = len(onsets.times) - len(path.members)
    return chain_search.best_path(onsets, law, clutter=(rest + 1.0) / span)


def _shrinks(chain: Chain) -> bool:
    """Tell a ball from a clock: whole intervals shrink by LAZIEST a bounce or faster, or surely.

    Surely is by CERTAIN standard errors of a straight line through the logs of the intervals.
    """
    intervals = np.diff(chain.times)
    whole = np.setdiff1d(np.arange(len(intervals)), chain.missing)
    steps = float(whole[-1] - whole[0])
    if intervals[whole[-1]] < LAZIEST**steps * intervals[whole[0]]:
        return True
    if len(whole) < LEAST_LINE:
        return False
    line = stats.linregress(whole, np.log(intervals[whole]))
    return bool(line.slope < -CERTAIN * max(line.stderr, LEAST_ERROR))


def _trimmed(chain: Chain, law: Law) -> Chain:
    """Drop a first onset whose interval does not fit those that follow."""
    if len(chain.times) < 6 or any(gap < 5 for gap in chain.missing):
        return chain
    change = np.diff(np.log(np.diff(chain.times[:7])))
    late = change[1:]
    spread = np.hypot(chain.scatter, law.walk) + float(np.std(late)) / np.sqrt(len(late))
    if abs(change[0] - float(np.median(late))) < TRIM * spread:
        return chain
    return Chain(
        chain.times[1:],
        chain.strengths[1:],
        chain.time_sd[1:],
        chain.loudness[1:],
        score=chain.score,
        missing=tuple(gap - 1 for gap in chain.missing),
        scatter=chain.scatter,
    )
