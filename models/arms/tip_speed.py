r"""How fast the tip of an arm can move along a direction: Eq. 13 of Jankowski et al., smoothly.

"Energy-based Contact Planning under Uncertainty for Robot Air Hockey", section IV-B. With J the
tip's Jacobian (3 x n), l the joints' speed limits and e a unit direction in the table's plane,

    v* = max  e . J dq    such that  J dq  is parallel to e  and  |dq_k| <= l_k.

The joint speeds that solve this linear programme jump as a posture changes. `smooth` replaces the
largest ratio by a p-norm,

    dq = argmin  sum_k |dq_k / l_k|^p  such that  J dq = e,

by weighted least squares repeated, w_k <- w_k^(1-t) |dq_k / l_k|^(t (2-p)) with t = 1 / (p - 1),
and scales it so that the busiest joint is at its limit; as p grows this is v*. p = 2 is the
weighted pseudo-inverse.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

_TINY = 1e-9
_STEPS = 12
_HEAVIEST = 1e12
"""Largest weight of a joint to another's: more leaves too few digits to solve with."""


@dataclass(frozen=True)
class TipMotion:
    """A straight motion of the tip: its speed, m/s, and the joint speeds that give it, rad/s."""

    speed: Float[ndarray, "*batch"]
    joint_speeds: Float[ndarray, "*batch n"]


def smooth(
    jacobian: Float[ndarray, "*batch 3 n"],
    direction: Float[ndarray, "*batch 3"],
    *,
    limits: Float[ndarray, " n"],
    power: float,
) -> TipMotion:
    """Return a fast straight motion, never above v*, whose joint speeds change smoothly with J.

    Args:
        jacobian: Velocity of the tip per joint speed, m/rad, of full rank.
        direction: Unit vector e.
        limits: Largest joint speeds, rad/s.
        power: p, at least 2.

    >>> jacobian = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> along_x, limits = np.array([1.0, 0.0, 0.0]), np.ones(4)
    >>> round(float(smooth(jacobian, along_x, limits=limits, power=8.0).speed), 3)  # of two joints
    2.0
    """
    scaled = jacobian * limits
    idle = np.linalg.norm(scaled, axis=-2, keepdims=True) < _TINY
    scaled = np.where(idle, 0.0, scaled)  # else its weight would grow without end
    target, turn = direction[..., None], 1.0 / (power - 1.0)
    weights = np.ones(scaled.shape[:-2] + scaled.shape[-1:])
    for _ in range(_STEPS):
        ratios = _weighted(scaled, target, weights)
        size = np.abs(ratios) / np.abs(ratios).max(-1, keepdims=True)
        wanted = np.minimum(np.maximum(size, 1e-2) ** (2.0 - power), _HEAVIEST)
        weights = weights ** (1.0 - turn) * wanted**turn
        weights = weights / weights.min(-1, keepdims=True)
    ratios = _weighted(scaled, target, weights)
    busiest = np.abs(ratios).max(-1, keepdims=True)
    return TipMotion(np.asarray(1.0 / busiest[..., 0]), limits * ratios / busiest)


def _weighted(
    scaled: Float[ndarray, "*batch 3 n"],
    target: Float[ndarray, "*batch 3 1"],
    weights: Float[ndarray, "*batch n"],
) -> Float[ndarray, "*batch n"]:
    """Return the least ratios dq_k / l_k, weighted, that move the tip by the target."""
    spread = scaled * weights[..., None, :]
    multiplier = np.linalg.solve(spread @ np.swapaxes(scaled, -1, -2), target)
    return (np.swapaxes(spread, -1, -2) @ multiplier)[..., 0]
