"""Elliptic envelope: is an observation one that the predicted samples allow?

    D^2 = (x - m)^T C^-1 (x - m) > chi^2_n(mass)        (outlier)

with mean m and covariance C of the predicted samples (section 3.4.2 and Appendix E of Matl et al.).
They are robust: the minimum covariance determinant (Rousseeuw and Van Driessen 1999) keeps the half
of the samples that lies closest together, found by steps of concentration, then all samples within
the 97.5 % ellipse of that half. Each is made consistent for Gaussian samples: the covariance of the
share h of them nearest the centre is too small by the factor

    F_{n+2}(q) / h,     q = F_n^{-1}(h),     F_n the distribution function of chi^2_n.

What is observed has an error of its own; its covariance is added to C.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import special

MASS = 0.99
"""Share of good observations that the envelope holds: 1 in 100 is taken for an outlier."""
_KEPT = 0.975
_STEPS = 30


@dataclass(frozen=True)
class Envelope:
    """Mean, shape (n,), and covariance, shape (n, n), in the units of the samples and squared."""

    mean: Float[ndarray, " n"]
    covariance: Float[ndarray, "n n"]


def fit(
    samples: Float[ndarray, "sample n"], *, noise: Float[ndarray, "n n"] | None = None
) -> Envelope:
    """Return the envelope of an observation: robust mean and covariance of predicted samples.

    Args:
        samples: At least 5 n of them.
        noise: Covariance of the observation's own error; None for none.

    Raises:
        ValueError: If a sample is not finite or there are too few.

    >>> samples = np.random.default_rng(0).standard_normal((10_000, 2))
    >>> samples[:2_000] += 100.0  # a fifth lies far away
    >>> envelope = fit(samples)
    >>> bool(np.abs(envelope.mean).max() < 0.1)
    True
    """
    count, n = samples.shape
    if count < 5 * n or not np.isfinite(samples).all():
        raise ValueError(f"samples: need {5 * n} finite ones or more, got {count}")
    near = np.ones(count, dtype=bool)
    for _ in range(_STEPS):
        mean, covariance = _moments(samples, near)
        again = _nearest(_squared(samples - mean, covariance))
        if (again == near).all():
            break
        near = again
    covariance = covariance / _shrinkage(0.5, n)
    kept = _squared(samples - mean, covariance) <= _quantile(_KEPT, n)
    mean, covariance = _moments(samples, kept)
    covariance = covariance / _shrinkage(_KEPT, n)
    return Envelope(mean, covariance if noise is None else covariance + noise)


def squared_distance(
    envelope: Envelope, observed: Float[ndarray, "*batch n"]
) -> Float[ndarray, "*batch"]:
    """Return the squared Mahalanobis distance D^2 of observations.

    It is huge off the plane of an envelope that has no extent across it.

    >>> squared_distance(Envelope(np.zeros(2), np.eye(2)), np.array((3.0, 4.0)))
    array(25.)
    """
    return _squared(observed - envelope.mean, envelope.covariance)


def is_outlier(
    envelope: Envelope, observed: Float[ndarray, "*batch n"], *, mass: float = MASS
) -> Bool[ndarray, "*batch"]:
    """Tell which observations lie outside the ellipse of a mass in (0, 1); NaN lies outside.

    >>> is_outlier(Envelope(np.zeros(2), np.eye(2)), np.array([(0.0, 1.0), (3.0, 4.0)]))
    array([False,  True])
    """
    if not 0.0 < mass < 1.0:
        raise ValueError(f"mass must lie in (0, 1), got {mass}")
    inside = squared_distance(envelope, observed) <= _quantile(mass, len(envelope.mean))
    return np.asarray(~inside)


def _nearest(squares: Float[ndarray, " sample"]) -> Bool[ndarray, " sample"]:
    """Choose the nearer half."""
    near = np.zeros(len(squares), dtype=bool)
    near[np.argpartition(squares, len(squares) // 2)[: len(squares) // 2 + 1]] = True
    return near


def _moments(
    samples: Float[ndarray, "sample n"], chosen: Bool[ndarray, " sample"]
) -> tuple[Float[ndarray, " n"], Float[ndarray, "n n"]]:
    part = samples[chosen]
    mean = part.mean(axis=0)
    return mean, (part - mean).T @ (part - mean) / len(part)


def _squared(
    away: Float[ndarray, "*batch n"], covariance: Float[ndarray, "n n"]
) -> Float[ndarray, "*batch"]:
    """Squared length in units of the covariance; all but infinite along an axis without any."""
    values, vectors = np.linalg.eigh(covariance)
    floor = max(1e-12 * float(values[-1]), 1e-300)
    return np.asarray(((away @ vectors) ** 2 / values.clip(min=floor)).sum(axis=-1))


def _quantile(mass: float, n: int) -> float:
    return float(2.0 * special.gammaincinv(0.5 * n, mass))


def _shrinkage(mass: float, n: int) -> float:
    """Covariance of the nearest share of Gaussian samples, over that of all."""
    return float(special.gammainc(0.5 * n + 1.0, 0.5 * _quantile(mass, n)) / mass)
