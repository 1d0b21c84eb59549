"""Posteriors of a double pendulum as packages of kind `particles`; numpy alone reads them.

    samples      (draw, 11)  parameters, in the order of the manifest
    observation  (draw, 4)   deviations of states as they are observed, rad and rad/s
    departure    (draw, 4)   those by which states depart from the equations at a window's start
    clock        (3,)        frames a second, frames of a window, steps of the simulation a frame
    mean (11,), covariance (11, 11)   of the samples

all in double precision. The self-test watches a motion and goes on from there by the first draws,
as a controller does.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import pendulum_tracking
from ricochet.models.systems.rigid_bodies.disc_crossing import FASTEST, SLOWEST
from ricochet.models.systems.rigid_bodies.pendulum_limits import PARAMETERS, UNITS
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from ricochet.tasks.registry import moments, packages, quantities, signatures
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.packages import Arrays, Package
from ricochet.tasks.registry.quantities import Quantity
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.systems.rigid_bodies.kinds import PENDULUM

KIND = "particles"
COUNT = 11
FEWEST, MOST = 8, 100_000
"""Draws."""
ARRAYS = ("samples", "observation", "departure", "clock", "mean", "covariance")
LARGEST = 10.0
"""Limit of any parameter, in its unit."""
OF_EITHER_SIGN = ("centre_x_1", "centre_y_1", "centre_x_2", "centre_y_2")
CLOCK = {"rate": (SLOWEST, FASTEST), "window": (1.0, 1000.0), "substeps": (1.0, 100.0)}
"""Bounds of the numbers of `clock`: those of a film that a controller decides by in time."""
STEPS = (1000.0, 4000.0)
"""Bounds of the simulation's steps a second, of which `infer` takes 1600 and less than a frame's
more: longer steps are none of a swing, and shorter ones take a controller's time."""
UNEVEN = 0.02
"""By which the rate of a film may be off that of the camera."""
STRAYS = np.array((10.0, 10.0, 1e3, 1e3))
"""Largest deviations of a state, rad and rad/s."""
ROUNDING = 1e-9
_TESTED, _SEEN, _AHEAD = 5, 30, 20
_STATES = 4


def arrays_of(draws: Draws) -> Arrays:
    """Return draws as the arrays of a package."""
    return {
        "samples": draws.theta,
        "observation": draws.observation,
        "departure": draws.departure,
        "clock": np.array((draws.rate, draws.window, draws.substeps), dtype=float),
        "mean": draws.theta.mean(0),
        "covariance": np.cov(draws.theta.T),
    }


def draws_of(package: Package, *, rate: float | None = None) -> Draws:
    """Return the draws of a package, for `disc_crossing.Crossing`.

    Args:
        rate: Frames a second of the camera that a controller decides by.

    Raises:
        BadInput: If they are not those of a pendulum within the limits of the manifest, or of films
            of another rate.
    """
    if package.kind != KIND:
        raise BadInput("package", f"kind {package.kind!r}", f"kind {KIND!r}")
    try:
        draws = _draws(package.arrays)
    except (KeyError, ValueError) as error:
        raise BadInput("package", str(error), f"the arrays of kind {KIND!r}") from error
    low, high = (
        np.array([getattr(each, end) for each in package.parameters], dtype=float)
        for end in ("low", "high")
    )
    slack = ROUNDING * (high - low) if len(low) == COUNT else 0.0
    if len(low) != COUNT or not _within(draws.theta, low - slack, high + slack):
        raise BadInput("package: samples", "draws outside the limits", "those of the manifest")
    if rate is not None and not abs(draws.rate / rate - 1.0) <= UNEVEN:
        raise BadInput("package: clock", f"a film of {draws.rate:g} Hz", f"{rate:g} Hz")
    return draws


def read(folder: Path, *, rate: float | None = None, key: Key | None = None) -> Draws:
    """Read the draws of a package in a folder; `BadInput` if it is not whole or means nothing.

    Args:
        rate: As in `draws_of`.
        key: By which it must be signed, as `signatures.demanded` says.
    """
    package = packages.read_package(folder, reader=READER, key=signatures.demanded(key))
    return draws_of(package, rate=rate)


