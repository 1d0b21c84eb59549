"""A mixture density network evaluated by numpy and scipy, from the arrays of `density_arrays`.

    input_centre, input_scale (input,)   of the inputs x
    weight_K (member, in, out), bias_K (member, 1, out)   layers with SiLU between them
    y_centre, y_scale (n,), box (2, n)   of the targets y, and the prior's bounds

These are what `mixture_density_networks.ConditionalDensity` is made of, and the same equations.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special

from ricochet.models.probability.mixture_arrays import MixtureArrays

SD_RANGE = (-6.0, 3.0)
"""Of the logarithm of a component's deviation, in units of the targets' scale."""

Arrays = Mapping[str, ndarray]


def mixtures(
    arrays: Arrays,
    values: Float[ndarray, "case input"],
    location: Float[ndarray, "case n"],
    scale: Float[ndarray, "case n"],
) -> MixtureArrays:
    """Return the mixture of each case, members averaged, in the parameters' units.

    Args:
        location, scale: Of the coordinates y = asinh((theta - location) / scale).

    >>> one, zero = np.ones(1), np.zeros(1)
    >>> arrays = {"input_centre": zero, "input_scale": one, "y_centre": zero, "y_scale": one}
    >>> arrays |= {"weight_0": np.ones((2, 1, 3)), "bias_0": np.zeros((2, 1, 3))}
    >>> arrays["box"] = np.array([[0.0], [1.0]])
    >>> mixtures(arrays, np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1))).mean.shape
    (1, 2, 1)
    """
    scaled = ((values - arrays["input_centre"]) / arrays["input_scale"]).astype(np.float32)
    out = forward(arrays, scaled).astype(np.float64)  # (member, case, output)
    n = len(arrays["y_centre"])
    components = out.shape[-1] // size(n)
    ends = np.cumsum([components, components * n, components * n])
    logits, mean, spread, slope = np.split(out, ends, axis=-1)
    shape = (*out.shape[:-1], components)
    lower = np.zeros((*shape, n, n))
    rows, columns = np.tril_indices(n, -1)
    ratio = arrays["y_scale"][rows] / arrays["y_scale"][columns]
    lower[..., rows, columns] = slope.reshape(*shape, -1) * ratio
    sd = arrays["y_scale"] * np.exp(soft_clip(spread.reshape(*shape, n)))
    log_weights = special.log_softmax(logits, axis=-1) - np.log(len(out))
    centre = arrays["y_centre"] + arrays["y_scale"] * mean.reshape(*shape, n)
    corners = np.arcsinh((arrays["box"][:, None] - location) / scale)
    return MixtureArrays(
        log_weights=_merged(log_weights),
        mean=_merged(centre),
        sd=_merged(sd),
        slope=_merged(lower),
        low=corners.min(0),
        high=corners.max(0),
        location=location,
        scale=scale,
    )


def forward(
    arrays: Arrays, inputs: Float[ndarray, "case input"]
) -> Float[ndarray, "member case output"]:
    """Return the outputs of every member's layers.

    >>> layer = {"weight_0": np.ones((4, 3, 2)), "bias_0": np.ones((4, 1, 2))}
    >>> forward(layer, np.ones((5, 3))).shape
    (4, 5, 2)
    """
    hidden, last = inputs, depth(arrays) - 1
    for index in range(last + 1):
        hidden = hidden @ arrays[f"weight_{index}"] + arrays[f"bias_{index}"]
        if index < last:
            hidden = hidden * special.expit(hidden)
    return hidden


def depth(arrays: Arrays) -> int:
    """Return the number of layers.

    >>> depth({"weight_0": np.ones(1), "bias_0": np.ones(1)})
    1
    """
    return sum(name.startswith("weight_") for name in arrays)


def size(n: int) -> int:
    """Return the outputs of a component: a weight, n means, n spreads, n (n - 1) / 2 slopes.

    >>> size(2)
    6
    """
    return 1 + 2 * n + n * (n - 1) // 2


def soft_clip(value: Float[ndarray, "*any"]) -> Float[ndarray, "*any"]:
    """Return numbers within `SD_RANGE`.

    >>> soft_clip(np.array([-1e3, -1.5, 1e3])).tolist()
    [-6.0, -1.5, 3.0]
    """
    low, high = SD_RANGE
    return low + (high - low) * special.expit((value - 0.5 * (low + high)) * 4.0 / (high - low))


def _merged(values: ndarray) -> ndarray:
    """Take the members' axis, the first, into that of the components, the third."""
    moved = np.moveaxis(values, 0, 1)
    return moved.reshape(len(moved), -1, *values.shape[3:])
