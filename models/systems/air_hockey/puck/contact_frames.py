"""Contact-aligned frames: normal n, tangent t, and the speeds that scale a contact's noise.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. III-A; that noise goes with the speeds is ours (`dynamics`).
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

LEAST_SLIDING = 0.2  # of the closing speed


def frames(normal: Float[ndarray, "*batch 2"]) -> Float[ndarray, "*batch 2 2"]:
    """Return the matrices with rows n and t, t being n turned left."""
    return np.stack((normal, left(normal)), axis=-2)


def sizes(against: Float[ndarray, "*batch 2"]) -> Float[ndarray, "*batch 2"]:
    """Return U's diagonal for a velocity (n, t) of two bodies against each other, m/s.

    A contact that does not slide has no noise of friction but for what spin may bring.
    """
    closing = np.abs(against[..., 0])
    return np.stack((closing, np.maximum(np.abs(against[..., 1]), LEAST_SLIDING * closing)), -1)


def applied(
    matrix: Float[ndarray, "*batch 2 2"], vector: Float[ndarray, "*batch 2"]
) -> Float[ndarray, "*batch 2"]:
    """Return matrix times vector."""
    return (matrix @ vector[..., None])[..., 0]


def left(vector: Float[ndarray, "*batch 2"]) -> Float[ndarray, "*batch 2"]:
    """Return vectors turned left by a quarter."""
    return np.stack((-vector[..., 1], vector[..., 0]), axis=-1)
