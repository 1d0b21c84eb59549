"""SAMPLES.npz: posteriors of simulated cases beside their truths, from anybody's method.

    truth   (case, parameter)          each drawn from the prior, float
    draws   (case, draw, parameter)    of the posterior given the data of that case, float
    data    (case, value)              those data; optional, without it the fit is not checked
    names   (parameter,)               of the parameters, text; optional

`numpy.savez_compressed("samples.npz", truth=.., draws=.., data=.., names=..)` writes it. Other
arrays are refused, pickled ones are never read, and sizes are bounded before anything is unpacked.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput, unknown_key
from ricochet.tasks.storage import array_files, limits
from ricochet.tasks.storage.files import read_bytes

LARGEST = limits.ARRAYS
"""Bytes of all arrays, packed or unpacked."""
FEWEST_CASES, FEWEST_DRAWS = 20, 20
MOST_PARAMETERS, MOST_VALUES = 50, 100
MOST_CASES, MOST_NUMBERS = 10_000, 2**23
"""Cases, and numbers of all draws, and of all new data."""
MOST_COPIES = 0.01
"""Share of cases that may stand there again; a few agree by chance in single precision."""
LONGEST_NAME = 40
_LONGEST = 4 * 1000  # bytes of the place of a name
_NAMES = ("truth", "draws", "data", "names")


@dataclass(frozen=True)
class Samples:
    """Posteriors of simulated cases.

    Attributes:
        data: What each posterior was given; None where that was not stored.
    """

    truth: Float[ndarray, "case parameter"]
    draws: Float[ndarray, "case draw parameter"]
    data: Float[ndarray, "case value"] | None
    names: tuple[str, ...]


def read(path: Path) -> Samples:
    """Read and check a file of samples; `BadInput` says what is wrong with it."""
    arrays = _arrays(path)
    for name in ("truth", "draws"):
        if name not in arrays:
            raise BadInput(f"{path}: {name}", "no array", "truth and draws")
    for name in ("truth", "draws", "data"):
        if name in arrays:
            _check_type(path, name, arrays[name])
    _check_shapes(path, arrays["truth"], arrays["draws"])
    if "data" in arrays:
        _check_data(path, arrays["data"], len(arrays["truth"]))
    truth, draws = (_numbers(path, arrays, name) for name in ("truth", "draws"))
    data = _numbers(path, arrays, "data") if "data" in arrays else None
    _refuse_copies(path, truth, _moments(draws) if data is None else data)
    return Samples(truth, draws, data, _names(path, arrays, truth.shape[1]))


def _arrays(path: Path) -> dict[str, ndarray]:
    """Return all arrays, once their number and size are known to be what is expected."""
    expected = "arrays truth and draws in a file of numpy.savez"
    content = read_bytes(path, expected, largest=LARGEST)
    try:
        arrays = array_files.parse(content, str(path), largest=LARGEST)
    except BadInput as error:
        raise BadInput(error.where, error.found, f"{error.expected}: {expected}") from error
    for name in arrays:
        if name not in _NAMES:
            raise unknown_key(str(path), name, _NAMES)
    return arrays


def _check_type(path: Path, name: str, array: ndarray) -> None:
    if array.dtype.kind not in "fiu":
        raise BadInput(f"{path}: {name}", f"values of {array.dtype}", "numbers")


def _numbers(path: Path, arrays: dict[str, Any], name: str) -> Float[ndarray, "..."]:
    values = arrays[name].astype(np.float64)
    if not np.isfinite(values).all():
        raise BadInput(f"{path}: {name}", "a value that is not finite", "finite numbers")
    return values


def _check_shapes(path: Path, truth: ndarray, draws: ndarray) -> None:
    if truth.ndim != 2 or not 1 <= truth.shape[1] <= MOST_PARAMETERS:
        expected = f"shape (case, parameter), at most {MOST_PARAMETERS} parameters"
        raise BadInput(f"{path}: truth", f"shape {truth.shape}", expected)
    if draws.ndim != 3 or draws.shape[::2] != truth.shape:
        expected = f"shape ({len(truth)}, draw, {truth.shape[1]}), as truth has it"
        raise BadInput(f"{path}: draws", f"shape {draws.shape}", expected)
    cases, count = draws.shape[:2]
    if cases > MOST_CASES or draws.size > MOST_NUMBERS:
        expected = f"at most {MOST_CASES} cases, and {MOST_NUMBERS} numbers in all"
        raise BadInput(f"{path}: draws", f"shape {draws.shape}", expected)
    if cases < FEWEST_CASES or count < FEWEST_DRAWS:
        expected = f"{FEWEST_CASES} cases of {FEWEST_DRAWS} draws or more"
        raise BadInput(f"{path}: draws", f"{cases} cases of {count} draws", expected)


def _check_data(path: Path, data: ndarray, cases: int) -> None:
    if data.ndim != 2 or len(data) != cases or not 0 < data.size <= MOST_NUMBERS:
        expected = f"shape ({cases}, value), and at most {MOST_NUMBERS} numbers in all"
        raise BadInput(f"{path}: data", f"shape {data.shape}", expected)


def _moments(draws: Float[ndarray, "case draw parameter"]) -> Float[ndarray, "case moment"]:
    return np.hstack((draws.mean(1), draws.std(1)))


def _refuse_copies(
    path: Path, truth: Float[ndarray, "case parameter"], seen: Float[ndarray, "case value"]
) -> None:
    """Refuse cases that count twice, as of files that share a seed or were joined to themselves.

    Numbers are compared in single precision. Cases of whole numbers alone may well agree.

    Args:
        seen: The data of each case, or what its posterior says.
    """
    rows = np.hstack((truth, seen))
    _, exponents = np.frexp(np.abs(rows).max(0))
    single = np.ldexp(rows, -exponents).astype(np.float32)[(rows % 1.0 != 0.0).any(1)]
    again = len(single) - len(np.unique(single + np.float32(0.0), axis=0))
    if again > MOST_COPIES * len(rows):
        found = f"{again} of {len(rows)} cases that are copies of others"
        raise BadInput(f"{path}: truth", found, "each case once, simulated with a seed of its own")


def _names(path: Path, arrays: dict[str, Any], count: int) -> tuple[str, ...]:
    if "names" not in arrays:
        return tuple(f"parameter {number}" for number in range(count))
    found = arrays["names"]
    if found.dtype.kind != "U" or found.shape != (count,) or found.dtype.itemsize > _LONGEST:
        what = f"{found.dtype} of shape {found.shape}"
        raise BadInput(
            f"{path}: names", what, f"text of shape ({count},), at most <U{_LONGEST // 4}"
        )
    try:
        names = tuple(str(name) for name in found)
    except SystemError as error:
        raise BadInput(f"{path}: names", "a character that is none", "text") from error
    if len(set(names)) < count or not all(
        name.isprintable() and 0 < len(name) <= LONGEST_NAME for name in names
    ):
        expected = f"different names of 1 to {LONGEST_NAME} printable characters"
        raise BadInput(f"{path}: names", repr(names), expected)
    return names
