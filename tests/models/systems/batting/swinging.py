"""A planner that swings up and down, whatever is seen, for tests of the controller."""

import numpy as np

from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.planning.policies import Decision, View
from ricochet.models.systems.batting.world import World


class Swinging:
    """Swings up and down, whatever is seen."""

    def decide(self, view: View, world: World, draw: np.random.Generator) -> Decision | None:
        """Return a path from here to the upper end and back."""
        times, angles = np.array([0.0, 1.0, 2.0]), np.array([view.angle, 0.5, -0.5])
        return Decision(BatPath(times, angles))

    def interrupt(self) -> None:
        """Count how often it was put to rest."""
        self.interrupted = getattr(self, "interrupted", 0) + 1
