"""Small networks of one shape, trained side by side: linear layers with SiLU between them.

h_0 = x,    h_{i+1} = silu(h_i W_i + b_i),    output h_{n-1} W_n + b_n
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

_GAIN, _LAST_GAIN = 1.5, 0.1  # of a layer's weights, over the root of its inputs


@dataclass(frozen=True)
class Layers:
    """Weights W and biases b of all members, from the first layer to the output."""

    weights: tuple[Float[Tensor, "member _ _"], ...]
    biases: tuple[Float[Tensor, "member 1 _"], ...]


def init(sizes: Sequence[int], *, members: int, draw: torch.Generator) -> Layers:
    """Draw the weights of networks with these numbers of units, inputs first; no bias yet.

    >>> layers = init([3, 8, 2], members=4, draw=torch.Generator().manual_seed(0))
    >>> [tuple(weight.shape) for weight in layers.weights]
    [(4, 3, 8), (4, 8, 2)]
    """
    weights, biases = [], []
    for index, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
        gain = _LAST_GAIN if index == len(sizes) - 2 else _GAIN
        normal = torch.randn((members, fan_in, fan_out), generator=draw)
        weights.append(normal * (gain / math.sqrt(fan_in)))
        biases.append(torch.zeros(members, 1, fan_out))
    return Layers(tuple(weights), tuple(biases))


def forward(
    layers: Layers, inputs: Float[Tensor, "case input"]
) -> Float[Tensor, "member case output"]:
    """Return the outputs of every member.

    >>> layers = init([3, 8, 2], members=4, draw=torch.Generator().manual_seed(0))
    >>> tuple(forward(layers, torch.zeros(5, 3)).shape)
    (4, 5, 2)
    """
    hidden, last = inputs, len(layers.weights) - 1
    for index, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        hidden = hidden @ weight + bias
        if index < last:
            hidden = torch.nn.functional.silu(hidden)
    return hidden


def variables(layers: Layers) -> list[Tensor]:
    """Return what is trained, weights first; each requires a gradient from now on.

    >>> [v.requires_grad for v in variables(init([1, 1], members=1, draw=torch.Generator()))]
    [True, True]
    """
    return [each.requires_grad_() for each in (*layers.weights, *layers.biases)]


def copied(layers: Layers) -> Layers:
    """Return the layers as they are now, out of the reach of further training.

    >>> layers = init([1, 1], members=1, draw=torch.Generator())
    >>> copied(layers).weights[0] is layers.weights[0]
    False
    """
    return Layers(
        tuple(weight.detach().clone() for weight in layers.weights),
        tuple(bias.detach().clone() for bias in layers.biases),
    )


def chosen(first: Layers, second: Layers, where: Bool[Tensor, " member"]) -> Layers:
    """Return the first layers of some members and the second ones of the others.

    >>> one = init([1, 1], members=2, draw=torch.Generator().manual_seed(1))
    >>> two = init([1, 1], members=2, draw=torch.Generator().manual_seed(2))
    >>> mixed = chosen(one, two, torch.tensor([True, False])).weights[0].ravel().tolist()
    >>> mixed == [float(one.weights[0][0]), float(two.weights[0][1])]
    True
    """
    each = where[:, None, None]

    def choose(one: Tensor, other: Tensor) -> Tensor:
        return torch.where(each, one.detach(), other)

    return Layers(
        tuple(map(choose, first.weights, second.weights)),
        tuple(map(choose, first.biases, second.biases)),
    )
