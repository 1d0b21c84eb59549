"""How wide intervals must be to hold in a session that is not yet known, from a few that are.

Errors of the frames of one session are alike: it needs intervals w times as wide as they are said
to be, and another session another w. The quantile of all frames together holds in these sessions
and, with few of them, in fewer of the next. So log w is taken as normal over sessions, of unknown
mean and variance; that of a next one then follows Student's law (Gelman et al. 2013, sections 3.2
and 3.3),

    log w' ~ t_n (m, s sqrt(1 + 1/k)),   n = k - 1 + PRIOR_SESSIONS,
    n s^2 = sum (log w_j - m)^2 + PRIOR_SESSIONS SPREAD^2

with m the mean over k sessions; and the factor W is that which holds a share LEVEL of a next
session's frames on average, whose errors are normal:  E[2 Phi(z W / w') - 1] = LEVEL.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize, special, stats

PRIOR_SESSIONS = 2.0
SPREAD = 0.25
"""Of log w, as it is believed to be before any session is known."""
QUANTILES = (np.arange(400) + 0.5) / 400
WIDEST = 50.0


def factor(needed: Float[ndarray, " session"], level: float = 0.9) -> float:
    """Return the factor by which intervals are to be widened for a session that is not yet known.

    >>> round(factor(np.ones(1000)), 2), round(factor(np.array([1.0, 1.0])), 2)
    (1.0, 1.11)

    Args:
        needed: Factor under which the intervals of each session hold `level` of its frames.
        level: Share that is to be held.

    Raises:
        ValueError: If there is no session, or a factor is not positive.
    """
    if not (len(needed) and np.all(needed > 0.0) and np.all(np.isfinite(needed))):
        raise ValueError(f"factors of sessions {needed}, expected one at least, all above 0")
    logs, count = np.log(needed), len(needed)
    freedom = count - 1 + PRIOR_SESSIONS
    squares = ((logs - logs.mean()) ** 2).sum() + PRIOR_SESSIONS * SPREAD**2
    scale = np.sqrt(squares / freedom * (1.0 + 1.0 / count))
    relative = np.exp(scale * stats.t.ppf(QUANTILES, freedom))
    normal = stats.norm.ppf(0.5 + 0.5 * level)

    def missing(wide: float) -> float:
        return float((2.0 * special.ndtr(normal * wide / relative) - 1.0).mean() - level)

    return float(np.exp(logs.mean()) * optimize.brentq(missing, 1.0 / WIDEST, WIDEST))
