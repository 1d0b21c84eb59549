"""Is a posterior honest? Rank statistics and coverage of highest-density regions.

For theta drawn from the prior and x from the simulator, and samples theta_s of q( . | x):

    rank          u = share of samples with theta_s < theta            (Talts et al. 2018)
    credibility   c = share of samples with q(theta_s | x) > q(theta | x)

Both are uniform on [0, 1] when q is the posterior. The smallest region of mass m holds the truth
exactly when c < m, so coverage at m is the share of cases with c < m; its interval is the exact
binomial one (Clopper and Pearson 1934). Nothing here knows how q was made.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import stats

LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Uniformity:
    """Test of numbers that should be uniform on [0, 1].

    Attributes:
        tolerance: A bin's count lies within expected +- tolerance in 99 % of histograms, all bins
            together (normal law, Bonferroni).
        distance: Largest distance of the empirical distribution function from the diagonal.
        kolmogorov_p_value: Probability of a larger distance under uniformity.
        chi_square_p_value: Probability of a rougher histogram under uniformity.
    """

    counts: Int[ndarray, " bin"]
    expected: float
    tolerance: float
    distance: float
    kolmogorov_p_value: float
    chi_square_p_value: float


@dataclass(frozen=True)
class Coverage:
    """Share of cases whose region of mass `nominal` holds the truth, with its 95 % interval."""

    nominal: float
    found: float
    low: float
    high: float
    cases: int


def ranks(
    samples: Float[ndarray, "case sample n"],
    truth: Float[ndarray, "case n"],
    *,
    draw: np.random.Generator,
) -> Float[ndarray, "case n"]:
    """Return the rank of each true parameter among its posterior samples, spread over its cell.

    Ranks lie in [0, 1], each anywhere in its cell of width 1 / (samples + 1); they are uniform when
    the posterior is right.

    >>> samples = np.arange(9.0).reshape(1, 9, 1)
    >>> found = ranks(samples, np.array([[4.5]]), draw=np.random.default_rng(0))
    >>> bool(0.5 <= found[0, 0] < 0.6)  # five of nine samples are smaller
    True

    Raises:
        ValueError: If a value is not finite or the shapes do not agree.
    """
    if samples.ndim != 3 or samples.shape[::2] != truth.shape:
        raise ValueError(f"samples: shape {samples.shape} does not fit truth {truth.shape}")
    if not (np.isfinite(samples).all() and np.isfinite(truth).all()):
        raise ValueError("samples or truth: hold a value that is not finite")
    below = (samples < truth[:, None]).sum(1)
    place = (below + draw.random(below.shape)) / (samples.shape[1] + 1)
    return np.asarray(place, dtype=np.float64)


def credibility(
    log_density_of_samples: Float[ndarray, "case sample"],
    log_density_of_truth: Float[ndarray, " case"],
) -> Float[ndarray, " case"]:
    """Return the mass, in [0, 1], of the smallest region of highest density that holds the truth.

    >>> credibility(np.array([[0.0, -1.0, -4.0, -9.0]]), np.array([-2.0]))
    array([0.5])
    """
    above = log_density_of_samples > log_density_of_truth[:, None]
    return np.asarray(above.mean(1), dtype=np.float64)


def uniformity(levels: Float[ndarray, " case"], *, bins: int = 20) -> Uniformity:
    """Test ranks or levels for uniformity; each bin should expect five cases or more.

    >>> even = uniformity((np.arange(100) + 0.5) / 100, bins=4)
    >>> even.counts.tolist(), round(even.distance, 3), round(even.chi_square_p_value, 3)
    ([25, 25, 25, 25], 0.005, 1.0)

    Raises:
        ValueError: If there is no number or one is outside [0, 1].
    """
    values = np.asarray(levels, dtype=np.float64)
    if not len(values) or not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError(f"levels: need numbers in [0, 1], got {len(values)} numbers")
    counts = np.histogram(values, bins=bins, range=(0.0, 1.0))[0]
    expected = len(values) / bins
    spread = np.sqrt(expected * (1.0 - 1.0 / bins))
    kolmogorov = stats.kstest(values, "uniform")
    return Uniformity(
        counts=counts,
        expected=expected,
        tolerance=float(stats.norm.isf(0.005 / bins) * spread),
        distance=float(kolmogorov.statistic),
        kolmogorov_p_value=float(kolmogorov.pvalue),
        chi_square_p_value=float(stats.chisquare(counts).pvalue),
    )


def coverage(
    levels: Float[ndarray, " case"], *, nominal: tuple[float, ...] = LEVELS
) -> tuple[Coverage, ...]:
    """Return how often the regions of given mass hold the truth, with exact 95 % intervals.

    >>> [row] = coverage((np.arange(200) + 0.5) / 200, nominal=(0.9,))
    >>> row.found, round(row.low, 3), round(row.high, 3)
    (0.9, 0.85, 0.938)

    Raises:
        ValueError: If there is no level, or one is not a number.
    """
    values = np.asarray(levels, dtype=np.float64)
    if np.isnan(values).any() or not len(values):
        raise ValueError("levels: empty, or hold a value that is not a number")
    rows = []
    for level in nominal:
        held = int((values < level).sum())
        interval = stats.binomtest(held, len(values)).proportion_ci(0.95, method="exact")
        share = held / len(values)
        rows.append(Coverage(level, share, float(interval.low), float(interval.high), len(values)))
    return tuple(rows)
