r"""Eq. 13 solved exactly: the oracle of `tip_speed.smooth`.

The dual of the linear programme has two unknowns: v* = min over lambda with lambda . e = 1 of
sum_k l_k |J_k . lambda|, convex and piecewise linear, so its minimum lies where two columns vanish,
lambda ~ J_i x J_j: a minimum over n (n - 1) / 2 candidates. Complementary slackness gives the joint
speeds: each joint with J_k . lambda not zero runs at its limit, the others solve what is left.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.arms.tip_speed import TipMotion

_TINY = 1e-9


def fastest(
    jacobian: Float[ndarray, "*batch 3 n"],
    direction: Float[ndarray, "*batch 3"],
    *,
    limits: Float[ndarray, " n"],
) -> TipMotion:
    """Solve Eq. 13 exactly, for the arguments of `tip_speed.smooth`."""
    first, second = np.array(list(combinations(range(jacobian.shape[-1]), 2))).T
    nudged = _nudge(jacobian)
    columns = np.swapaxes(nudged, -1, -2)
    across = np.cross(columns[..., first, :], columns[..., second, :])
    along = (across * direction[..., None, :]).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        prices = across / along[..., None]
        bounds = (limits * np.abs(prices @ nudged)).sum(-1)
    bounds = np.where(np.abs(along) > _TINY, bounds, np.inf)
    best = bounds.argmin(-1)
    price = np.take_along_axis(prices, best[..., None, None], -2)[..., 0, :]
    free = np.stack((first[best], second[best]), -1)
    worth = (price[..., None, :] @ nudged)[..., 0, :]
    signs = np.where(np.abs(worth) > 1e-15, np.sign(worth), 0.0)
    speeds = _slack(jacobian, direction, limits, signs, free)
    speed = ((jacobian @ speeds[..., None])[..., 0] * direction).sum(-1)
    return TipMotion(np.asarray(speed), speeds)


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
