"""Strokes of the arm at an angle that is given, played by the agent on the simulated table."""

from dataclasses import dataclass

import numpy as np

from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.segmentation import PUSH
from ricochet.models.systems.air_hockey.shots.angle_policies import Better, Ranked
from ricochet.models.systems.air_hockey.shots.objective import Opposed
from ricochet.models.systems.air_hockey.simulator import STEP, Disturbance, Episode
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext, StrikePlan

STILL = Disturbance(airflow=0.0, position_noise=0.0)
LONGEST = 150  # periods until the strike


@dataclass(frozen=True)
class Fixed:
    """Plays one angle."""

    angle: float

    def reset(self) -> None:
        """Do nothing."""

    def choose(
        self, state: np.ndarray, *, near: float | None, opposed: Opposed | None = None
    ) -> float | None:
        """Return the angle."""
        return self.angle

    def better_angle(
        self, states: np.ndarray, *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        """Return none."""
        return None

    def rank(self, states: np.ndarray, opposed: Opposed | None = None) -> Ranked:
        """Return the same at all times."""
        return Ranked(np.full(len(states), self.angle), np.zeros(len(states)))


@dataclass(frozen=True)
class Played:
    """A stroke.

    Attributes:
        plan: As it was shortly before the contact.
        normal: Unit vector from the mallet to the puck at the touch.
        pushing: Speed of the mallet along it, `PUSH` after the touch, m/s.
        launch: That of the puck when the mallet has left it, m/s.
    """

    plan: StrikePlan
    normal: np.ndarray
    pushing: float
    launch: float


def play(
    modes: PuckModes, strokes: Strokes, place: np.ndarray, angle: float, *, seed: int = 0
) -> Played | None:
    """Strike a puck at rest, in still air and seen without noise; None if that comes to nothing."""
    agent = ShootingAgent(StrikeContext(modes, strokes, Fixed(angle)))
    episode, seen = simulator.reset(
        simulator.build(),
        puck=np.append(place, (0.0, 0.0)),
        disturbance=STILL,
        draw=np.random.default_rng(seed),
    )
    for _ in range(LONGEST):
        seen = simulator.step(episode, agent.draw_action(seen))
        if agent.strike_plans and _passed(episode):
            return _measured(episode, agent.strike_plans[0])
    return None


def _passed(episode: Episode) -> bool:
    """Return whether the mallet has touched the puck and left it for longer than a period."""
    touched = ["mallet" in each for each in episode.touches]
    return any(touched) and not any(touched[-21:])


def _measured(episode: Episode, plan: StrikePlan) -> Played:
    """Measure a stroke in the record of its episode."""
    touched = np.array(["mallet" in each for each in episode.touches])
    trace, first = np.array(episode.trace), int(touched.argmax())
    normal = trace[first - 1, :2] - trace[first - 1, 6:8]
    normal /= np.linalg.norm(normal)
    middle, last = first - 1 + round(PUSH / STEP), first + int(touched[first:].argmin())
    velocity = (trace[middle + 1, 6:8] - trace[middle - 1, 6:8]) / (2.0 * STEP)
    return Played(plan, normal, float(velocity @ normal), float(trace[last, 3:5] @ normal))
