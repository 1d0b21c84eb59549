r"""Postures in which the mallet can be fast: ascent of its speed in the arm's null space.

With f(q, e) = min |dq / l|_p such that J dq = e (`tip_speed.smooth`) the speed is about 1 / f.
Where dq is that minimum and lambda its multiplier, J^T lambda = grad_dq |dq / l|_p, the envelope
theorem gives

    df / dq_m = -lambda . (dJ / dq_m) dq,     dJ_k / dq_m = a_min(k,m) x J_max(k,m),

with a_k the axes: two running sums over the chain. A grid of contacts (mallet's x, y and shooting
angle) climbs together; each posture is pulled towards its neighbours, so that neighbouring contacts
have neighbouring postures; away from the limits of joints and links; and towards the home posture,
counted in the time of travel. Which elbow is taken depends on the start: all grow out of one
posture. Every step stays in the null space, and Newton's method brings the tip back to its point.
Joint angles are in rad, places in m.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines, tip_speed
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits

POWER = 20.0
"""p of the joint speeds: 0.97 of v* in postures that climbed by it."""
START = iiwa.HOME + np.array((-0.3, 0.2, 0.5, 0.3, -0.2, 0.2, 0.0))
"""The elbow to one side; at home the arm is in a plane, from where both sides are uphill."""
_LIKENESS, _TRAVEL, _HEIGHT, _RANGE = 0.6, 0.5, 200.0, 10.0
_RATE, _KEPT = 0.04, 0.9


def climb(
    points: Float[ndarray, "*grid 3"],
    directions: Float[ndarray, "*grid 3"],
    *,
    limits: Limits,
    start: Float[ndarray, " 7"] = START,
    steps: int = 400,
    progress: Callable[[int], None] = lambda step: None,
) -> Float[ndarray, "*grid 7"]:
    """Return postures of high speed along unit vectors that change smoothly over a grid."""
    joints = np.broadcast_to(start, (*points.shape[:-1], 7))
    joints = splines.seek(joints, points, steps=20)
    mean, size = np.zeros_like(joints), np.zeros_like(joints[..., :1])
    for step in range(steps):
        slope = _uphill(joints, directions, limits)
        mean = _KEPT * mean + (1.0 - _KEPT) * slope
        size = 0.98 * size + 0.02 * (slope * slope).mean(-1, keepdims=True)
        joints = joints + _RATE * (1.0 - step / steps) * mean / (np.sqrt(size) + 1e-3)
        joints = splines.seek(joints, points, steps=1)
        progress(step + 1)
    return splines.seek(joints, points)


def speed_slope(
    joints: Float[ndarray, "*batch 7"],
    direction: Float[ndarray, "*batch 3"],
    *,
    limits: Float[ndarray, " 7"],
    power: float = POWER,
) -> tuple[Float[ndarray, "*batch"], Float[ndarray, "*batch 7"]]:
    """Return 1 / f and its gradient, m/s and m/s per rad, for a unit vector and limits in rad/s."""
    pose = iiwa.pose(joints)
    found = tip_speed.smooth(pose.jacobian, direction, limits=limits, power=power)
    speeds = found.joint_speeds / found.speed[..., None]
    ratios = speeds / limits
    norm = (np.abs(ratios) ** power).sum(-1, keepdims=True) ** (1.0 / power)
    pull = np.sign(ratios) * np.abs(ratios / norm) ** (power - 1.0) / limits
    columns = np.swapaxes(pose.jacobian, -1, -2)
    multiplier = np.linalg.solve(pose.jacobian @ columns, pose.jacobian @ pull[..., None])
    turning = np.cumsum(speeds[..., None] * pose.axes, -2)
    moving = np.cumsum((speeds[..., None] * columns)[..., ::-1, :], -2)[..., ::-1, :]
    beyond = np.concatenate((moving[..., 1:, :], np.zeros_like(moving[..., :1, :])), -2)
    change = np.cross(turning, columns) + np.cross(pose.axes, beyond)
    return 1.0 / norm[..., 0], (change @ multiplier)[..., 0] / norm**2


def _uphill(
    joints: Float[ndarray, "*grid 7"], directions: Float[ndarray, "*grid 3"], limits: Limits
) -> Float[ndarray, "*grid 7"]:
    """Return the way up in the null space."""
    _, slope = speed_slope(joints, directions, limits=limits.joint_speed)
    slope = slope + _LIKENESS * _towards_neighbours(joints) - _TRAVEL * _from_home(joints, limits)
    slope = slope + _clear(joints, limits)
    jacobian = iiwa.pose(joints).jacobian
    columns = np.swapaxes(jacobian, -1, -2)
    square = jacobian @ columns + 1e-8 * np.eye(3)
    slope = slope - (columns @ np.linalg.solve(square, jacobian @ slope[..., None]))[..., 0]
    slope[..., 6] = 0.0
    return slope


def _towards_neighbours(joints: Float[ndarray, "*grid 7"]) -> Float[ndarray, "*grid 7"]:
    """Return the sum of the differences to all neighbours."""
    pull = np.zeros_like(joints)
    for axis in range(joints.ndim - 1):
        step = np.diff(joints, axis=axis)
        before = [slice(None)] * axis + [slice(None, -1)]
        behind = [slice(None)] * axis + [slice(1, None)]
        pull[tuple(before)] += step
        pull[tuple(behind)] -= step
    return pull


def _from_home(joints: Float[ndarray, "*grid 7"], limits: Limits) -> Float[ndarray, "*grid 7"]:
    """Return the gradient of the 4-norm of the joints' times of travel from home."""
    time = (joints - iiwa.HOME) / limits.joint_speed
    time[..., 6] = 0.0
    norm = (time**4).sum(-1, keepdims=True) ** 0.25 + 1e-9
    return (time / norm) ** 3 / limits.joint_speed


def _clear(joints: Float[ndarray, "*grid 7"], limits: Limits) -> Float[ndarray, "*grid 7"]:
    """Return the push away from the limits of links, 3.5 cm before, and joints, 0.1 rad before."""
    _, link4, link7 = iiwa.places(joints)
    pushes = 0.0
    for height, slope in zip((link4, link7), iiwa.link_gradients(joints), strict=True):
        pushes = pushes + np.maximum(limits.link_height + 0.035 - height, 0.0)[..., None] * slope
    over = np.maximum(np.abs(joints) - limits.joint_range + 0.1, 0.0) * np.sign(joints)
    return _HEIGHT * pushes - _RANGE * over
