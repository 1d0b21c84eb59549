"""Statistics that tell a model's failures apart, and their posterior predictive tail chances.

A statistic of the data is compared with the same statistic of data simulated from the posterior
(Gelman, Meng and Stern 1996): p = (1 + #{replicates at least as extreme}) / (1 + replicates).
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.stats import spearmanr


def tail_probability(
    observed: Float[ndarray, "..."] | float, replicated: Float[ndarray, "replicate ..."]
) -> Float[ndarray, "..."]:
    """Return the chance of a replicate at least as large as the observed statistic.

    >>> round(float(tail_probability(3.0, np.array([1.0, 2.0, 3.0, 4.0]))), 3)  # (1 + 2) / (1 + 4)
    0.6
    """
    larger = (replicated >= observed).sum(0)
    return np.asarray((1.0 + larger) / (1.0 + len(replicated)))


def two_sided(
    observed: Float[ndarray, "..."] | float, replicated: Float[ndarray, "replicate ..."]
) -> Float[ndarray, "..."]:
    """Return twice the smaller tail chance, at most one.

    >>> round(float(two_sided(9.0, np.array([1.0, 2.0, 3.0, 4.0]))), 3)
    0.4
    """
    upper = tail_probability(observed, replicated)
    lower = tail_probability(-np.asarray(observed), -replicated)
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(upper, lower)))


def overdispersion(
    values: Float[ndarray, "*batch value"], errors: Float[ndarray, "*batch value"]
) -> Float[ndarray, "..."]:
    """Return the median squared standardised deviation from the median.

    Medians, because a few values may say nothing.

    >>> float(overdispersion(np.array([1.0, 2.0, 3.0, 4.0, 10.0]), np.array([1.0, 1, 1, 2, 1])))
    1.0
    """
    centre = np.median(values, axis=-1, keepdims=True)
    return np.asarray(np.median(((values - centre) / errors) ** 2, axis=-1))


def separation(values: Float[ndarray, "*batch value"]) -> Float[ndarray, "..."]:
    """Return the largest share of the variance that a cut into two groups explains.

    Near 0.64 for many draws from one Gaussian and near one for two clear groups. Each group holds
    at least two values and at least a tenth of them, so that a single odd value is no group.

    >>> round(float(separation(np.array([11.0, -1.0, 10.0, 0.0]))), 3)
    0.992
    """
    count = values.shape[-1]
    if count < 4:
        raise ValueError(f"values: need at least four, got {count}")
    ordered = np.sort(values, axis=-1)
    ordered = ordered - ordered.mean(-1, keepdims=True)
    smallest = max(2, count // 10)
    left = np.arange(1, count)
    below = np.cumsum(ordered, -1)[..., :-1]  # the groups' sums are below and -below
    between = below**2 * (1.0 / left + 1.0 / (count - left))
    allowed = (left >= smallest) & (left <= count - smallest)
    total = np.maximum((ordered**2).sum(-1), 1e-300)
    return np.asarray(between[..., allowed].max(-1) / total)


def trend(values: Float[ndarray, " value"]) -> float:
    """Return the chance of a rank correlation with the order at least as strong as this one.

    Values that are exchangeable under the model need no replicates: any order is equally likely.

    >>> [round(trend(np.array(values)), 3) for values in ([1.0, 3, 2, 4, 5], [1.0, 5, 2, 4, 3])]
    [0.037, 0.624]
    """
    return float(spearmanr(np.arange(len(values)), values).pvalue)
