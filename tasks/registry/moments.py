"""Whether draws, their mean and their covariance can be those of one posterior within its prior."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.packages import Arrays, Package

SLACK = 1e-9  # of a prior's width, that rounding may leave it by
STANDARD_ERRORS = 8.0  # by which a stated mean may differ from that of draws
NARROWEST = 1e-6
"""Standard deviation of each parameter, of its size: draws of a recording spread by far more."""
_ROUNDING = 1e-9


def check(package: Package, where: str, *, prefix: str = "", within_prior: bool = True) -> None:
    """Refuse `samples`, `mean` and `covariance` that are not of one posterior; absent ones pass.

    Args:
        prefix: Of the arrays' names.
        within_prior: Whether draws and mean must lie within the parameters' bounds.

    Raises:
        BadInput: Shapes do not agree with the parameters, numbers are not finite, a covariance is
            none, or they lie outside of the prior or too far apart.
    """
    given = {name: package.arrays.get(prefix + name) for name in ("samples", "mean", "covariance")}
    found = {name: array for name, array in given.items() if array is not None}
    count = len(package.parameters)
    for name, array in found.items():
        _check_array(f"{where}: {prefix}{name}", name, array, count)
    if "covariance" in found:
        _check_covariance(f"{where}: {prefix}covariance", found["covariance"])
    for name in set(found) - {"covariance"} if within_prior else ():
        _check_within(f"{where}: {prefix}{name}", found[name], package)
    if len(found) == len(given):
        _check_agreement(f"{where}: {prefix}mean", found)


def is_spread(
    samples: Float[ndarray, "draw parameter"], covariance: Float[ndarray, "parameter parameter"]
) -> bool:
    """Return whether each parameter spreads by `NARROWEST` of the largest of its draws, or more."""
    size = np.maximum(samples.max(0), -samples.min(0))
    return bool((np.sqrt(np.diag(covariance)) > NARROWEST * size).all())


def _check_within(where: str, values: np.ndarray, package: Package) -> None:
    low, high = (np.array([getattr(p, end) for p in package.parameters]) for end in ("low", "high"))
    slack = SLACK * (high - low)
    if (values < low - slack).any() or (values > high + slack).any():
        raise BadInput(where, "numbers outside of it", "the prior's box")


def _check_array(where: str, name: str, array: np.ndarray, count: int) -> None:
    shape = {"samples": (len(array) if array.ndim else 0, count), "mean": (count,)}
    expected = shape.get(name, (count, count))
    if array.shape != expected or array.size == 0:
        raise BadInput(where, f"shape {array.shape}", f"{expected}, not empty")
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise BadInput(where, f"numbers of {array.dtype}, or none", "finite numbers of float64")


def _check_covariance(where: str, covariance: np.ndarray) -> None:
    size = np.abs(covariance).max(initial=0.0)
    if not np.allclose(covariance, covariance.T, rtol=0.0, atol=_ROUNDING * size):
        raise BadInput(where, "a matrix that is not symmetric", "a covariance")
    if np.linalg.eigvalsh(covariance)[0] < -_ROUNDING * size:
        raise BadInput(where, "a variance below zero", "a covariance")


def _check_agreement(where: str, found: Arrays) -> None:
    """Refuse a mean, or deviations, that draws of the posterior cannot have."""
    samples, mean = found["samples"], found["mean"]
    deviation = np.sqrt(np.maximum(np.diag(found["covariance"]), 0.0))
    error = STANDARD_ERRORS * deviation / np.sqrt(len(samples)) + SLACK * (1.0 + np.abs(mean))
    if (np.abs(samples.mean(0) - mean) > error).any():
        raise BadInput(where, "a mean that is not that of the samples", "one within their errors")
    if len(samples) > 1 and (samples.std(0) > STANDARD_ERRORS * deviation + error).any():
        raise BadInput(where, "samples that scatter more than is stated", "those of the covariance")
