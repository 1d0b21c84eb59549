"""How many of n trials succeed when the chance of success is itself uncertain.

The chance is taken as Beta distributed, so that a count N has the beta-binomial law, with

    mean n p,      variance n p (1 - p) (1 + (n - 1) rho),      rho = 1 / (a + b + 1).

Counts that were each simulated at another draw of the parameters are draws of N; p and rho follow
from their first two moments. The law then holds both the spread of the parameters and the chance of
counting, each once. A rho below zero is taken as zero: the law is then the binomial one.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import stats

_LEAST_CORRELATION = 1e-7  # below, the law is the binomial one to a relative 1e-5 of its variance
_MOST_CORRELATION = 0.999


@dataclass(frozen=True)
class Interval:
    """Counts from low to high, both included, and the probability that they hold together."""

    low: Int[ndarray, "*batch"]
    high: Int[ndarray, "*batch"]
    content: Float[ndarray, "*batch"]


def pmf(counts: Int[ndarray, " draw *batch"], trials: int) -> Float[ndarray, "*batch outcome"]:
    """Return the probabilities of 0 to n in a further count, from counts at draws of parameters.

    >>> law = pmf(np.array([7, 9, 5, 8]), trials=10)
    >>> law.shape, round(float(law @ np.arange(11)), 2)
    ((11,), 7.2)

    Args:
        counts: Successes in `trials` trials, at exchangeable draws of the parameters, at least two.
        trials: Number n of trials of each count and of the further one.

    Raises:
        ValueError: If there are fewer than two draws, or a count lies outside 0 to n.
    """
    if len(counts) < 2:
        raise ValueError(f"counts must hold at least two draws, found {len(counts)}")
    if counts.min() < 0 or counts.max() > trials:
        raise ValueError(f"counts must be from 0 to {trials}, found {counts.min()}, {counts.max()}")
    chance = (counts.sum(0) + 0.5) / (len(counts) * trials + 1.0)  # never 0 nor 1
    excess = counts.var(0, ddof=1) / (trials * chance * (1.0 - chance)) - 1.0
    rho = np.clip(excess / max(trials - 1, 1), _LEAST_CORRELATION, _MOST_CORRELATION)
    total = (1.0 - rho) / rho
    a, b = chance * total, (1.0 - chance) * total
    outcomes = np.arange(trials + 1)
    return np.asarray(stats.betabinom.pmf(outcomes, trials, a[..., None], b[..., None]))


def interval(law: Float[ndarray, "*batch outcome"], level: float = 0.9) -> Interval:
    """Return the smallest central interval of a law that leaves at most (1 - level)/2 a side.

    Counts are whole: the interval holds at least `level`, and more where few outcomes have any
    probability. Its content says how much.

    >>> interval(np.array([[0.04, 0.36, 0.40, 0.20]]))
    Interval(low=array([1]), high=array([3]), content=array([0.96]))
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be in (0, 1), found {level}")
    below = law.cumsum(-1)
    tail = 0.5 * (1.0 - level)
    low = np.asarray((below > tail).argmax(-1))
    high = np.asarray((below >= 1.0 - tail).argmax(-1))
    places = np.arange(law.shape[-1])
    held = (places >= low[..., None]) & (places <= high[..., None])
    return Interval(low, high, np.asarray(np.where(held, law, 0.0).sum(-1)))
