"""Where a paddle may meet a ball, and what a controller asks of the robot.

The robot's plane is x = x_R (Figure 4 of Matl et al., STReSSD); the paddle is a disc in it, its
centre at (y, z). A controller answers a bounce with a `MotionTarget`: be there within so long. It
does not know the arm: the robot refuses a target outside `Workspace.y` or `Workspace.z`; limits
reject and never clamp. A target that is not finite cannot be made.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

HALF_TABLE = 0.275
"""Half the side of the table, m; its middle is the origin and its surface z = 0."""
CUP_DISTANCE = 8.6 * 0.0254
"""From the foot of the tilted table to the cup's axis along the floor, m (Section 4.3)."""
FIRST_MOVE = 0.3
"""Time for the move after a first bounce, s, about one flight; the paper gives none."""


@dataclass(frozen=True)
class Workspace:
    """The part of the robot's plane that the paddle's centre can reach.

    Attributes:
        x: Place of the plane, m.
        y, z: Lowest and highest of the paddle's centre, m.
        paddle_radius: A disc of 4.5 inches, m.
        home: Where the paddle waits, (y, z), m; its lower edge just clears the table's height.
    """

    x: float = 0.30
    y: tuple[float, float] = (-0.35, 0.35)
    z: tuple[float, float] = (0.0, 0.50)
    paddle_radius: float = 0.05715
    home: tuple[float, float] = (0.0, 0.06)

    def __post_init__(self) -> None:
        """Refuse bounds that span no area, a paddle without size, a home outside."""
        numbers = (self.x, *self.y, *self.z, self.paddle_radius, *self.home)
        if not all(math.isfinite(number) for number in numbers):
            raise ValueError(f"workspace: every number must be finite, got {numbers}")
        for name, (low, high) in (("y", self.y), ("z", self.z)):
            if not low < high:
                raise ValueError(f"workspace: {name} needs low < high, got {low} and {high}")
        if not self.paddle_radius > 0.0:
            raise ValueError(f"workspace: paddle_radius must be positive, got {self.paddle_radius}")
        if not contains(self, *self.home):
            raise ValueError(f"workspace: home must lie within y and z, got {self.home}")


@dataclass(frozen=True)
class MotionTarget:
    """What a controller wants: be at (y, z) on the plane within a time.

    Attributes:
        issued: When the target was made, s in the stream's clock.
        y: Where to be, m.
        z: Height at which to be, m; None keeps the present height.
        duration: Time within which to be there, s after `issued`; positive.
        reason: Why, in one line, for the record.
    """

    issued: float
    y: float
    z: float | None
    duration: float
    reason: str

    def __post_init__(self) -> None:
        """Refuse a target that is not finite, or that is due before it is made."""
        height = 0.0 if self.z is None else self.z
        if not all(math.isfinite(n) for n in (self.issued, self.y, height, self.duration)):
            raise ValueError(f"target: every number must be finite, got {self}")
        if not self.duration > 0.0:
            raise ValueError(f"target: duration must be positive, got {self.duration}")


def contains(workspace: Workspace, y: float, z: float) -> bool:
    """Tell whether the paddle's centre can be at (y, z), m: within closed bounds, NaN outside."""
    (left, right), (bottom, top) = workspace.y, workspace.z
    return left <= y <= right and bottom <= z <= top


def passes_edge(landing: Float[ndarray, "axis ball"], plane: float) -> Bool[ndarray, " ball"]:
    """Tell which flights that land at (x, y), m, do so beyond the far edge, and meet the plane."""
    x, y = landing[0], landing[1]
    return np.asarray((x > HALF_TABLE) & ((x >= plane) | (np.abs(y) <= HALF_TABLE)))


def clearance(workspace: Workspace, place: tuple[float, float, float]) -> float:
    """Return how far a thing, m, stands from all places of the paddle; 0 where it is struck."""
    x, y, z = place
    (left, right), (bottom, top) = workspace.y, workspace.z
    aside, above = max(left - y, 0.0, y - right), max(bottom - z, 0.0, z - top)
    beyond = max(math.hypot(aside, above) - workspace.paddle_radius, 0.0)
    return math.hypot(x - workspace.x, beyond)
