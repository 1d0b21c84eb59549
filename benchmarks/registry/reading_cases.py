"""Packages of every kind as large as they may be, and hostile ones of the largest size."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy import ndarray

from ricochet.tasks.registry import packages
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import LARGEST_FILE, Arrays, Package
from ricochet.tasks.storage import limits
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.rigid_bodies import particle_packages

ROOM = LARGEST_FILE - 200_000
"""Bytes that arrays may have: a file has a header too."""
WAYS = (
    "as one row", "as a square", "as a cube", "as bytes", "as halves", "of more rows",
    "of more columns",
)  # fmt: skip
"""In which an array becomes as large as a file may be."""
_BOX = np.array(((0.55, 0.95), (1.0, 5.0)))


def largest(kind: str, sound: Package) -> Package:
    """Return a package of a kind that is as large as its reader takes, made from a small one."""
    made = {
        "grid": lambda: grid(1024, 100_000),
        "family": lambda: _family(sound),
        "density": lambda: replace(sound, arrays=_wide_density(sound.arrays, 2800)),
        "particles": lambda: _more_draws(sound, particle_packages.MOST),
        "draws": lambda: _more_draws(_columns(sound, 20), 10**6),
        "drawer": lambda: replace(sound, arrays=_wide_drawer(sound.arrays, 1500)),
        "batting": lambda: _more_draws(sound, 10**6),
        "shooting": lambda: replace(sound, arrays=_wide_energy(sound.arrays, limits.UNITS)),
    }
    return made[kind]()


def hostile(sound: Package, ways: Sequence[str]) -> Iterator[tuple[str, Arrays]]:
    """Yield names and arrays: each in turn has become as large as a file may be, in some ways."""
    for name, array in sound.arrays.items():
        room = ROOM - sum(each.nbytes for key, each in sound.arrays.items() if key != name)
        for way in ways:
            if (other := _swollen(array, room, way)) is not None:
                yield f"{name} {way}", {**sound.arrays, name: other}


def files(sound: Package) -> dict[str, tuple[int, bytes]]:
    """Return files that are hostile by their form: which of a package's three, and its content."""
    long = (2**16).to_bytes(8, "little") + b"{" + b" " * (2**16 - 1) + bytes(2**20)
    many = {f"a{k}": np.zeros(1, np.uint8) for k in range(900)}
    return {
        "deep JSON": (1, b'{"a": ' + b"[" * 500_000 + b"]" * 500_000 + b"}"),
        "wide JSON": (1, b'{"a": [' + b"{}," * 340_000 + b"{}]}"),
        "a header of spaces": (0, long),
        "a header of 2^60 bytes": (0, b"\xff" * 7 + b"\x0f{}"),
        "a header of many arrays": (0, packages._serialized(many)),
        "a self-test of other arrays": (2, packages._serialized(dict(sound.arrays))),
    }


def grid(points: int = 61, draws: int = 1000) -> Package:
    """Return a uniform density over the prior, so many points an axis."""
    draw, (low, high) = np.random.default_rng(0), _BOX.T
    ones, middle = np.ones(points), 0.5 * (low + high)
    arrays = {
        "rows": np.linspace(low[1], high[1], points),
        "low": low[0] * ones,
        "high": high[0] * ones,
        "log_density": np.full((points, points), -np.log(np.prod(high - low))),
        "samples": draw.uniform(low, high, (draws, 2)),
        "mean": middle,
        "covariance": np.diag((high - low) ** 2 / 12.0),
    }
    names = ("restitution", "log10_concentration")
    ends = _BOX.tolist()
    return Package(
        kind="grid",
        name="ball-table",
        parameters=tuple(Parameter(n, "1", *two) for n, two in zip(names, ends, strict=True)),
        arrays=arrays,
        inputs={"theta": middle[None]},
        checks={},
        data_digest="0" * 32,
        git_commit="unknown",
    )


