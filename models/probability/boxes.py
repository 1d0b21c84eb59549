"""The uniform density on an axis-aligned box: p(x) = 1 / prod_i (high_i - low_i) inside, 0 outside.

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

    @property
    def volume(self) -> float:
        """Product of the sides."""
        return math.prod(high - low for low, high in zip(self.low, self.high, strict=True))


def bounds(
    box: Box, *, dtype: torch.dtype = torch.float64
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Return the lower and the upper corner as tensors.

    Args:
        box: The box.
        dtype: Precision of the result.

    Returns:
        Lower and upper corner, in the units of the parameters.
    """
    return torch.tensor(box.low, dtype=dtype), torch.tensor(box.high, dtype=dtype)


def sample(
    box: Box,
    shape: tuple[int, ...],
    *,
    draw: torch.Generator,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "*batch n"]:
    """Draw points uniformly in the box.

    Args:
        box: The box.
        shape: Shape of the batch.
        draw: Source of randomness.
        dtype: Precision of the result.

    Returns:
        Points, in the units of the parameters.
    """
    low, high = bounds(box, dtype=dtype)
    fraction = torch.rand((*shape, box.dimension), generator=draw, dtype=dtype)
    return low + fraction * (high - low)


def contains(box: Box, points: Float[Tensor, "*batch n"]) -> Bool[Tensor, "*batch"]:
    """Tell which points lie in the closed box.

    Args:
        box: The box.
        points: Points, in the units of the parameters.

    Returns:
        True where every coordinate lies within its bounds; NaN is outside.
    """
    low, high = bounds(box, dtype=points.dtype)
    return ((points >= low) & (points <= high)).all(-1)


def log_density(box: Box, points: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch"]:
    """Evaluate the log of the uniform density.

    Args:
        box: The box.
        points: Points, in the units of the parameters.

    Returns:
        Minus the log of the volume inside, minus infinity outside.
    """
    outside = torch.full(points.shape[:-1], -math.inf, dtype=points.dtype)
    return torch.where(contains(box, points), -math.log(box.volume), outside)


def axes(box: Box, counts: tuple[int, ...]) -> tuple[Float[Tensor, " point"], ...]:
    """Return the midpoints of equal cells along each side.

    Args:
        box: The box.
        counts: Number of cells along each side.

    Returns:
        One axis a parameter; the midpoint rule over their product integrates functions on the box.
    """
    return tuple(
        low + (torch.arange(count, dtype=torch.float64) + 0.5) * ((high - low) / count)
        for low, high, count in zip(box.low, box.high, counts, strict=True)
    )
