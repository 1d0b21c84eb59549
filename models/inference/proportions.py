"""The difference of two shares, each counted in trials of its own.

Of n1 and n2 independent trials, x1 and x2 succeeded; d = p1 - p2. With (l, u) the ends of Wilson's
interval of either share, Newcombe (1998), "Interval estimation for the difference between
independent proportions", method 10, gives

    d - sqrt((p1 - l1)^2 + (u2 - p2)^2)   to   d + sqrt((u1 - p1)^2 + (p2 - l2)^2).
"""

import math

from scipy import stats


def difference(
    first: tuple[int, int], second: tuple[int, int], *, level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of p1 - p2, from (successes, trials) of either share.

    >>> [round(end, 3) for end in difference((56, 70), (48, 80))]  # Newcombe's first example
    [0.052, 0.334]

    Raises:
        ValueError: If there is no trial, or there are fewer than successes.
    """
    (p1, l1, u1), (p2, l2, u2) = (_wilson(*counts, level) for counts in (first, second))
    below, above = math.hypot(p1 - l1, u2 - p2), math.hypot(u1 - p1, p2 - l2)
    return p1 - p2 - below, p1 - p2 + above


def _wilson(successes: int, trials: int, level: float) -> tuple[float, float, float]:
    """Return a share and the ends of its interval."""
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"counts: got {successes} of {trials}, expected 0 to n of n, n at least 1")
    found = stats.binomtest(successes, trials).proportion_ci(level, method="wilson")
    return successes / trials, float(found.low), float(found.high)