def _swollen(array: ndarray, room: int, way: str) -> ndarray | None:
    """Return an array of so many bytes, of another shape or type; None if there is none."""
    count = room // 8
    side, edge = int(count**0.5), int(count ** (1 / 3))
    if way == "as one row":
        return np.full(count, 0.5)
    if way == "as a square":
        return np.eye(side)
    if way == "as a cube":
        return np.zeros((edge, edge, edge))
    if way == "as bytes":
        return np.zeros(8 * count, np.uint8)
    if way == "as halves":
        return np.zeros(4 * count, np.float16)
    if array.ndim == 0 or array.size == 0:
        return None
    if way == "of more rows":
        return np.repeat(array[:1], room // array[:1].nbytes, 0)
    return np.concatenate([array] * max(room // array.nbytes, 1), -1)


def _more_draws(sound: Package, most: int) -> Package:
    """Return a package with its draws repeated as often as there is room for."""
    count = len(sound.arrays["samples"])
    of_draws = [name for name, array in sound.arrays.items() if array.shape[:1] == (count,)]
    each = sum(sound.arrays[name].nbytes for name in of_draws)
    times = min(most // count, (ROOM - 100_000) // each)
    arrays = sound.arrays | {
        name: np.concatenate([sound.arrays[name]] * times) for name in of_draws
    }
    samples = arrays["samples"]
    arrays |= {"mean": samples.mean(0), "covariance": np.atleast_2d(np.cov(samples.T))}
    return replace(sound, arrays=arrays)


def _columns(sound: Package, count: int) -> Package:
    """Return draws of so many parameters."""
    samples = np.random.default_rng(0).normal(size=(len(sound.arrays["samples"]), count))
    named = tuple(Parameter(f"p{k}", "kg", -9.0, 9.0) for k in range(count))
    return replace(sound, parameters=named, arrays=sound.arrays | {"samples": samples})


def _family(sound: Package) -> Package:
    """Return a family on the largest grid, with as many draws of a contact as there may be."""
    plain, prefix = grid(1024, 100_000), contact_package.THREE
    draws = [name for name in sound.arrays if name.startswith(contact_package.PREFIX)]
    times = contact_package.MOST // len(sound.arrays["samples"])
    arrays = {name: plain.arrays[name] for name in contact_package.TABLE}
    arrays |= {prefix + name: plain.arrays[name] for name in contact_package.MOMENTS}
    arrays |= {n: np.concatenate([sound.arrays[n]] * times) for n in (*draws, "samples")}
    arrays |= {name: sound.arrays[name] for name in ("mean", "covariance")}
    return replace(sound, arrays=arrays)


def _wide_density(arrays: Arrays, units: int) -> Arrays:
    """Return a network of two layers of so many units, which adds zeros to its last."""
    first, last = arrays["weight_0"], max(n for n in arrays if n.startswith("weight_"))
    middle = np.zeros((len(first), units, units), np.float32)
    end = np.zeros((len(first), units, arrays[last].shape[-1]), np.float32)
    bias = np.zeros((len(first), 1, units), np.float32)
    kept = {name: array for name, array in arrays.items() if "_" in name and name[-1] not in "012"}
    return {
        **kept,
        "box": arrays["box"],
        "weight_0": np.zeros((len(first), first.shape[1], units), np.float32),
        "bias_0": bias,
        "weight_1": middle,
        "bias_1": bias,
        "weight_2": end,
        "bias_2": arrays[f"bias_{last[-1]}"],
    }


def _wide_drawer(arrays: Arrays, units: int) -> Arrays:
    """Return networks of so many units a layer, which add zeros to their last."""
    found = dict(arrays)
    for name in ("speed", "place", "direction"):
        first, end = arrays[f"{name}_weights_0"][:1], arrays[f"{name}_biases_2"][:1]
        for layer, (into, out) in enumerate(((first.shape[1], units), (units, units), (units, 2))):
            found[f"{name}_weights_{layer}"] = np.zeros((1, into, out))
            found[f"{name}_biases_{layer}"] = np.zeros((1, 1, out)) if layer < 2 else end
    return found


def _wide_energy(arrays: Arrays, units: int) -> Arrays:
    """Return an energy of so many hidden units, which is nought."""
    shapes = {
        "last": (units,),
        "first": (7, units),
        "first_offset": (units,),
        "second": (units, units),
        "second_offset": (units,),
    }
    return arrays | {f"energy.{n}": np.zeros(shape, np.float32) for n, shape in shapes.items()}
