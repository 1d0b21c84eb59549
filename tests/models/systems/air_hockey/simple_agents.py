"""Plain agents for tests: one that stays at home, one that strikes straight ahead."""

import numpy as np
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan
from tests.models.systems.air_hockey import simple_episodes


class Idle:
    """Stays at home."""

    faults: tuple[str, ...] = ()
    strike_plans: tuple[StrikePlan, ...] = ()

    def reset(self) -> None:
        self.steps = 0

    def draw_action(self, observation: ndarray) -> ndarray:
        self.steps += 1
        return np.stack((iiwa.HOME, np.zeros(7)))


class Straight(Idle):
    """Strikes straight ahead, then stays there."""

    commands = simple_episodes.straight(np.array((0.6, 0.0)), run_up=0.3, after=0.2)

    def draw_action(self, observation: ndarray) -> ndarray:
        self.steps += 1
        last = self.commands[min(self.steps, len(self.commands)) - 1].copy()
        last[1] *= self.steps <= len(self.commands)
        return last
