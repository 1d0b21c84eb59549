r"""The energy of a shooting angle for a puck: low where a shot is good.

A network of two hidden layers in single precision,

    E(s, u) = w_3 . r(W_2 r(W_1 z + b_1) + b_2),    z = ((s, u) - location) / scale,
    r(x) = max(x, 0),

of which numpy alone is needed to evaluate it (`energy_training` finds the weights). s is the state
of the puck at contact in m, m/s, m/s^2, u the shooting angle in rad. The state's share of the first
layer is the same for all angles that are tried for one puck and is computed once (`landscape`). A
constant added to E changes no choice, so there is no last offset.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. IV-C.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float, Float32
from numpy import ndarray

from ricochet.models.core.named_arrays import take

STATE = 6
"""Numbers of a puck's state."""


@dataclass(frozen=True, eq=False)
class Energy:
    """The network.

    Attributes:
        location, scale: Of the inputs: x, y, vx, vy, ax, ay and angle; m, m/s, m/s^2, rad.
        first, second: W_1 and W_2, an input a row, with offsets b_1 and b_2.
        last: w_3.
    """

    location: Float32[ndarray, " input"]
    scale: Float32[ndarray, " input"]
    first: Float32[ndarray, "input hidden"]
    first_offset: Float32[ndarray, " hidden"]
    second: Float32[ndarray, "hidden hidden"]
    second_offset: Float32[ndarray, " hidden"]
    last: Float32[ndarray, " hidden"]


def evaluate(
    energy: Energy, states: Float[ndarray, "*batch 6"], angles: Float[ndarray, "*batch"]
) -> Float32[ndarray, "*batch"]:
    """Return the energies of angles, each for its own state."""
    inputs = np.concatenate((states, angles[..., None]), -1)
    scaled = ((inputs - energy.location) / energy.scale).astype(np.float32)
    return _from_first(energy, scaled @ energy.first + energy.first_offset)


def landscape(
    energy: Energy, state: Float[ndarray, " 6"], angles: Float[ndarray, " angle"]
) -> Float32[ndarray, " angle"]:
    """Return the energies of angles for one state."""
    location, scale = energy.location, energy.scale
    here = ((state - location[:STATE]) / scale[:STATE]).astype(np.float32)
    shared = here @ energy.first[:STATE] + energy.first_offset
    angle = ((angles - location[STATE]) / scale[STATE]).astype(np.float32)
    first = np.multiply.outer(angle, energy.first[STATE])
    first += shared
    return _from_first(energy, first)


def to_arrays(energy: Energy) -> dict[str, ndarray]:
    """Return the network as named arrays."""
    return {field.name: getattr(energy, field.name) for field in fields(Energy)}


def from_arrays(arrays: Mapping[str, ndarray]) -> Energy:
    """Return the network of named arrays, as `to_arrays` gives them; refuse others."""
    hidden = np.size(arrays.get("last", 0))
    shapes: dict[str, tuple[int, ...]] = {
        "last": (hidden,),
        "location": (STATE + 1,),
        "scale": (STATE + 1,),
        "first": (STATE + 1, hidden),
        "first_offset": (hidden,),
        "second": (hidden, hidden),
        "second_offset": (hidden,),
    }
    single = {name: take(arrays, name, shape, dtype=np.float32) for name, shape in shapes.items()}
    energy = Energy(**single)
    if not (energy.scale > 0.0).all():
        raise ValueError(f"scale: must be positive, got {energy.scale.tolist()}")
    return energy


def _from_first(
    energy: Energy, first: Float32[ndarray, "*batch hidden"]
) -> Float32[ndarray, "*batch"]:
    """Return the energies given what enters the first layer, which is overwritten."""
    np.maximum(first, 0.0, out=first)
    second = first @ energy.second
    second += energy.second_offset
    np.maximum(second, 0.0, out=second)
    return second @ energy.last