def watched(draws: Draws) -> Arrays:
    """Return the inputs of the self-test: a motion that is seen for three windows at most."""
    steps = min(_SEEN, 3 * draws.window)
    start = np.array(((1.0, 0.5, 0.0, 0.0),))
    moved = draws.moved(Bodies.of(draws.theta[:1]), start, steps)[:, 0]
    return {"watched": np.concatenate((start, moved))}


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Return what the first draws believe of the motion seen, and where it goes on to.

    Raises:
        ValueError: If arrays are not as they must be.
    """
    draws = _draws(arrays)[:_TESTED]
    seen = inputs["watched"]
    if seen.ndim != 2 or seen.shape[1] != _STATES or not 2 <= len(seen) <= _SEEN + 1:
        raise ValueError(f"watched of shape {seen.shape}")
    belief = pendulum_tracking.track(draws, seen)
    ahead = draws.moved(Bodies.of(draws.theta), belief.mean, _AHEAD)[-1]
    return {"mean": arrays["samples"].mean(0), "state": belief.mean, "ahead": ahead}


def describe(package: Package) -> tuple[Quantity, ...]:
    """Return the length of link 1, the one parameter that is told by itself, and the fit.

    Of all others the motion tells ratios (`pendulum_parameters`).
    """
    every = {each.name: each for each in quantities.of_package(package)}
    fit = package.checks.get("fit_rmse")
    scores = (Quantity("fit_rmse", "1", fit),) if isinstance(fit, float) else ()
    return ((every["length"],) if "length" in every else ()) + scores


def check(package: Package, where: str) -> None:
    """Refuse a package whose draws are none of a pendulum within its limits: `BadInput`."""
    packages.check_names(package, ARRAYS, where)
    stated = tuple((each.name, each.unit) for each in package.parameters)
    if stated != tuple(zip(PARAMETERS, UNITS, strict=True)):
        raise BadInput(f"{where}: parameters", f"{stated}"[:200], "those of a pendulum")
    if max(max(-each.low, each.high) for each in package.parameters) > LARGEST:
        raise BadInput(f"{where}: parameters", "limits beyond all measure", f"{LARGEST:g} at most")
    if any(each.low < 0.0 for each in package.parameters if each.name not in OF_EITHER_SIGN):
        raise BadInput(f"{where}: parameters", "a negative mass, length or friction", "none")
    draws_of(package)


READER = Reader(evaluate, describe=describe, check=check, made_by=PENDULUM.made_by)


def _draws(arrays: Mapping[str, Any]) -> Draws:
    """Return draws whose shapes, types and ranges were checked; ValueError names what is not so."""
    samples = arrays["samples"]
    count = len(samples) if samples.ndim == 2 else 0
    if not FEWEST <= count <= MOST:
        raise ValueError(f"samples of shape {samples.shape}")
    shapes = {"samples": COUNT, "observation": _STATES, "departure": _STATES}
    for name, width in shapes.items():
        _check(name, arrays[name], (count, width))
    _check("clock", arrays["clock"], (len(CLOCK),))
    for name in ("observation", "departure"):
        if not _within(arrays[name], 1e-12, STRAYS):
            raise ValueError(f"{name} that is not positive, or beyond all measure")
    for (name, (low, high)), value in zip(CLOCK.items(), arrays["clock"], strict=True):
        if not low <= value <= high or (name != "rate" and value != round(value)):
            raise ValueError(f"clock: {name} {value:g}")
    rate, window, substeps = arrays["clock"]
    if not STEPS[0] <= rate * substeps <= STEPS[1]:
        raise ValueError(f"clock: {rate * substeps:g} steps a second")
    _check_moments(arrays, samples)
    rest = arrays["observation"], arrays["departure"]
    return Draws(samples, *rest, rate=float(rate), window=int(window), substeps=int(substeps))


def _check(name: str, values: Any, shape: tuple[int, ...]) -> None:
    if values.shape != shape:
        raise ValueError(f"{name} of shape {values.shape}")
    if values.dtype != np.float64 or not np.isfinite(values).all():
        raise ValueError(f"{name} that is not of finite numbers of double precision")


def _check_moments(arrays: Mapping[str, Any], samples: Any) -> None:
    """Refuse a mean and a covariance that are not those of the samples, and samples all alike."""
    expected = {"mean": samples.mean(0), "covariance": np.cov(samples.T)}
    for name, values in expected.items():
        _check(name, arrays[name], values.shape)
        if not np.allclose(arrays[name], values, rtol=1e-6, atol=1e-12):
            raise ValueError(f"{name} that is not that of the samples")
    if not moments.is_spread(samples, expected["covariance"]):
        raise ValueError("samples that are all alike in a parameter")


def _within(values: Any, low: Any, high: Any) -> bool:
    return bool(((values >= low) & (values <= high)).all())
