"""One trial: an object on the table, a camera, a belief or the truth, a policy and a bat.

Passes are counted as Table I of Fu et al. counts them: the centre of mass comes within delta of
the goal between two frames, and must have left before it can pass again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.agent import Agent
from ricochet.models.systems.batting.belief import first_flight
from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.belief.particles import Cloud
from ricochet.models.systems.batting.planning.policies import Policy, View
from ricochet.models.systems.batting.table import CAMERA_PERIOD, DISTANCES
from ricochet.models.systems.batting.world import World, paper_world

SHOWN = 1000  # particles of a frame, at most twice as many


@dataclass
class Passes:
    """Counts passes of the goal for each distance of Table I."""

    counts: Int[ndarray, " distance"] = field(
        default_factory=lambda: np.zeros(len(DISTANCES), np.int64)
    )
    armed: ndarray = field(default_factory=lambda: np.ones(len(DISTANCES), bool))

    def add(self, closest: float, distance: float) -> None:
        """Take the closest approach since the last frame and the distance now, m."""
        passed = self.armed & (closest < DISTANCES)
        self.counts += passed
        self.armed = (self.armed & ~passed) | (distance > DISTANCES)


@dataclass(frozen=True)
class Frame:
    """What a film shows of one instant: the truth, the bat, the particles and the passes so far."""

    time: float
    state: Float[ndarray, " 6"]
    kind: int
    angle: float
    cloud: Cloud
    reading: Float[ndarray, " 2"]
    passes: Int[ndarray, " distance"]
    look: bool


@dataclass(frozen=True)
class Trial:
    """Of one trial.

    Attributes:
        passes: For each distance of Table I.
        bats, looks: Impacts with the bat, and bats for information.
        plan_times, update_times: Of decisions and of the filter, s.
        errors: Distance of the belief's mean from the centre of mass at each second, m.
    """

    passes: Int[ndarray, " distance"]
    bats: int
    looks: int
    plan_times: Float[ndarray, " plan"]
    update_times: Float[ndarray, " update"]
    errors: Float[ndarray, " second"]


@dataclass(frozen=True)
class Start:
    """How a trial begins; the same for all rows.

    Attributes:
        state, kind: Of the object.
        world: The true one, with the noise of its impacts.
        screen: Standard normal numbers for the readings.
    """

    state: Float[ndarray, " 6"]
    kind: int
    world: World
    screen: Float[ndarray, "frame 2"]


def random_start(seed: int, number: int, seconds: float, screen_noise: float) -> Start:
    """Return the start of a trial of a study: the object anywhere, at up to 1.5 m/s and rad/s."""
    draw = np.random.default_rng([seed, number])
    world = paper_world(draw, 2**14)
    world = world._replace(table=world.table._replace(screen_noise=screen_noise))
    cloud = first_flight.uniform(1, 0.0, world, draw)
    frames = round(seconds / CAMERA_PERIOD)
    return Start(cloud.states[0], int(cloud.kinds[0]), world, draw.standard_normal((frames, 2)))


def run(
    start: Start,
    policy: Policy,
    settings: FilterSettings | None,
    planned: World,
    draw: np.random.Generator,
    watch: Callable[[Frame], None] | None = None,
) -> Trial:
    """Play a trial.

    Args:
        start: The object, the true world and the noise of its readings; its length is theirs.
        policy: Of the bat.
        settings: Of the filter; None: the policy knows the state.
        planned: The world as the filter and the policy believe it to be.
        draw: Random numbers of the filter and the policy.
        watch: Is shown each frame.
    """
    agent = Agent(policy, FilterSettings() if settings is None else settings, planned, draw)
    stage = _Stage(start, agent, settings is None)
    for frame in range(len(start.screen)):
        stage.advance(frame, watch)
    return Trial(
        stage.passes.counts,
        int(stage.counts[0, 2]),
        agent.looks,
        np.array(agent.plan_times),
        np.array(agent.update_times),
        np.array(stage.errors),
    )


class _Stage:
    """The object, the bat and the passes between two frames."""

    def __init__(self, start: Start, agent: Agent, known: bool) -> None:
        self.start, self.agent, self.known = start, agent, known
        self.states, self.kinds = start.state[None].copy(), np.array([start.kind])
        self.counts, self.passes = np.zeros((1, 3), np.int64), Passes()
        self.angle = 0.0
        self.errors: list[float] = []

    def advance(self, frame: int, watch: Callable[[Frame], None] | None) -> None:
        """Show the object to the agent, and move it and the bat to the next frame."""
        world, now = self.start.world, frame * CAMERA_PERIOD
        exact = clouds.readings(self.states, self.kinds, world)[0]
        reading = exact + world.table.screen_noise * self.start.screen[frame]
        cloud = Cloud(self.states.copy(), self.kinds, np.zeros(1))
        if self.known:
            self.agent.decide(View(now, self.angle, cloud))
        else:
            cloud = self.agent.see(now, reading, self.angle) or cloud
        if frame % round(1.0 / CAMERA_PERIOD) == 0:
            mean = cloud.weights @ cloud.states[:, :2]
            self.errors.append(float(np.hypot(*(mean - self.states[0, :2]))))
        if watch is not None:
            watch(self._frame(now, cloud, reading))
        self._move(now)

    def _frame(self, now: float, cloud: Cloud, reading: Float[ndarray, " 2"]) -> Frame:
        """Return what is shown, with copies of some particles; the filter moves its own."""
        passes = self.passes.counts.copy()
        some = slice(None, None, max(1, len(cloud.kinds) // SHOWN))
        held = Cloud(
            *(each[some].copy() for each in (cloud.states, cloud.kinds, cloud.log_weights))
        )
        state, kind = self.states[0].copy(), int(self.kinds[0])
        return Frame(now, state, kind, self.angle, held, reading, passes, self.agent.look)

    def _move(self, now: float) -> None:
        world, after = self.start.world, self.agent.target(now + CAMERA_PERIOD)
        rate = (after - self.angle) / CAMERA_PERIOD
        closest = clouds.move(
            self.states, self.kinds, (self.angle, rate), CAMERA_PERIOD, world, self.counts
        )
        self.angle = after
        goal = np.array([world.table.goal_x, world.table.goal_y])
        distance = float(np.hypot(*(self.states[0, :2] - goal)))
        self.passes.add(float(np.sqrt(closest[0])), distance)
