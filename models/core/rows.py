"""Some rows of a record whose columns are tensors: the chosen drops, points or takes."""

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import torch
from numpy import ndarray
from torch import Tensor

T = TypeVar("T")
Chosen = Tensor | ndarray | slice


class Rows:
    """A dataclass of columns, one row a drop; what is no column stays as it is.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Noise(Rows):
    ...     time_sd: Tensor
    ...     names: tuple[str, ...]
    ...     unit: str = "s"
    >>> Noise(torch.tensor([1.0, 2.0, 3.0]), ("a", "b", "c")).rows(slice(1, None)).names
    ('b', 'c')
    """

    def rows(self: T, chosen: Chosen) -> T:
        """Return some of the rows, by a slice, a mask or their numbers."""
        index = torch.from_numpy(chosen) if isinstance(chosen, ndarray) else chosen
        some: T = _some(self, index)
        return some


def _some(value: Any, index: Tensor | slice) -> Any:
    if isinstance(value, Tensor):
        return value[index]
    if isinstance(value, tuple):
        return tuple(value[number] for number in torch.arange(len(value))[index].tolist())
    if is_dataclass(value) and not isinstance(value, type):
        columns = {each.name: _some(getattr(value, each.name), index) for each in fields(value)}
        return type(value)(**columns)
    return value
