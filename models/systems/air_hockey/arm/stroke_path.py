r"""A stroke of the arm: a run-up through a start posture, the contact, and what follows it.

The contact fixes q_c and dq_c at the time T left. The start posture lies a time w before it, about
q_c - w dq_c / 2, from where dq_c is reached with steady acceleration; the run-up is the path of
least acceleration from now through it to the contact (`splines`), the tip kept at its height.
After the contact, which is soft and lasts 18-19 ms, the mallet goes on straight at its speed for
`HOLD` and then brakes steadily over `BRAKE`.

What limits a stroke (2023 Robot Air Hockey Challenge, public files): joint ranges and speeds, the
heights of links 4 and 7, the near rim and the two long rims for the mallet's centre; and the puck,
which the mallet must not touch before. `LimitUsage.peak` is the largest ratio of what a stroke uses
to what it may use: at most 1 is allowed.

Joint angles are in rad, speeds in rad/s, times in s; `joints` and `joint_speeds` are those at the
contact.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines
from ricochet.models.arms.splines import Path
from ricochet.models.systems.air_hockey.table import Table

HOLD, BRAKE = 0.03, 0.13  # s
PLANNED = 0.935
"""Share of the joints' true speed limits that is planned: 0.95 may be observed, and a moving puck
asks for a little more than was planned."""
_TABLE = Table()
_MARGIN = 0.006  # m, that strokes keep off the bounds of the mallet's centre
_SAMPLES = 13
_DIFFERENCE = 1e-4
_SHARES = np.linspace(0.0, 1.0, _SAMPLES)


@dataclass(frozen=True)
class Limits:
    """What a stroke may use, in the robot's frame.

    Attributes:
        joint_speed, acceleration: rad/s and rad/s^2.
        joint_range: Either way, rad.
        link_height: Least height of links 4 and 7, m.
        near: Least x of the mallet's centre, m.
        side: Largest |y| of it, m.
    """

    joint_speed: Float[ndarray, " 7"] = field(default_factory=lambda: PLANNED * iiwa.SPEED_LIMIT)
    acceleration: Float[ndarray, " 7"] = field(
        default_factory=lambda: 0.8 * iiwa.ACCELERATION_LIMIT
    )
    joint_range: Float[ndarray, " 7"] = field(
        default_factory=lambda: iiwa.USABLE * iiwa.JOINT_LIMIT - 0.02
    )
    link_height: float = iiwa.LINK_HEIGHT + 0.015
    near: float = _TABLE.mallet_front - _TABLE.robot_base[0] + _MARGIN
    side: float = _TABLE.mallet_side - _MARGIN


@dataclass(frozen=True)
class LimitUsage:
    """What paths use of the limits, as ratios that should not exceed 1.

    Attributes:
        speed, acceleration: Of the joints.
        clearance_use: One more than the largest intrusion, counted in centimetres (and hundredths
            of a radian), into what is forbidden to joints, links and mallet.
        effort: Mean square of the ratios of acceleration.
    """

    speed: Float[ndarray, "*batch"]
    acceleration: Float[ndarray, "*batch"]
    clearance_use: Float[ndarray, "*batch"]
    effort: Float[ndarray, "*batch"]

    def peak(self) -> Float[ndarray, "*batch"]:
        """Return the largest ratio."""
        return np.asarray(np.maximum(self.peak_without_acceleration(), self.acceleration))

    def peak_without_acceleration(self) -> Float[ndarray, "*batch"]:
        """Return the largest ratio of joint speed and of clearance."""
        return np.asarray(np.maximum(self.speed, self.clearance_use))


def start_posture(
    joints: Float[ndarray, "*#batch 7"],
    joint_speeds: Float[ndarray, "*#batch 7"],
    *,
    wind_up: Float[ndarray, "*#batch"],
) -> Float[ndarray, "*#batch 7"]:
    """Return the posture from which steady acceleration over `wind_up` leads to a contact."""
    return splines.level(joints - 0.5 * wind_up[..., None] * joint_speeds, steps=2)


def usage(path: Path, limits: Limits, *, is_stop: bool = False) -> LimitUsage:
    """Return what a run-up, or any path at the tip's height, uses of the limits.

    A path that ends in motion ends at a puck, which lies ahead of the mallet; the mallet keeps off
    it on the way, the more the earlier, since then the puck is elsewhere by a little. Every piece
    of the path is sampled alike.

    Args:
        is_stop: Whether the puck comes from behind, and nothing is kept off.
    """
    lengths = np.diff(path.times, axis=-1)
    ends = [
        values[..., part, None, :]
        for values in (path.points, path.speeds)
        for part in (slice(None, -1), slice(1, None))
    ]
    joints, _ = splines.cubic(ends, _SHARES, lengths[..., None] + 0.0 * _SHARES)
    times = path.times[..., :-1, None] + lengths[..., None] * _SHARES
    flat = (*path.times.shape[:-1], -1)
    joints = np.concatenate(
        (joints[..., 0, :1, :], joints[..., 1:, :].reshape(*flat, joints.shape[-1])), -2
    )
    times = np.concatenate((times[..., 0, :1], times[..., 1:].reshape(flat)), -1)
    joints = splines.level(joints)
    used = usage_of(joints, times, path.speeds[..., -1, :], limits)
    if is_stop:
        return used
    touch = _touch(path, joints, times)
    return replace(used, clearance_use=np.asarray(np.maximum(used.clearance_use, touch)))


def usage_after(
    joints: Float[ndarray, "*batch 7"], joint_speeds: Float[ndarray, "*batch 7"], limits: Limits
) -> LimitUsage:
    """Return what the time after a contact uses of the limits."""
    times = np.concatenate(((0.0, 0.5 * HOLD), HOLD + BRAKE * np.linspace(0.0, 1.0, 7)))
    way = follow(joints, joint_speeds, times)
    return usage_of(way, np.broadcast_to(times, way.shape[:-1]), 0.0 * joint_speeds, limits)


def follow(
    joints: Float[ndarray, "*batch 7"],
    joint_speeds: Float[ndarray, "*batch 7"],
    late: Float[ndarray, " time"],
) -> Float[ndarray, "*batch time 7"]:
    """Return the joint angles at times after a contact: straight on for `HOLD`, then braking."""
    early = late < HOLD
    ends = HOLD + _DIFFERENCE * np.array((0.0, 1.0, -1.0))
    way = _straight(joints, joint_speeds, np.concatenate((late[early], ends)))
    speeds = (way[..., -2, None, :] - way[..., -1, None, :]) / (2.0 * _DIFFERENCE)
    braking = np.minimum(late[~early] - HOLD, BRAKE)[:, None]
    run = braking * (1.0 - 0.5 * braking / BRAKE)
    result = np.empty((*joints.shape[:-1], len(late), joints.shape[-1]))
    result[..., early, :] = way[..., :-3, :]
    result[..., ~early, :] = splines.level(way[..., -3, None, :] + run * speeds)
    return result


def _straight(
    joints: Float[ndarray, "*batch 7"],
    joint_speeds: Float[ndarray, "*batch 7"],
    late: Float[ndarray, " time"],
) -> Float[ndarray, "*batch time 7"]:
    """Go on with the same joint speeds, kept on the mallet's line."""
    pose = iiwa.pose(joints)
    along = (pose.jacobian @ joint_speeds[..., None])[..., 0]
    angle = np.arctan2(along[..., 1], along[..., 0])
    across = np.zeros((*angle.shape, 1, 2, 3))
    across[..., 0, 0, 0], across[..., 0, 0, 1] = -np.sin(angle), np.cos(angle)
    across[..., 0, 1, 2] = 1.0
    near = joints[..., None, :] + late[:, None] * joint_speeds[..., None, :]
    return splines.seek(near, pose.tip[..., None, :], across=across, steps=3)


