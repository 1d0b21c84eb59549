"""The interface of every robot arm with a paddle, simulated or real.

An arm holds a disc upright in the robot's plane, facing the table, and moves its centre to points
of that plane. It never repairs a request: a target that is not finite, not in the workspace or out
of reach is refused in one line and the arm goes on as before. Nothing here is safety-rated.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace, contains

Point = tuple[float, float, float]
Joints = tuple[float, float, float, float, float, float]

_PLANE_TOLERANCE = 1e-6  # m, how far off the robot's plane a target may be
LONGEST_MOTION = 10.0  # s


@dataclass(frozen=True)
class ArmState:
    """Where an arm is and what it has spent.

    Attributes:
        time: The arm's clock, s.
        joints: Joint angles, rad.
        joint_speeds: Joint speeds, rad/s.
        paddle: Centre of the paddle, m.
        paddle_velocity: Its velocity, m/s.
        energy: Integral of |v|^2 / 2 over time since the start, J s/kg: the paddle's kinetic
            energy, normalised by its mass and integrated (Matl et al., section 4.4).
        stamp: The robot's own time of this report, s; None where it states none.
    """

    time: float
    joints: Joints
    joint_speeds: Joints
    paddle: Point
    paddle_velocity: Point
    energy: float = 0.0
    stamp: float | None = None


@dataclass(frozen=True)
class Refusal:
    """Why an arm does not move, or no longer does; `str` is the one line.

    Attributes:
        what: What was asked for, or what failed.
        found: What is there.
        expected: What should be there.
    """

    what: str
    found: str
    expected: str

    def __str__(self) -> str:
        """Return the line."""
        return f"{self.what}: found {self.found}, expected {self.expected}"


class Arm(Protocol):
    """An arm that carries a paddle.

    Attributes:
        workspace: The part of the robot's plane that targets may lie in.
        exclusive: Whether it is one device that two processes must not share.
    """

    workspace: Workspace
    exclusive: bool

    def state(self) -> ArmState:
        """Return where the arm is now."""
        ...

    def move(self, point: Point, duration: float) -> Refusal | None:
        """Turn to a new target at once, from whatever motion is under way.

        Args:
            point: Where the paddle's centre should be, m; it must lie in the workspace.
            duration: Time it may take, s; longer when joint limits demand it.

        Returns:
            Nothing, or why the arm goes on as if it had not been asked.
        """
        ...

    def advance(self, seconds: float) -> Refusal | None:
        """Let seconds pass: a simulated arm computes them, a real one is steered and watched.

        Returns:
            Nothing, or why the arm has stopped.
        """
        ...

    def stop(self) -> None:
        """Come to rest as fast as is gentle, and stay."""
        ...

    def close(self) -> None:
        """Stop and let the device go; may be called twice."""
        ...


def refuse_target(point: Point, duration: float, workspace: Workspace) -> Refusal | None:
    """Check what any arm is asked before anything moves; return what is wrong with the target.

    Args:
        point: Where the paddle's centre should be, m.
        duration: Time it may take, s.
    """
    if len(point) != 3 or not all(math.isfinite(number) for number in point):
        return Refusal("target", str(tuple(point)), "three finite numbers, m")
    if not 0.0 < duration <= LONGEST_MOTION:
        return Refusal("duration", f"{duration} s", f"more than 0 and at most {LONGEST_MOTION} s")
    x, y, z = point
    if abs(x - workspace.x) > _PLANE_TOLERANCE:
        return Refusal("target x", f"{x:.4f} m", f"the robot's plane at {workspace.x:.4f} m")
    if not contains(workspace, y, z):
        (left, right), (low, high) = workspace.y, workspace.z
        expected = f"y in [{left}, {right}] m, z in [{low}, {high}] m"
        return Refusal("target (y, z)", f"({y:.4f}, {z:.4f}) m", expected)
    return None
