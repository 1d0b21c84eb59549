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


def forward(coordinates: Coordinates, x: Float[Tensor, "*#batch n"]) -> Float[Tensor, "*#batch n"]:
    """Return y, without unit, for x in the units of the location.

    >>> narrow = Coordinates(torch.tensor([0.8]), torch.tensor([0.01]))
    >>> [round(float(forward(narrow, torch.tensor([x]))), 3) for x in (0.8, 0.81, 1.8)]
    [0.0, 0.881, 5.298]
    """
    return torch.asinh((x - coordinates.location) / coordinates.scale)


def inverse(coordinates: Coordinates, y: Float[Tensor, "*#batch n"]) -> Float[Tensor, "*#batch n"]:
    """Return x for y.

    >>> narrow = Coordinates(torch.tensor([0.8]), torch.tensor([0.01]))
    >>> round(float(inverse(narrow, forward(narrow, torch.tensor([0.93])))), 3)
    0.93
    """
    return coordinates.location + coordinates.scale * torch.sinh(y)


def log_slope(coordinates: Coordinates, x: Float[Tensor, "*#batch n"]) -> Float[Tensor, "*#batch"]:
    """Return log |det dy/dx|, which turns a density of y into one of x.

    >>> narrow = Coordinates(torch.tensor([0.8]), torch.tensor([0.01]))
    >>> round(float(log_slope(narrow, torch.tensor([0.8]))), 3)  # -log(0.01)
    4.605
    """
    return -torch.hypot(coordinates.scale, x - coordinates.location).log().sum(-1)


def interval(
    coordinates: Coordinates, low: Float[Tensor, " n"], high: Float[Tensor, " n"]
) -> tuple[Float[Tensor, "*batch n"], Float[Tensor, "*batch n"]]:
    """Return the lower and the upper corner in y of the box from low to high.

    >>> mirrored = Coordinates(torch.tensor([0.8]), torch.tensor([-0.1]))
    >>> [round(float(y), 3) for y in interval(mirrored, torch.tensor([0.7]), torch.tensor([1.0]))]
    [-1.444, 0.881]
    """
    first, second = forward(coordinates, low), forward(coordinates, high)
    return torch.minimum(first, second), torch.maximum(first, second)
