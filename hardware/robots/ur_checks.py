"""What is checked of a UR5 with a paddle, before and while it moves; each check returns a fault."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.robots.paddle_arm import Joints, Point, Refusal
from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

BOUND = 0.05  # rad, by which a joint may lie off what it was sent
MOVED = 0.02  # rad, by which joints that are sent must move in the reports too
SETTLING = 1.0  # s, in which a robot that was stopped comes to rest
BRAKING = 0.3  # s, for which it may go on at its speed: from 2 m/s at 5 m/s^2 it goes 0.4 m
REACH = 0.25  # m, of `ur5.spread` at the workspace's corners; 0.35 where the base stands by design
RUNNING, NORMAL, REDUCED = 7, 1, 2  # robot mode; safety modes in which it may move


def unable(robot: Any) -> Refusal | None:
    """Tell whether the robot can move at all, by what its RTDE receiver says."""
    if not robot.isConnected():
        return Refusal("connection", "lost", "a connection to the robot")
    if robot.isEmergencyStopped() or robot.isProtectiveStopped():
        kind = "emergency" if robot.isEmergencyStopped() else "protective"
        return Refusal("safety", f"{kind} stop", "a robot that is free to move")
    if robot.getRobotMode() != RUNNING or robot.getSafetyMode() not in (NORMAL, REDUCED):
        found = f"robot mode {robot.getRobotMode()}, safety mode {robot.getSafetyMode()}"
        return Refusal("mode", found, f"robot mode {RUNNING}, safety mode {NORMAL}")
    if not np.isfinite(robot.getActualQ()).all():
        return Refusal("joints", str(robot.getActualQ()), "six finite angles")
    if not np.isfinite(robot.getActualQd()).all():
        return Refusal("joint speeds", str(robot.getActualQd()), "six finite speeds")
    return None


def beyond_limits(
    joints: Float[ndarray, "6"],
    speeds: Float[ndarray, "6"],
    *,
    last: Float[ndarray, "6"],
    elapsed: float,
) -> Refusal | None:
    """Check the very angles, rad, that would be sent so long, s, after the last ones."""
    step = np.abs(joints - last).max() / elapsed
    fastest = max(float(np.abs(speeds).max()), float(step))
    if not (fastest <= ur5.JOINT_SPEED and (np.abs(joints) <= ur5.JOINT_RANGE).all()):
        found = f"{joints.round(3).tolist()} rad at {fastest:.2f} rad/s"
        return Refusal("joints to send", found, "within +-2 pi rad and pi rad/s")
    return None


def astray(
    joints: Sequence[float], sent: Sequence[Float[ndarray, "6"]], *, time: float
) -> Refusal | None:
    """Tell whether joints, rad, are outside the range of what they were sent lately."""
    lowest, highest, here = np.min(sent, axis=0), np.max(sent, axis=0), np.array(joints)
    off = float(np.maximum(lowest - here, here - highest).max())
    if off <= BOUND:
        return None
    found = f"a joint {off:.3f} rad off what it was sent, at {time:.3f} s"
    return Refusal("robot does not follow", found, f"at most {BOUND} rad")


def frozen(seen: Sequence[Sequence[float]], sent: Sequence[Float[ndarray, "6"]]) -> Refusal | None:
    """Tell whether reported joints, rad, stand still to the last bit while others were sent."""
    sent_far = float(np.ptp(sent, axis=0).max())
    if len(set(map(tuple, seen))) > 1 or sent_far <= MOVED:
        return None
    found = f"the same in {len(seen)} reports while a joint was sent {sent_far:.3f} rad far"
    return Refusal("reported joints", found, "joints that move")


def out_of_reach(base: Point, workspace: Workspace) -> Refusal | None:
    """Refuse a base, m, from which the arm cannot hold the paddle all over the workspace."""
    corners = [(workspace.x, y, z) for y in workspace.y for z in workspace.z]
    joints = ur5.inverse(np.subtract(corners, np.subtract(base, ur5.BASE)))
    if (ur5.spread(joints) >= REACH).all():
        return None
    expected = f"one with the workspace in easy reach, such as {ur5.BASE}"
    return Refusal("base", f"{tuple(base)} m", expected)


class RestWatch:
    """Whether a robot that is to rest does, and brakes before that."""

    def __init__(self) -> None:
        """Expect rest at once, wherever that is."""
        self._since = -math.inf
        self._joints: Joints | None = None
        self._within = BOUND

    def begin(self, joints: Joints, speeds: Joints, *, time: float) -> None:
        """Expect joints, rad, to go no further than they must from their speeds, rad/s.

        They rest `SETTLING` after the time, s.
        """
        self._since, self._joints = time + SETTLING, joints
        self._within = BOUND + BRAKING * max(map(abs, speeds))

    def check(self, joints: Joints, *, time: float) -> Refusal | None:
        """Tell whether joints, rad, leave the place where they come to rest."""
        if time >= self._since:  # from here on they stay where they are
            self._since, self._joints, self._within = math.inf, joints, BOUND
        off = float(np.abs(np.subtract(joints, self._joints or joints)).max())
        if off <= self._within:
            return None
        found, expected = f"a joint {off:.3f} rad off", f"at most {self._within:.3g} rad"
        return Refusal("robot moves unasked", found, expected)
