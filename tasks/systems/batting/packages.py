"""Batting packages, `ricochet.batting/2`: all that a controller must know, and no code.

    batting.json          schema, parameters with their bounds, settings, digest, commit, sha256s
    batting.safetensors   cosines, sines  (shape, harmonic)  support functions, m
                          samples         (draw, 5)  of the law's coefficients and noise
                          mean (5,), covariance (5, 5)   of the samples
                          law             (6,)   to simulate with, `impacts.believed_law`
                          table           (11,)  in the order of `Table`: lengths, gravity, camera
                          filter          (6,)   in the order of `FilterSettings`
    checks.json           what was measured: held-out impacts, the filter
    reference.safetensors contacts with their impulses, poses with their readings, quantiles

It is written, checked and read by the rules of `tasks.registry.packages`, with numpy alone: numba
makes a controller fast, and is not needed to read. What no controller should see is refused: shapes
that are not convex or not about their centre of mass, coefficients out of their bounds, moments
that are not those of the samples, a law that is surer than its samples, a bat that leaves objects
no room where it is turned up, a camera that sees nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting import shapes as shape_sets
from ricochet.models.systems.batting.belief.first_flight import READINGS
from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.camera import project
from ricochet.models.systems.batting.impact_law import Contact, Law, impulse
from ricochet.models.systems.batting.impacts.parameters import FRICTION_LIMIT, NOISE, PARAMETERS
from ricochet.models.systems.batting.shapes import Shapes
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_ANGLE, Table
from ricochet.models.systems.batting.world import QUIET, World
from ricochet.tasks.registry import moments, signatures
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import (
    Arrays,
    Package,
    check_names,
    read_package,
    write_package,
)
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.systems.batting.kinds import BATTER

SCHEMA, KIND = "ricochet.batting/2", "batting-world"
NAMES = (*PARAMETERS, *NOISE)
FEWEST, MOST = 100, 1_000_000
"""Draws."""
MOST_SHAPES, MOST_HARMONICS, MOST_PARTICLES = 100, 32, 100_000
LARGEST = 100.0
"""Of shapes, m."""
STEEPEST = 10.0
"""Gravity along a table, m/s^2: that of the earth is 9.81."""
SHORTEST_FALL = READINGS * CAMERA_PERIOD
"""Of an object from the upper wall to the bat, s: the filter begins with a flight that long."""
ROOM = 8.0
"""Largest radii of a shape across a table."""
ROUNDING = 1e-9
WIDEST = 5.0
"""Times the noise of the samples that a law may have."""
_LOW, _HIGH = np.array([0.0, -1.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 100.0, 1.0, 1.0])
_REFERENCES = 16


@dataclass(frozen=True, eq=False)
class Batter:
    """What a controller knows.

    Attributes:
        theta: Draws of restitution, tangential restitution, friction and both shares of noise.
        law: To simulate with.
    """

    shapes: Shapes
    table: Table
    theta: Float[ndarray, "draw 5"]
    law: Law
    settings: FilterSettings

    def world(self, draw: np.random.Generator, rows: int = 2**18) -> World:
        """Return the world as it is believed to be, with fresh noise of so many impacts."""
        return World(self.shapes, self.table, self.law, draw.standard_normal((rows, 2)))


def write(
    batter: Batter,
    folder: Path,
    *,
    name: str,
    checks: Mapping[str, Any],
    key: str,
    git_commit: str,
    settings: Mapping[str, Any],
    friction_limit: float = FRICTION_LIMIT,
) -> None:
    """Write a package; `BadInput` if the place cannot be written.

    Args:
        name: In the registry.
        key: Digest of the table of impacts.
        settings: By which the law was learnt.
        friction_limit: Of the prior.
    """
    bounds = zip(NAMES, _bounds(friction_limit), strict=True)
    parameters = (Parameter(name, "1", low, high) for name, (low, high) in bounds)
    package = Package(
        kind=KIND,
        name=name,
        parameters=tuple(parameters),
        arrays=_arrays(batter),
        inputs=inputs(len(batter.shapes.radius)),
        checks=checks,
        data_digest=key,
        git_commit=git_commit,
        settings=settings,
    )
    write_package(folder, package, reader=READER)


def read(folder: Path, *, key: Key | None = None) -> Batter:
    """Read what a controller knows from a folder; `BadInput` if it is not whole.

    Args:
        key: By which it must be signed, as `signatures.demanded` says.
    """
    demanded = signatures.demanded(key)
    return from_package(read_package(folder, reader=READER, key=demanded), where=str(folder))


def from_package(package: Package, *, where: str) -> Batter:
    """Return what a verified package holds; `BadInput` if it is of another kind."""
    names = tuple(str(parameter.name) for parameter in package.parameters)
    if (package.kind, names) != (KIND, NAMES):
        raise BadInput(where, f"kind {package.kind} of {', '.join(names)[:100]}", KIND)
    bounds = [(parameter.low, parameter.high) for parameter in package.parameters]
    limit = bounds[2][1]
    good = type(limit) in (int, float) and 0.0 < limit <= _HIGH[2]
    if not good or bounds != _bounds(float(limit)):
        raise BadInput(where, f"bounds {bounds!r}"[:200], "those of coefficients and noise")
    if not (package.arrays["samples"] <= np.array(bounds)[:, 1]).all():
        raise BadInput(where, "samples above their bounds", "those of the prior")
    return _batter(package.arrays)


def hold_out(package: Package, where: str) -> float:
    """Return the share of the rows that was held out; `BadInput` where the package has none."""
    settings = package.settings
    found = settings.get("hold_out") if isinstance(settings, Mapping) else None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0.0 <= found <= 0.9:
        raise BadInput(f"{where}: hold_out", repr(found)[:80], "a number from 0 to 0.9")
    return float(found)


def least_noise(theta: Float[ndarray, "draw 5"]) -> Float[ndarray, " 2"]:
    """Return the shares of noise that one law must have for that of its samples."""
    return np.sqrt((theta[:, 3:] ** 2).mean(0))


def inputs(shapes: int) -> Arrays:
    """Return those of the self-test.

    Returns:
        `contacts`, mass, inertia, place and velocity of each; `poses`, x, y and angle, one for each
        of so many shapes.
    """
    draw = np.random.default_rng(0)
    low, high = (0.004, 4e-4, -0.6, -0.3, -3.0, -3.0), (0.006, 1e-3, -0.3, 0.3, -0.2, 3.0)
    poses = draw.uniform((1.0, 1.0, -3.0), (9.0, 9.0, 3.0), (shapes, 3))
    return {"contacts": draw.uniform(low, high, (_REFERENCES, 6)), "poses": poses}


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Return impulses of the law, readings of each shape and quantiles of the draws.

    Raises:
        ValueError: If arrays are not as they must be.
    """
    batter = _batter(arrays)
    world = World(batter.shapes, batter.table, batter.law, QUIET)
    poses = _matrix("poses", inputs["poses"], (1, MOST_SHAPES), 3)
    contacts = _matrix("contacts", inputs["contacts"], (1, 1000), 6)
    if len(poses) != len(batter.shapes.radius):
        raise ValueError(f"{len(poses)} poses for {len(batter.shapes.radius)} shapes")
    return {
        "impulses": np.array([impulse(batter.law, Contact(*map(float, row))) for row in contacts]),
        "screen": np.array([project(pose, kind, world) for kind, pose in enumerate(poses)]),
        "quantiles": np.quantile(batter.theta, (0.05, 0.5, 0.95), axis=0),
    }