def usage_of(
    joints: Float[ndarray, "*batch sample 7"],
    times: Float[ndarray, "*batch sample"],
    last: Float[ndarray, "*batch 7"],
    limits: Limits,
) -> LimitUsage:
    """Return what samples of a path use of the limits, `last` being its joint speeds at the end."""
    steps = np.diff(times, axis=-1)[..., None]
    speeds = np.diff(joints, axis=-2) / steps
    gaps = 0.5 * np.concatenate((steps[..., 1:, :] + steps[..., :-1, :], steps[..., -1:, :]), -2)
    rates = np.concatenate((speeds, last[..., None, :]), -2)
    changes = np.diff(rates, axis=-2)
    ratios = np.abs(changes / gaps) / limits.acceleration
    effort = np.asarray((ratios**2 * gaps).sum((-1, -2)) / gaps.sum((-1, -2)))
    fast = np.asarray((np.abs(rates) / limits.joint_speed).max((-1, -2)))
    hard = np.asarray(ratios.max((-1, -2)))
    return LimitUsage(fast, hard, _clearance_use(joints, limits), effort)


def _touch(
    path: Path, joints: Float[ndarray, "*batch sample 7"], times: Float[ndarray, "*batch sample"]
) -> Float[ndarray, "*batch"]:
    """Return one more than the centimetres by which the mallet comes too near to the puck."""
    radius, end = _TABLE.contact_radius, iiwa.pose(path.points[..., -1, :])
    velocity = (end.jacobian @ path.speeds[..., -1, :, None])[..., :2, 0]
    speed = np.linalg.norm(velocity, axis=-1, keepdims=True)
    puck = end.tip[..., :2] + radius * velocity / np.maximum(speed, 1e-9)
    left = path.times[..., -1:] - times
    apart = np.linalg.norm(iiwa.tip(joints)[..., :2] - puck[..., None, :], axis=-1)
    least = radius - 1e-6 + np.minimum(0.4 * speed * left, 0.004 + 0.05 * left)
    return np.where(speed[..., 0] > 1e-6, 1.0 + 100.0 * (least - apart).max(-1), 0.0)


def _clearance_use(
    joints: Float[ndarray, "*batch sample 7"], limits: Limits
) -> Float[ndarray, "*batch"]:
    """Return one more than the largest intrusion of links, mallet (cm) and joints (0.01 rad)."""
    tip, elbow, link7 = iiwa.places(joints)
    worst = np.maximum(limits.link_height - np.minimum(elbow, link7), limits.near - tip[..., 0])
    worst = np.maximum(worst, np.abs(tip[..., 1]) - limits.side)
    turn = (np.abs(joints) - limits.joint_range).max(-1)
    return np.asarray(1.0 + 100.0 * np.maximum(worst, turn).max(-1))
