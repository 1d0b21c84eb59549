"""Is a posterior honest? Rank statistics, coverage of highest-density regions, predictive p-values.

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
        counts: Histogram over equal bins.
        expected: Expected count of a bin.
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

    @property
    def agrees(self) -> bool:
        """Whether the nominal level lies in the interval."""
        return self.low <= self.nominal <= self.high


def ranks(
    samples: Float[ndarray, "case sample n"],
    truth: Float[ndarray, "case n"],
    *,
    draw: np.random.Generator,
) -> Float[ndarray, "case n"]:
    """Return the rank of each true parameter among its posterior samples, spread over its cell.

    Args:
        samples: Independent posterior samples of each case.
        truth: Parameters that made each case.
        draw: Source of randomness for the place inside a cell of width 1 / (samples + 1).

    Returns:
        Ranks in [0, 1], uniform when the posterior is right.

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
    """Return the mass of the smallest region of highest density that holds the truth.

    Args:
        log_density_of_samples: Log density of each case at its own posterior samples.
        log_density_of_truth: Log density of each case at its true parameters.

    Returns:
        Levels in [0, 1], uniform when the posterior is right.
    """
    above = log_density_of_samples > np.asarray(log_density_of_truth)[:, None]
    return np.asarray(above.mean(1), dtype=np.float64)


def uniformity(levels: Float[ndarray, " case"], *, bins: int = 20) -> Uniformity:
    """Test ranks or levels for uniformity.

    Args:
        levels: Numbers in [0, 1].
        bins: Bins of the histogram; each should expect five cases or more.

    Returns:
        The histogram with its tolerance and two p-values.

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
    """Return how often the regions of given mass hold the truth.

    Args:
        levels: Credibility of each true parameter, from `credibility`.
        nominal: Masses of the regions.

    Returns:
        One row a level with its exact binomial 95 % interval.
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


def predictive_p_value(
    observed: float, simulated: Float[ndarray, " draw"], *, two_sided: bool = False
) -> float:
    """Return how often the model does at least as badly as the observation.

    Args:
        observed: A discrepancy of the observed data; large is bad.
        simulated: The same for data simulated from the posterior predictive law.
        two_sided: Whether a small discrepancy is bad too.

    Returns:
        (1 + number at least as large) / (1 + number), never zero; doubled tail when two-sided.
    """
    values = np.asarray(simulated, dtype=np.float64)
    upper = (1.0 + float((values >= observed).sum())) / (1.0 + len(values))
    if not two_sided:
        return upper
    lower = (1.0 + float((values <= observed).sum())) / (1.0 + len(values))
    return min(1.0, 2.0 * min(upper, lower))
