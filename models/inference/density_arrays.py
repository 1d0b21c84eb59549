"""A mixture density network as plain arrays, for a file format without code in it."""

import numpy as np
import torch
from numpy import ndarray

from ricochet.models.inference import density_evaluation
from ricochet.models.inference.feed_forward import Layers
from ricochet.models.inference.mixture_density_networks import ConditionalDensity
from ricochet.models.probability import boxes
from ricochet.models.probability.boxes import Box


def to_arrays(density: ConditionalDensity) -> dict[str, ndarray]:
    """Return the density's arrays by name.

    >>> one, layers = torch.ones(1), Layers((torch.ones(2, 1, 3),), (torch.ones(2, 1, 3),))
    >>> sorted(to_arrays(ConditionalDensity(Box((0.0,), (1.0,)), layers, one, one, one, one)))
    ['bias_0', 'box', 'input_centre', 'input_scale', 'weight_0', 'y_centre', 'y_scale']
    """
    tensors = {
        "input_centre": density.input_centre,
        "input_scale": density.input_scale,
        "y_centre": density.y_centre,
        "y_scale": density.y_scale,
        "box": torch.stack(boxes.bounds(density.box)),
    }
    for index, (weight, bias) in enumerate(
        zip(density.layers.weights, density.layers.biases, strict=True)
    ):
        tensors[f"weight_{index}"], tensors[f"bias_{index}"] = weight, bias
    return {name: tensor.numpy().copy() for name, tensor in tensors.items()}


def from_arrays(arrays: dict[str, ndarray]) -> ConditionalDensity:
    """Rebuild a density from the arrays of `to_arrays`, equal bit for bit; refuse missing ones.

    >>> one, layers = torch.ones(1), Layers((torch.ones(2, 1, 3),), (torch.ones(2, 1, 3),))
    >>> density = ConditionalDensity(Box((0.0,), (1.0,)), layers, one, one, one, one)
    >>> from_arrays(to_arrays(density)).box
    Box(low=(0.0,), high=(1.0,))
    """
    depth = density_evaluation.depth(arrays)
    needed = {"input_centre", "input_scale", "y_centre", "y_scale", "box", "weight_0"}
    needed |= {f"bias_{index}" for index in range(depth)}
    if missing := needed - arrays.keys():
        raise ValueError(f"arrays: missing {sorted(missing)}")
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
    layers = Layers(
        tuple(tensors[f"weight_{index}"] for index in range(depth)),
        tuple(tensors[f"bias_{index}"] for index in range(depth)),
    )
    low, high = tensors["box"].tolist()
    names = ("input_centre", "input_scale", "y_centre", "y_scale")
    return ConditionalDensity(
        Box(tuple(low), tuple(high)), layers, *(tensors[name] for name in names)
    )
