"""Steps of Adam along directions that need not be a gradient's, each coordinate by its own size.

Source: Kingma and Ba 2015.
"""

import torch
from jaxtyping import Float
from torch import Tensor

_MEAN, _SQUARE, _NIL = 0.9, 0.999, 1e-12


class Adam:
    """Moments of the directions so far.

    >>> adam = Adam(torch.zeros(2))
    >>> adam.step(torch.tensor([5.0, -0.1]), rate=0.01)
    tensor([ 0.0100, -0.0100])
    """

    def __init__(self, like: Float[Tensor, "*shape"]) -> None:
        """Start with none."""
        self._mean, self._square = torch.zeros_like(like), torch.zeros_like(like)
        self._count = 0

    def step(self, direction: Float[Tensor, "*shape"], rate: float) -> Float[Tensor, "*shape"]:
        """Return a step of about a rate in each coordinate."""
        self._count += 1
        self._mean = _MEAN * self._mean + (1.0 - _MEAN) * direction
        self._square = _SQUARE * self._square + (1.0 - _SQUARE) * direction.square()
        mean = self._mean / (1.0 - _MEAN**self._count)
        square = self._square / (1.0 - _SQUARE**self._count)
        return rate * mean / (square.sqrt() + _NIL)
