"""Posteriors on a grid that tests have in common: whole, normalised, with draws of their own."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.systems.bouncing_ball.grid_package import grid_log_density

Log = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
BOUNDS = {"restitution": (0.55, 0.95), "log10_concentration": (1.0, 5.0)}
ROWS, COLUMNS, FINE, SPAN = 61, 61, 300, 5.0


def plane(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """A log density that rises with both parameters."""
    return 1.0 * b + 2.0 * a


def made(name: str = "ball-table", log_density: Log = plane, *, number: int = 1) -> Package:
    """Return a package of kind `grid` whose density covers its prior.

    Args:
        number: Stated in `checks`; packages of other numbers are other packages.
    """
    return _named(_made(log_density, tuple(BOUNDS.values())), name, number)


def narrow(
    name: str = "ball-table",
    middle: tuple[float, float] = (0.8, 3.0),
    deviation: tuple[float, float] = (0.01, 0.2),
    *,
    number: int = 1,
) -> Package:
    """Return a package of kind `grid` of a normal law of independent parameters."""
    return _named(_normal(middle, deviation), name, number)


def _named(package: Package, name: str, number: int) -> Package:
    arrays = {key: array.copy() for key, array in package.arrays.items()}
    inputs = {key: array.copy() for key, array in package.inputs.items()}
    checks = {"coverage": {"0.9": 0.9}, "number": number}
    return replace(package, name=name, arrays=arrays, inputs=inputs, checks=checks)


@lru_cache(maxsize=32)
def _normal(middle: tuple[float, float], deviation: tuple[float, float]) -> Package:
    def log_density(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return -0.5 * (
            ((a - middle[0]) / deviation[0]) ** 2 + ((b - middle[1]) / deviation[1]) ** 2
        )

    ends = ((x - SPAN * sd, x + SPAN * sd) for x, sd in zip(middle, deviation, strict=True))
    made = _made(log_density, tuple(ends))
    moments = {"mean": np.array(middle), "covariance": np.diag(np.square(deviation))}
    return replace(made, arrays=made.arrays | moments)


@lru_cache(maxsize=32)
def _made(log_density: Log, window: tuple[tuple[float, float], ...]) -> Package:
    (low, high), (bottom, top) = window
    rows, across = np.linspace(bottom, top, ROWS), np.linspace(low, high, COLUMNS)
    table = log_density(across[None], rows[:, None])
    table = table - table.max()
    mass = np.trapezoid(np.trapezoid(np.exp(table), across, axis=1), rows)
    arrays = {
        "rows": rows,
        "low": np.full(ROWS, low),
        "high": np.full(ROWS, high),
        "log_density": table - np.log(mass),
    }
    return Package(
        kind="grid",
        name="ball-table",
        parameters=tuple(Parameter(each, "1", *ends) for each, ends in BOUNDS.items()),
        arrays=arrays | draws_of(arrays),
        inputs={"theta": np.array([[0.1, 0.2], [0.5, 0.6], [1.0, 1.0]]) * (high - low, top - bottom)
                + (low, bottom)},
        checks={},
        data_digest="0123456789abcdef0123456789abcdef.dir",
        git_commit="unknown",
    )  # fmt: skip


def draws_of(arrays: Mapping[str, NDArray[Any]], count: int = 1000) -> dict[str, NDArray[Any]]:
    """Return draws of a grid's density, its mean and its covariance, by small cells."""
    draw = np.random.default_rng(0)
    rows = arrays["rows"]
    shares = (np.arange(FINE) + 0.5) / FINE
    b = np.repeat(rows[0] + (rows[-1] - rows[0]) * shares, FINE)
    low, high = (np.interp(b, rows, arrays[end]) for end in ("low", "high"))
    a = low + (high - low) * np.tile(shares, FINE)
    points = np.stack([a, b], -1)
    weight = np.exp(grid_log_density(dict(arrays), {"theta": points})["log_density"]) * (high - low)
    weight /= weight.sum()
    mean = weight @ points
    chosen = draw.choice(len(points), count, p=weight)
    size = np.stack([high - low, np.full_like(b, rows[-1] - rows[0])], -1) / FINE
    jitter = draw.uniform(-0.5, 0.5, (count, 2)) * size[chosen]
    samples = points[chosen] + jitter
    samples = np.clip(samples, (arrays["low"].min(), rows[0]), (arrays["high"].max(), rows[-1]))
    centred = points - mean
    return {"samples": samples, "mean": mean, "covariance": (weight[:, None] * centred).T @ centred}
