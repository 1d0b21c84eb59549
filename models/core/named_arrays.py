"""Arrays that were stored under names, checked as they are read back."""

from collections.abc import Mapping

import numpy as np
from numpy import ndarray
from numpy.typing import DTypeLike


def take(
    arrays: Mapping[str, ndarray],
    name: str,
    shape: tuple[int, ...],
    *,
    dtype: DTypeLike = np.float64,
) -> ndarray:
    """Return one of some named arrays; refuse one missing, of another shape or type, or not finite.

    Shape and type come first: nothing is made of what is refused by them, however large it is.

    >>> take({"mean": np.array([1.0, 2.0])}, "mean", (2,))
    array([1., 2.])
    """
    if name not in arrays:
        raise ValueError(f"{name}: is missing")
    array = arrays[name]
    if array.shape != shape or array.dtype != dtype or not np.isfinite(array).all():
        wanted, found = f"{shape} and {np.dtype(dtype)}", f"{array.shape} and {array.dtype}"
        raise ValueError(f"{name}: must be finite and of shape {wanted}, got {found}")
    return np.ascontiguousarray(array)


def length(arrays: Mapping[str, ndarray], name: str, *, most: int) -> int:
    """Return how many numbers an array has; refuse more than there may be.

    >>> length({"share": np.array([0.4, 0.6])}, "share", most=9)
    2
    """
    count = int(np.size(arrays.get(name, 0)))
    if count > most:
        raise ValueError(f"{name}: must have at most {most} numbers, got {count}")
    return count
