"""The numbers by which a package is known in a list: parameters with their uncertainty, scores."""

import math
from dataclasses import dataclass

import numpy as np

from ricochet.tasks.registry.packages import Package

NORMAL_95 = 1.6449
"""95 % quantile of the standard normal law."""


@dataclass(frozen=True)
class Quantity:
    """A parameter: mean, standard deviation and central 90 % interval; `1` is no unit.

    A score, which was measured once, has a mean alone.
    """

    name: str
    unit: str
    mean: float
    sd: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> str:
        """The interval in words; nothing of a score."""
        return "" if self.low is None else f"{self.low:.6g} to {self.high:.6g}"

    @property
    def text(self) -> str:
        """The number in words, with two digits of its deviation."""
        if self.sd is None:
            return f"{self.mean:.3g}" + ("" if self.unit == "1" else f" {self.unit}")
        digits = max(0, min(8, 1 - math.floor(math.log10(max(self.sd, 1e-12)))))
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.mean:.{digits}f} +- {self.sd:.{digits}f}{unit}"


def of_package(package: Package) -> tuple[Quantity, ...]:
    """Return the parameters of a package that holds `mean` and `covariance`, else nothing.

    The intervals are those of its `samples`, where it has them.
    """
    arrays, count = package.arrays, len(package.parameters)
    mean, covariance = arrays.get("mean"), arrays.get("covariance")
    if mean is None or covariance is None or mean.shape != (count,):
        return ()
    deviation = np.sqrt(np.diag(covariance))
    low, high = mean - NORMAL_95 * deviation, mean + NORMAL_95 * deviation
    samples = arrays.get("samples")
    if samples is not None and samples.ndim == 2 and samples.shape[1] == count:
        low, high = np.quantile(samples, [0.05, 0.95], axis=0)
    rows = zip(package.parameters, mean, deviation, low, high, strict=True)
    return tuple(Quantity(p.name, p.unit, *map(float, numbers)) for p, *numbers in rows)