def check(package: Package, where: str) -> None:
    """Refuse a package that a controller could not use: `BadInput`."""
    check_names(package, _arrays(from_package(package, where=where)), where)


READER = Reader(evaluate, SCHEMA, "batting", check=check, made_by=BATTER.made_by)
"""The reader of this kind."""


def _bounds(friction_limit: float) -> list[tuple[float, float]]:
    return [(0.0, 1.0), (-1.0, 1.0), (0.0, friction_limit), (0.0, 1.0), (0.0, 1.0)]


def _arrays(batter: Batter) -> Arrays:
    return {
        "cosines": batter.shapes.cosines,
        "sines": batter.shapes.sines,
        "samples": batter.theta,
        "mean": batter.theta.mean(0),
        "covariance": np.cov(batter.theta.T),
        "law": np.array(batter.law, float),
        "table": np.array(batter.table, float),
        "filter": np.array(astuple(batter.settings), float),
    }


def _batter(arrays: Arrays) -> Batter:
    """Return what arrays hold; ValueError where they mean nothing."""
    theta, shapes, table = _samples(arrays), _shapes(arrays), _table(arrays["table"])
    if min(table.width, table.height) < ROOM * shapes.radius.max():
        raise ValueError("a table without room for its shapes")
    return Batter(shapes, table, theta, _law(arrays["law"], theta), _filter(arrays))


