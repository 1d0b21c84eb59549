"""Shots on the simulated table: pucks from a grid, an agent at 50 Hz, and what came of each.

The grid lies in front of the robot where the 2023 Robot Air Hockey Challenge places its pucks; the
stated disturbance then moves them. `task_starts` are those of its own tasks (`challenge_tasks`). An
opponent may be in goal (`opponent.scripts`). Shot i of a seed has the same puck, airflow and noise
whoever plays it. Shots are jobs of their own, so their numbers do not depend on how many processors
share the work; step times are of meaning only where nothing else runs.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey import shot_outcome, simulator
from ricochet.models.systems.air_hockey.challenge_tasks import LONGEST, TASKS
from ricochet.models.systems.air_hockey.interface import PERIOD, Agent
from ricochet.models.systems.air_hockey.opponent import scripts
from ricochet.models.systems.air_hockey.shot_outcome import Outcome
from ricochet.models.systems.air_hockey.simulator import Disturbance, Episode, World
from ricochet.models.systems.air_hockey.strike_plan import StrikePlan
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.systems.air_hockey.validation.results import Shot

GRID = ((-0.70, -0.20), (-0.39105, 0.39105))
"""Where pucks start: x and y in the table's frame, m."""
STREAM, OPPONENT_STREAM, START_STREAM = 60, 61, 62
"""Of randomness: what disturbs shots is drawn apart from what trainings and audits draw."""


@dataclass(frozen=True)
class Start:
    """How a shot begins.

    Attributes:
        puck: x and y, m, velocity, m/s, and spin, rad/s, if it has any.
        seed: Of airflow, noise, and opponent.
        opponent: One of `opponent.scripts.NAMES`.
        task: One of `challenge_tasks.TASKS`.
    """

    puck: tuple[float, ...]
    seed: tuple[int, int]
    opponent: str = "none"
    task: str = "hit"


@dataclass(frozen=True)
class Job:
    """A shot to be played, as a journal finds it.

    Attributes:
        player: What decides how it is played: an agent of other code, packages or settings has
            another, so that a journal does not hold its shots.
    """

    start: Start
    disturbance: Disturbance
    player: str = ""


@dataclass(frozen=True)
class Played:
    """One shot played.

    Attributes:
        steps: Time of the agent in each period, s, to the microsecond.
        strike_plans: The agent's strikes as planned shortly before the contact.
        succeeded: By the rule of its task; in hitting, a goal that touches the posts counts.
    """

    start: Start
    outcome: Outcome
    steps: tuple[float, ...]
    faults: tuple[str, ...]
    strike_plans: tuple[StrikePlan, ...]
    succeeded: bool = False

    @property
    def first_shot(self) -> StrikePlan | None:
        """The first strike that was to score; None if there was none."""
        return next((plan for plan in self.strike_plans if plan.is_shot), None)

    @property
    def shot(self) -> Shot:
        """The row that a gate counts."""
        speed = self.outcome.speed_at_line
        return Shot(
            self.outcome.scored,
            speed if math.isfinite(speed) else 0.0,
            self.outcome.banks,
            len(self.outcome.violations),
        )


def starts(count: int, *, seed: int) -> tuple[Start, ...]:
    """Return pucks at rest at the points of a grid, in an order drawn from the seed.

    A square number of them fills the grid, others leave gaps.
    """
    side = math.ceil(math.sqrt(count))
    axes = [low + (high - low) * (np.arange(side) + 0.5) / side for low, high in GRID]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    chosen = np.random.default_rng(seed).permutation(len(points))[:count]
    return tuple(
        Start((float(x), float(y), 0.0, 0.0), (seed, number))
        for number, (x, y) in enumerate(points[chosen])
    )


def task_starts(task: str, count: int, *, seed: int, opponent: str = "none") -> tuple[Start, ...]:
    """Return pucks as a task of the challenge starts them, with an opponent of a name."""
    return tuple(
        Start(
            tuple(TASKS[task].start(np.random.default_rng((seed, number, START_STREAM))).tolist()),
            (seed, number),
            opponent,
            task,
        )
        for number in range(count)
    )


def play_one(
    agent: Agent, start: Start, disturbance: Disturbance, *, world: World | None = None
) -> tuple[Played, Episode]:
    """Play one shot; return what came of it, and its record.

    The agent is reset first and does not know the disturbance.
    """
    draw = np.random.default_rng((*start.seed, STREAM))
    opponent = scripts.make(start.opponent, np.random.default_rng((*start.seed, OPPONENT_STREAM)))
    episode, seen = simulator.reset(
        world or simulator.build(),
        puck=np.array(start.puck),
        disturbance=disturbance,
        draw=draw,
        opponent=opponent,
    )
    agent.reset()
    steps: list[float] = []
    task = TASKS[start.task]
    while len(steps) * PERIOD < LONGEST and not shot_outcome.over(episode, task):
        began = time.perf_counter()
        command = agent.draw_action(seen)
        steps.append(round(time.perf_counter() - began, 6))
        seen = simulator.step(episode, command)
    played = Played(
        start,
        shot_outcome.outcome(episode),
        tuple(steps),
        tuple(getattr(agent, "faults", ())),
        tuple(getattr(agent, "strike_plans", ())),
        task.succeeded(episode.trace[-1]),
    )
    return played, episode


def play_all(
    make: Callable[[], Agent],
    begun: Sequence[Start],
    disturbance: Disturbance,
    *,
    progress: Progress = no_progress,
    workers: int | None = None,
    journal: Journal[Played] | None = None,
    player: str = "",
) -> list[Played]:
    """Play shots in parallel; return what came of each, in order.

    Args:
        make: Makes the agent; must be picklable by reference, with what it holds.
        workers: Processes; one for each processor when absent, none but this one for 1.
        journal: Holds shots that were played before, which are not played again.
        player: What marks the agent in the journal.

    Raises:
        ValueError: There is a journal and no mark.
    """
    if journal is not None and not player:
        raise ValueError("player: must be given with a journal")
    jobs = [Job(start, disturbance, player) for start in begun]
    work = partial(_play, make)
    return run_all(work, jobs, workers=workers, journal=journal, progress=progress)


def _play(make: Callable[[], Agent], job: Job) -> Played:
    return play_one(make(), job.start, job.disturbance)[0]
