r"""How far apart two laws are, known by samples alone.

Of n samples of P and m of Q in d dimensions, with nu the distance of a sample of P to its k-th
neighbour in Q and rho that to its k-th neighbour among the others of P,

    KL(P|Q) = d/n sum log(nu / rho) + log(m / (n - 1)).

With the kernel k(a, b) = exp(-|a - b|^2 / (2 w^2)), the squared maximum mean discrepancy is
E k(p, p') + E k(q, q') - 2 E k(p, q) over pairs of different samples: without bias, so that it may
be below zero. The energy score of forecasts X of what was y is E|X - y| - 1/2 E|X - X'|: proper, in
the units of y, and |X - y| for a single forecast.

Sources: Heiden et al., Eq. 11 (as in Wang, Kulkarni and Verdu 2009, Eq. 5) and section IV-F;
Gretton et al. 2012, Eq. 3; Gneiting and Raftery 2007, Eq. 21.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.spatial.distance import cdist

NEIGHBOURS = 3
"""k of the paper's appendix I-D."""


def divergence(
    p: Float[ndarray, "own dimension"],
    q: Float[ndarray, "other dimension"],
    neighbours: int = NEIGHBOURS,
) -> float:
    """Return KL(P|Q), in nats.

    >>> line = np.arange(6.0)[:, None]
    >>> divergence(line, line + 0.5, neighbours=1)  # log(1/2) + log(6/5)
    -0.5108...

    Raises:
        ValueError: If there are too few samples, or some are repeated: a distance of nothing has no
            logarithm.
    """
    if len(p) <= neighbours or len(q) < neighbours:
        raise ValueError(f"samples must be more than {neighbours}, not {len(p)} and {len(q)}")
    among = np.partition(cdist(p, p), neighbours, axis=1)[:, neighbours]
    across = np.partition(cdist(p, q), neighbours - 1, axis=1)[:, neighbours - 1]
    if not (among.min() > 0.0 and across.min() > 0.0):
        raise ValueError(f"samples must differ, not be repeated {neighbours} times or more")
    ratio = np.log(len(q) / (len(p) - 1))
    return float(p.shape[1] * np.log(across / among).mean() + ratio)


def mean_discrepancy(
    p: Float[ndarray, "own dimension"], q: Float[ndarray, "other dimension"], width: float
) -> float:
    """Return the squared maximum mean discrepancy.

    >>> two = np.array([[0.0], [1.0]])
    >>> round(mean_discrepancy(two, two + 1e9, width=1.0), 4)  # 2 exp(-1/2)
    1.2131

    Args:
        width: w of the kernel, in the units of the samples.
    """
    within = (_mean_of_pairs(_kernel(each, each, width)) for each in (p, q))
    return float(sum(within) - 2.0 * _kernel(p, q, width).mean())


def energy_score(
    forecasts: Float[ndarray, "forecast event dimension"],
    observed: Float[ndarray, "event dimension"],
) -> Float[ndarray, " event"]:
    """Return the energy score of each event.

    >>> energy_score(np.array([[[0.0]], [[2.0]]]), np.array([[1.0]]))  # 1 - 1/2 2, of one pair
    array([0.])
    """
    away = np.linalg.norm(forecasts - observed, axis=2).mean(0)
    events = forecasts.swapaxes(0, 1)
    apart = np.array([_mean_of_pairs(cdist(event, event)) for event in events])
    return away - 0.5 * apart


def _kernel(p: ndarray, q: ndarray, width: float) -> ndarray:
    return np.exp(-0.5 * cdist(p, q, "sqeuclidean") / width**2)


def _mean_of_pairs(table: ndarray) -> float:
    """Return the mean of a table but for its diagonal; 0 of a single sample."""
    count = len(table)
    return float((table.sum() - np.trace(table)) / max(count * (count - 1), 1))