def _samples(arrays: Arrays) -> Float[ndarray, "draw 5"]:
    theta = _matrix("samples", arrays["samples"], (FEWEST, MOST), len(NAMES))
    if not ((theta >= _LOW) & (theta <= _HIGH)).all():
        raise ValueError("samples out of their bounds")
    for name, value in (("mean", theta.mean(0)), ("covariance", np.cov(theta.T))):
        stated = arrays[name]
        if stated.shape != value.shape or not np.allclose(stated, value, rtol=1e-6, atol=1e-12):
            raise ValueError(f"{name} that is not that of the samples")
    if not moments.is_spread(theta, value):
        raise ValueError("samples that are all alike in a parameter")
    return theta


def _shapes(arrays: Arrays) -> Shapes:
    cosines, sines = arrays["cosines"], arrays["sines"]
    width = cosines.shape[-1] if cosines.ndim == 2 else 0
    if not 2 <= width <= MOST_HARMONICS:
        raise ValueError(f"{width} harmonics, expected 2 to {MOST_HARMONICS}")
    series = list(
        zip(
            _matrix("cosines", cosines, (1, MOST_SHAPES), width),
            _matrix("sines", sines, (len(cosines), len(cosines)), width),
            strict=True,
        )
    )
    if np.abs([cosines, sines]).max() > LARGEST:
        raise ValueError(f"a shape larger than {LARGEST} m")
    for a, b in series:
        moved = shape_sets.centred(a, b)  # ValueError for a shape that is not convex
        if not np.allclose(moved, (a, b), rtol=0.0, atol=1e-6):
            raise ValueError("a shape that is not about its centre of mass")
    return shape_sets.gather(series)


def _law(values: ndarray, theta: Float[ndarray, "draw 5"]) -> Law:
    law = Law(*_numbers("law", values, len(Law._fields)))
    coefficients, least = np.array(law[:3]), least_noise(theta)
    if not np.allclose(coefficients, theta[:, :3].mean(0), rtol=1e-6, atol=ROUNDING):
        raise ValueError("a law that is not the mean of the samples")
    noise = np.array([law.normal_share, law.tangential_share])
    if not ((noise >= least * (1.0 - 1e-6)) & (noise <= WIDEST * least)).all():
        raise ValueError("a law with other noise than that of the samples")
    if law.impulse_noise != 0.0:
        raise ValueError("a law with noise that was not learnt")
    return law


def _table(values: ndarray) -> Table:
    table = Table(*_numbers("table", values, len(Table._fields)))
    size = (table.width, table.height, table.gravity, table.mass, table.focal_length)
    if not (min(size) > 0.0 and max(size) <= 1000.0):
        raise ValueError("a table whose size, gravity or mass is not positive")
    if table.gravity > STEEPEST or table.height < 0.5 * table.gravity * SHORTEST_FALL**2:
        raise ValueError(f"gravity of {table.gravity:g} m/s^2 on {table.height:g} m")
    if table.height < table.width * math.tan(LARGEST_ANGLE):
        raise ValueError("a table that its bat, turned up, reaches the upper wall of")
    if not (0.0 < table.goal_x < table.width and 0.0 < table.goal_y < table.height):
        raise ValueError("a goal that is not on the table")
    if not (-1000.0 < table.camera_x < 0.0 and 0.0 <= table.camera_y <= table.height):
        raise ValueError("a camera that does not look at the table from the left")
    if not (0.0 < table.screen_width <= 100.0 and 1e-6 <= table.screen_noise <= 1.0):
        raise ValueError("a screen without width or noise")
    return table


def _filter(arrays: Arrays) -> FilterSettings:
    draws, early, readings, count, bandwidth, least = _numbers("filter", arrays["filter"], 6)
    whole = [round(each) for each in (draws, early, readings, count)]
    exact = whole == [draws, early, readings, count]
    enough = min(whole[0], whole[1], whole[3]) >= FEWEST and whole[2] >= 0
    if not (exact and enough and max(whole) <= MOST_PARTICLES):
        raise ValueError(f"a filter of {whole[3]} particles, {FEWEST} to {MOST_PARTICLES} whole")
    if not (0.0 <= bandwidth <= 1.0 and 0.0 < least <= 1.0):
        raise ValueError("a filter whose bandwidth or least share is none")
    return FilterSettings(whole[0], whole[1], whole[2], whole[3], bandwidth, least)


def _matrix(name: str, values: ndarray, rows: tuple[int, int], columns: int) -> ndarray:
    """Return a table of finite numbers; ValueError names what is none."""
    good = values.ndim == 2 and values.dtype == np.float64 and values.shape[1] == columns
    if not (good and rows[0] <= len(values) <= rows[1] and np.isfinite(values).all()):
        raise ValueError(f"{name} of shape {values.shape} and type {values.dtype}, or not finite")
    return values


def _numbers(name: str, values: ndarray, count: int) -> list[float]:
    return [float(each) for each in _matrix(name, values[None], (1, 1), count)[0]]
