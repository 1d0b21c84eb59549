"""A smooth coordinate that is fine near a place of interest and wide far from it.

    y_i = asinh((x_i - a_i) / b_i),    |dy_i / dx_i| = 1 / sqrt(b_i^2 + (x_i - a_i)^2)

with location a and scale b. Linear within a scale of the location, logarithmic beyond: a posterior
that is a million times narrower than its prior, or has an exponential flank, is smooth in y. A
negative scale mirrors.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Coordinates:
    """Location and signed scale of each coordinate, in the units of x."""

    location: Float[Tensor, "*batch n"]
    scale: Float[Tensor, "*batch n"]


def forward(coordinates: Coordinates, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Return y for x.

    Args:
        coordinates: Location and scale.
        x: Points, in the units of the location.

    Returns:
        The coordinates y, no unit.
    """
    return torch.asinh((x - coordinates.location) / coordinates.scale)


def inverse(coordinates: Coordinates, y: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Return x for y.

    Args:
        coordinates: Location and scale.
        y: Coordinates, no unit.

    Returns:
        Points in the units of the location.
    """
    return coordinates.location + coordinates.scale * torch.sinh(y)


def log_slope(coordinates: Coordinates, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch"]:
    """Return log |det dy/dx|, which turns a density of y into one of x.

    Args:
        coordinates: Location and scale.
        x: Points, in the units of the location.

    Returns:
        The log of the product of the slopes.
    """
    return -torch.hypot(coordinates.scale, x - coordinates.location).log().sum(-1)


def interval(
    coordinates: Coordinates, low: Float[Tensor, " n"], high: Float[Tensor, " n"]
) -> tuple[Float[Tensor, "*batch n"], Float[Tensor, "*batch n"]]:
    """Map a box: the image of each interval [low, high], in ascending order.

    Args:
        coordinates: Location and scale.
        low: Lower corner, in the units of the location.
        high: Upper corner.

    Returns:
        Lower and upper corner in y.
    """
    first, second = forward(coordinates, low), forward(coordinates, high)
    return torch.minimum(first, second), torch.maximum(first, second)
