r"""How fast a mallet can move along a direction: Eq. 13 of Jankowski et al., exactly and smoothly.

"Energy-based Contact Planning under Uncertainty for Robot Air Hockey", section IV-B. With J the
tip's Jacobian (3 x n), l the joints' speed limits and e a unit direction in the table's plane,

    v* = max  e . J dq    such that  J dq  is parallel to e  and  |dq_k| <= l_k.

Its dual has two unknowns: v* = min over lambda with lambda . e = 1 of  sum_k l_k |J_k . lambda|,
convex and piecewise linear, so its minimum lies where two columns vanish, lambda ~ J_i x J_j: a
minimum over n (n - 1) / 2 candidates. Complementary slackness gives the joint speeds: each joint
with J_k . lambda not zero runs at its limit, the others solve what is left.

These speeds jump as a posture changes. `smooth` replaces the largest ratio by a p-norm,

    dq = argmin  sum_k |dq_k / l_k|^p  such that  J dq = e,

by weighted least squares repeated, w_k <- w_k^(1-t) |dq_k / l_k|^(t (2-p)) with t = 1 / (p - 1),
and scales it so that the busiest joint is at its limit; as p grows this is v*. p = 2 is the
weighted pseudo-inverse.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

TINY = 1e-9
_STEPS = 12
_HEAVIEST = 1e12
"""Largest weight of a joint to another's: more leaves too few digits to solve with."""


@dataclass(frozen=True)
class Fastest:
    """The fastest straight motion.

    Attributes:
        speed: m/s; 0 where the direction is out of reach.
        joint_speeds: That give it, rad/s.
        price: lambda: change of speed per change of what J dq must be, times -1, in the plane
            across e; its component along e is 1.
    """

    speed: Float[ndarray, "*batch"]
    joint_speeds: Float[ndarray, "*batch n"]
    price: Float[ndarray, "*batch 3"]


def fastest(
    jacobian: Float[ndarray, "*batch 3 n"],
    direction: Float[ndarray, "*batch 3"],
    *,
    limits: Float[ndarray, " n"],
) -> Fastest:
    """Solve Eq. 13 exactly.

    Args:
        jacobian: Velocity of the tip per joint speed, m/rad.
        direction: Unit vector e.
        limits: Largest joint speeds, rad/s.
    """
    first, second = np.array(list(combinations(range(jacobian.shape[-1]), 2))).T
    nudged = _nudge(jacobian)
    columns = np.swapaxes(nudged, -1, -2)
    across = np.cross(columns[..., first, :], columns[..., second, :])
    along = (across * direction[..., None, :]).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        prices = across / along[..., None]
        bounds = (limits * np.abs(prices @ nudged)).sum(-1)
    bounds = np.where(np.abs(along) > TINY, bounds, np.inf)
    best = bounds.argmin(-1)
    price = np.take_along_axis(prices, best[..., None, None], -2)[..., 0, :]
    free = np.stack((first[best], second[best]), -1)
    worth = (price[..., None, :] @ nudged)[..., 0, :]
    signs = np.where(np.abs(worth) > 1e-15, np.sign(worth), 0.0)
    speeds = _slack(jacobian, direction, limits, signs, free)
    speed = ((jacobian @ speeds[..., None])[..., 0] * direction).sum(-1)
    return Fastest(speed, speeds, price)


def _nudge(jacobian: Float[ndarray, "*batch 3 n"]) -> Float[ndarray, "*batch 3 n"]:
    """Break ties by a fixed relative change of 1e-9.

    They are the rule here: joints whose axes meet in a point have columns in one plane, so more
    than two vanish together and slackness alone would not say how they share the work.
    """
    pattern = np.sin(1.0 + 2.3 * np.arange(3 * jacobian.shape[-1])).reshape(3, -1)
    return jacobian + 1e-9 * pattern * np.linalg.norm(jacobian, axis=-2, keepdims=True)


def _slack(
    jacobian: Float[ndarray, "*batch 3 n"],
    direction: Float[ndarray, "*batch 3"],
    limits: Float[ndarray, " n"],
    signs: Float[ndarray, "*batch n"],
    free: Int[ndarray, "*batch 2"],
) -> Float[ndarray, "*batch n"]:
    """Run all joints at their limits but two, which keep the motion parallel to e."""
    speeds = limits * signs
    np.put_along_axis(speeds, free, 0.0, -1)
    planes = np.linalg.svd(direction[..., None, :])[2][..., 1:, :]
    left = -(planes @ jacobian @ speeds[..., None])
    columns = np.take_along_axis(planes @ jacobian, free[..., None, :], -1)
    np.put_along_axis(speeds, free, np.linalg.solve(columns, left)[..., 0], -1)
    return speeds


def smooth(
    jacobian: Float[ndarray, "*batch 3 n"],
    direction: Float[ndarray, "*batch 3"],
    *,
    limits: Float[ndarray, " n"],
    power: float,
) -> Fastest:
    """Return a fast straight motion whose joint speeds change smoothly with the posture.

    Args:
        jacobian: Velocity of the tip per joint speed, m/rad, of full rank.
        direction: Unit vector e.
        limits: Largest joint speeds, rad/s.
        power: p, at least 2.

    Returns:
        A speed that never exceeds v*, with price the multiplier of J dq = e at unit p-norm.
    """
    scaled = jacobian * limits
    idle = np.linalg.norm(scaled, axis=-2, keepdims=True) < TINY
    scaled = np.where(idle, 0.0, scaled)  # else it would be weighed up without end
    target, turn = direction[..., None], 1.0 / (power - 1.0)
    weights = np.ones(scaled.shape[:-2] + scaled.shape[-1:])
    for _ in range(_STEPS):
        ratios, price = _weighted(scaled, target, weights)
        size = np.abs(ratios) / np.abs(ratios).max(-1, keepdims=True)
        wanted = np.minimum(np.maximum(size, 1e-2) ** (2.0 - power), _HEAVIEST)
        weights = weights ** (1.0 - turn) * wanted**turn
        weights = weights / weights.min(-1, keepdims=True)
    ratios, price = _weighted(scaled, target, weights)
    busiest = np.abs(ratios).max(-1, keepdims=True)
    speed = 1.0 / busiest[..., 0]
    return Fastest(speed, limits * ratios / busiest, price)


def _weighted(
    scaled: Float[ndarray, "*batch 3 n"],
    target: Float[ndarray, "*batch 3 1"],
    weights: Float[ndarray, "*batch n"],
) -> tuple[Float[ndarray, "*batch n"], Float[ndarray, "*batch 3"]]:
    spread = scaled * weights[..., None, :]
    price = np.linalg.solve(spread @ np.swapaxes(scaled, -1, -2), target)
    return (np.swapaxes(spread, -1, -2) @ price)[..., 0], price[..., 0]
