"""Posteriors of numbers of what moved as packages of kind `draws`; numpy alone reads them.

    samples      (draw, parameter)  in the order of the manifest
    observation  (draw, seen)       deviations of states as they are observed, of those that are
    departure    (draw, state)      those by which states depart from the equations, each window
    mean (parameter,), covariance (parameter, parameter)   of the samples

all in double precision. The manifest has the settings of the inference; of a MuJoCo model also what
each parameter is of in the XML, and its digest. The self-test takes quantiles.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import moments, packages
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.packages import Arrays, Package
from ricochet.tasks.systems.rigid_bodies.kinds import BOX, MODEL

if TYPE_CHECKING:  # with torch
    from ricochet.tasks.systems.rigid_bodies.motion_inference import Inferred

KIND = "draws"
FEWEST, MOST, WIDEST = 8, 1_000_000, 100
"""Draws, and most columns."""
ARRAYS = ("samples", "observation", "departure", "mean", "covariance")
MOST_SHARES, LARGEST = 100, 1e15
LEAST_NOISE = 1e-12
"""Of observations, in the unit of each: that of a film is far above rounding."""


def arrays_of(inferred: "Inferred") -> Arrays:
    """Return draws as the arrays of a package."""
    theta, posterior = inferred.theta.numpy(), inferred.posterior
    return {
        "samples": theta,
        "observation": posterior.sigma.flatten(0, 1).numpy(),
        "departure": posterior.delta.flatten(0, 1).numpy(),
        "mean": theta.mean(0),
        "covariance": np.atleast_2d(np.cov(theta.T)),
    }


def inputs() -> Arrays:
    """Return those of the self-test: the shares of which quantiles are taken."""
    return {"shares": np.array((0.05, 0.25, 0.5, 0.75, 0.95))}


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Return quantiles and moments of the draws.

    Raises:
        ValueError: If arrays are not as they must be.
    """
    samples = arrays["samples"]
    count, width = _shape("samples", samples)
    noise, seen = (_shape(name, arrays[name]) for name in ("departure", "observation"))
    if not FEWEST <= count <= MOST or noise[0] != count or seen[0] != count:
        raise ValueError(f"{count} samples, or noise of another length")
    if seen[1] > noise[1] or not (arrays["observation"] >= LEAST_NOISE).all():
        raise ValueError(f"observation of more than there is, or below {LEAST_NOISE:g}")
    if not (arrays["departure"] >= 0.0).all():
        raise ValueError("departure that is negative")
    found = {"mean": samples.mean(0), "covariance": np.atleast_2d(np.cov(samples.T))}
    for name, values in found.items():
        stated = arrays[name]
        if stated.shape != values.shape or not np.allclose(stated, values, rtol=1e-6, atol=1e-12):
            raise ValueError(f"{name} that is not that of the {width} samples")
    if not moments.is_spread(samples, found["covariance"]):
        raise ValueError("samples that are all alike in a parameter")
    return {**found, "quantiles": np.quantile(samples, inputs["shares"], axis=0)}


def check(package: Package, where: str) -> None:
    """Refuse a package of another kind, or of draws outside their prior: `BadInput`."""
    if package.kind != KIND:
        raise BadInput(where, f"kind {package.kind}", KIND)
    packages.check_names(package, ARRAYS, where)
    shares = package.inputs.get("shares", np.zeros(0))
    if set(package.inputs) != {"shares"} or shares.ndim != 1 or not 1 <= len(shares) <= MOST_SHARES:
        raise BadInput(f"{where}: shares", "other inputs", f"1 to {MOST_SHARES} shares")
    moments.check(package, where)


READER = Reader(evaluate, check=check, made_by=f"{MODEL.made_by}, or {BOX.made_by}")


def _shape(name: str, values: ndarray) -> tuple[int, int]:
    """Return rows and columns; ValueError names what is no table of finite numbers."""
    if values.ndim != 2 or not 0 < values.shape[1] <= WIDEST or values.dtype != np.float64:
        raise ValueError(f"{name} of shape {values.shape} and type {values.dtype}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} that is not finite")
    if np.abs(values).max(initial=0.0) > LARGEST:
        raise ValueError(f"{name} beyond all measure")
    return values.shape
