"""An axis-aligned box of parameters and the uniform law on it.

It is the prior of every calibration here (Matl et al., Section 4.1).
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True)
class Box:
    """Lower and upper bounds of each parameter, in the parameter's own unit."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse bounds that span no volume."""
        if len(self.low) != len(self.high) or not self.low:
            raise ValueError(f"low and high: lengths {len(self.low)} and {len(self.high)}")
        for low, high in zip(self.low, self.high, strict=True):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ValueError(f"low and high: need finite low < high, got {low} and {high}")

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        return len(self.low)


def bounds(
    box: Box, *, dtype: torch.dtype = torch.float64
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Return the lower and the upper corner as tensors.

    >>> low, high = bounds(Box((0.5, 1.0), (0.9, 5.0)))
    >>> (high - low).tolist()
    [0.4, 4.0]
    """
    return torch.tensor(box.low, dtype=dtype), torch.tensor(box.high, dtype=dtype)


def sample(
    box: Box,
    shape: tuple[int, ...],
    *,
    draw: torch.Generator,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "*batch n"]:
    """Draw a batch of points uniformly in the box.

    >>> box = Box((0.5, 1.0), (0.9, 5.0))
    >>> points = sample(box, (100,), draw=torch.Generator().manual_seed(0))
    >>> tuple(points.shape), bool(contains(box, points).all())
    ((100, 2), True)
    """
    low, high = bounds(box, dtype=dtype)
    fraction = torch.rand((*shape, box.dimension), generator=draw, dtype=dtype)
    return low + fraction * (high - low)


def contains(box: Box, points: Float[Tensor, "*batch n"]) -> Bool[Tensor, "*batch"]:
    """Return which points lie in the closed box; NaN is outside.

    >>> contains(Box((0.0,), (1.0,)), torch.tensor([[1.0], [1.1], [torch.nan]])).tolist()
    [True, False, False]
    """
    low, high = bounds(box, dtype=points.dtype)
    return ((points >= low) & (points <= high)).all(-1)


def axes(box: Box, counts: tuple[int, ...]) -> tuple[Float[Tensor, " point"], ...]:
    """Return the midpoints of equal cells along each side, for the midpoint rule.

    >>> [axis.tolist() for axis in axes(Box((0.0, 1.0), (1.0, 5.0)), (2, 4))]
    [[0.25, 0.75], [1.5, 2.5, 3.5, 4.5]]
    """
    return tuple(
        low + (torch.arange(count, dtype=torch.float64) + 0.5) * ((high - low) / count)
        for low, high, count in zip(box.low, box.high, counts, strict=True)
    )
