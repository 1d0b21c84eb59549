"""The board with its camera and its bat, as a controller meets them.

Time goes on by `advance` alone. The camera sees both ends of the object's projection with normal
errors; the bat goes evenly to the angle that it was last commanded to, no faster than it can and
within its range, whatever was asked. What truly happens is for evaluation only.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.batting import board
from ricochet.hardware.twins.batting.board import Nature
from ricochet.hardware.twins.batting.touches import Play
from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.camera import project
from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import LARGEST_ANGLE, LARGEST_RATE, Table
from ricochet.models.systems.batting.trial import Passes
from ricochet.models.systems.batting.world import QUIET, World


class BattingRig:
    """An object of one of the shapes on the board, under a camera and above a bat.

    Attributes:
        passes: Of the goal, counted as Table I of Fu et al. counts them.
    """

    def __init__(
        self,
        kind: int,
        start: Float[ndarray, " 6"],
        draw: np.random.Generator,
        *,
        table: Table | None = None,
        nature: Nature | None = None,
    ) -> None:
        """Put an object there, with the bat at rest at angle 0.

        Args:
            kind: Which shape.
            start: x, y, angle, and their rates, SI.
            draw: Source of the camera's errors.
            table: With its camera.
            nature: Of the contacts.
        """
        table = table or Table()
        self._play = Play(board.scene(kind, nature, table=table), kind, start, bat.hold(0.0))
        self._world, self._kind = World(seven_shapes(), table, Law(), QUIET), kind
        self._draw, self.passes = draw, Passes()
        self._goal = np.array([table.goal_x, table.goal_y])

    @property
    def time(self) -> float:
        """Since the start, s."""
        return float(self._play.data.time)

    @property
    def angle(self) -> float:
        """Of the bat, rad."""
        return float(bat.angle_and_rate(self._play.path, self.time)[0])

    def reading(self) -> Float[ndarray, " 2"]:
        """Return lower and upper end of the projection on the screen, m."""
        noise = self._world.table.screen_noise * self._draw.standard_normal(2)
        return np.array(project(self._play.state, self._kind, self._world)) + noise

    def command(self, angle: float, duration: float) -> None:
        """Drive the bat evenly to an angle, rad, in a time, s; what is no number keeps it still."""
        now, before = self.time, self.angle
        if not math.isfinite(angle):
            angle = before
        most = LARGEST_RATE * duration
        after = min(max(angle, before - most), before + most)
        after = min(max(after, -LARGEST_ANGLE), LARGEST_ANGLE)
        self._play.path = BatPath(np.array([now, now + duration]), np.array([before, after]))

    def advance(self, duration: float) -> None:
        """Let time go on, s."""
        self._play.closest = np.inf
        self._play.run(duration)
        distance = float(np.hypot(*(self._play.state[:2] - self._goal)))
        self.passes.add(math.sqrt(self._play.closest), distance)

    def true_state(self) -> Float[ndarray, " 6"]:
        """Return x, y, angle and their rates, for evaluation."""
        return self._play.state

    def true_kind(self) -> int:
        """Return which shape it is, for evaluation."""
        return self._kind

    def true_bats(self) -> int:
        """Return how often the object struck the bat, for evaluation."""
        return sum(touch.steps[0].surface == board.BAT for touch in self._play.touches)
