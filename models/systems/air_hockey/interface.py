"""What agents of the 2023 Robot Air Hockey Challenge observe and command, once a control period.

An observation is 23 numbers in the robot's frame: puck x, y and yaw, m and rad, with their rates;
joint positions, rad, and low-passed joint speeds, rad/s; x, y and height of the tip of the
opponent's rod, m. A command is the
joints' positions and speeds at the end of the coming period, shape (2, 7).
"""

from typing import Protocol, runtime_checkable

from jaxtyping import Float
from numpy import ndarray

PERIOD = 0.02  # s
SIZE = 23
PUCK, JOINTS, JOINT_SPEEDS, OPPONENT = slice(0, 6), slice(6, 13), slice(13, 20), slice(20, 22)
"""Where they stand in an observation."""


@runtime_checkable
class Agent(Protocol):
    """What the challenge calls an agent."""

    def reset(self) -> None:
        """Begin an episode."""

    def draw_action(self, observation: Float[ndarray, " 23"]) -> Float[ndarray, "2 7"]:
        """Return the joints' positions and speeds at the end of the coming 20 ms."""
