r"""Whether two sets of chains have one law: means, widths, and all widths together.

Particles are chains that know nothing of each other, however slowly each moves. What a statistic s
of all their draws is off by is therefore told by the values s_j that it has without chain j,

    variance = (P - 1) / P sum_j (s_j - mean s_j)^2,    bias = (P - 1) (mean s_j - s),

and two sets agree where the difference of s, over the root of both variances, is one of Student's
law of as many degrees as the smaller set has chains, less one. The statistics are the means m_q,
the logarithms of the deviations, and log det C / 2q, the mean logarithm of the widths of all q
quantities along the axes of their covariance C.

Source: Quenouille 1956 and Tukey 1958 (jackknife).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

FEWEST = 4
"""Chains of a set."""

Chains = Float[ndarray, "_round _chain quantity"]
"""Sets need not be of one size."""


@dataclass(frozen=True)
class Difference:
    """Of statistics of two sets of chains.

    Attributes:
        value: First less second.
        error: Standard error of it.
        degrees: Of Student's law.
    """

    value: Float[ndarray, " statistic"]
    error: Float[ndarray, " statistic"]
    degrees: int

    def bound(self, chance: float) -> Float[ndarray, " statistic"]:
        """Return what the size of a difference exceeds with a chance, where the laws are one."""
        return self.error * float(stats.t.isf(0.5 * chance, self.degrees))


@dataclass(frozen=True)
class Agreement:
    """Differences of two sets.

    Attributes:
        mean: Of the means, over the deviations of the second set.
        width: Of the logarithms of the deviations.
        together: Of the mean logarithm of all widths.
    """

    mean: Difference
    width: Difference
    together: Difference


def compare(stated: Chains, again: Chains) -> Agreement:
    """Compare two sets of chains of the same quantities.

    >>> draw = np.random.default_rng(0)
    >>> one, other = draw.normal(size=(2, 10, 8, 3))
    >>> found = compare(one, 2.0 * other)
    >>> bool(np.abs(found.width.value + np.log(2.0)).max() < 0.3), found.mean.degrees
    (True, 7)

    Raises:
        ValueError: If there are too few chains.
    """
    fewest = min(stated.shape[1], again.shape[1])
    if fewest < FEWEST:
        raise ValueError(f"{fewest} chains, expected at least {FEWEST}")
    scale = again.std((0, 1))
    pair = stated / scale, again / scale
    return Agreement(*(_difference(pair, of) for of in (_means, _widths, _together)))


def _difference(pair: tuple[Chains, Chains], of: Callable[[Chains], ndarray]) -> Difference:
    (value, variance), (other, its) = (_jackknifed(chains, of) for chains in pair)
    degrees = min(chains.shape[1] for chains in pair) - 1
    return Difference(value - other, np.sqrt(variance + its), degrees)


def _jackknifed(chains: Chains, of: Callable[[Chains], ndarray]) -> tuple[ndarray, ndarray]:
    """Return a statistic without its bias, and the variance of it."""
    count = chains.shape[1]
    whole = of(chains)
    less = np.stack([of(np.delete(chains, number, 1)) for number in range(count)])
    variance = (count - 1) / count * np.square(less - less.mean(0)).sum(0)
    return whole - (count - 1) * (less.mean(0) - whole), variance


def _means(chains: Chains) -> Float[ndarray, " quantity"]:
    return np.asarray(chains.mean((0, 1)))


def _widths(chains: Chains) -> Float[ndarray, " quantity"]:
    return np.asarray(np.log(chains.std((0, 1))))


def _together(chains: Chains) -> Float[ndarray, " 1"]:
    flat = chains.reshape(-1, chains.shape[2])
    return np.array([0.5 * np.linalg.slogdet(np.cov(flat.T))[1] / chains.shape[2]])
