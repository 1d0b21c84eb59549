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
    """Return one of some named arrays; refuse one missing, of another shape, or not finite.

    >>> take({"mean": np.array([1.0, 2.0])}, "mean", (2,))
    array([1., 2.])
    """
    if name not in arrays:
        raise ValueError(f"{name}: is missing")
    array = np.ascontiguousarray(arrays[name], dtype)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name}: must be finite and of shape {shape}, got {array.shape}")
    return array
