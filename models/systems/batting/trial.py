"""One trial: an object on the table, a camera, a belief or the truth, a policy and a bat.

Passes are counted as Table I of Fu et al. counts them: the centre of mass comes within delta of
the goal between two frames, and must have left before it can pass again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.batting import bat, clouds
from ricochet.models.systems.batting.belief import first_flight, localiser
from ricochet.models.systems.batting.belief.localiser import Belief, FilterSettings
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
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
    """What a film shows of one instant: the truth, the bat, the particles and the passes."""

    time: float
    state: Float[ndarray, " 6"]
    kind: int
    angle: float
    cloud: Cloud
    reading: Float[ndarray, " 2"]
    passes: int
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
    delta: float,
    draw: np.random.Generator,
    watch: Callable[[Frame], None] | None = None,
) -> Trial:
    """Play a trial.

    Args:
        start: The object, the true world and the noise of its readings; its length is theirs.
        policy: Of the bat.
        settings: Of the filter; None: the policy is told the state.
        planned: The world as the filter and the policy believe it to be.
        delta: How near the goal a pass comes in what `watch` is shown, m.
        draw: Random numbers of the filter and the policy.
        watch: Is shown each frame.
    """
    stage = _Stage(start, policy, settings, planned, delta, draw)
    for frame in range(len(start.screen)):
        stage.advance(frame, watch)
    return Trial(
        stage.passes.counts,
        int(stage.counts[0, 2]),
        stage.looks,
        np.array(stage.plan_times),
        np.array(stage.update_times),
        np.array(stage.errors),
    )


class _Stage:
    """The state of a trial between two frames."""

    def __init__(
        self,
        start: Start,
        policy: Policy,
        settings: FilterSettings | None,
        planned: World,
        delta: float,
        draw: np.random.Generator,
    ) -> None:
        self.start, self.policy, self.settings = start, policy, settings
        self.planned, self.delta, self.draw = planned, delta, draw
        self.states, self.kinds = start.state[None].copy(), np.array([start.kind])
        self.counts = np.zeros((1, 3), np.int64)
        self.passes, self.turn = Passes(), Turn(0.0, 0.0, 0.0)
        self.path, self.begun, self.angle, self.look = bat.hold(0.0), 0, 0.0, False
        self.looks = 0
        self.plan_times: list[float] = []
        self.update_times: list[float] = []
        self.errors: list[float] = []
        self.belief: Belief | None = None

    def advance(self, frame: int, watch: Callable[[Frame], None] | None) -> None:
        world = self.start.world
        exact = clouds.readings(self.states, self.kinds, world)[0]
        reading = exact + world.table.screen_noise * self.start.screen[frame]
        cloud = self._believe(reading)
        now = frame * CAMERA_PERIOD
        self._decide(View(now, self.angle, cloud), frame)
        if frame % round(1.0 / CAMERA_PERIOD) == 0:
            mean = cloud.weights @ cloud.states[:, :2]
            self.errors.append(float(np.hypot(*(mean - self.states[0, :2]))))
        if watch is not None:
            watch(self._frame(now, cloud, reading))
        self._move(frame)

    def _frame(self, now: float, cloud: Cloud, reading: Float[ndarray, " 2"]) -> Frame:
        """Return what is shown, with copies of some particles; the filter moves its own."""
        passes = int(self.passes.counts[np.abs(DISTANCES - self.delta).argmin()])
        some = slice(None, None, max(1, len(cloud.kinds) // SHOWN))
        held = Cloud(
            *(each[some].copy() for each in (cloud.states, cloud.kinds, cloud.log_weights))
        )
        state, kind = self.states[0].copy(), int(self.kinds[0])
        return Frame(now, state, kind, self.angle, held, reading, passes, self.look)

    def _believe(self, reading: Float[ndarray, " 2"]) -> Cloud:
        if self.settings is None:
            return Cloud(self.states.copy(), self.kinds, np.zeros(1))
        begun = time.perf_counter()
        if self.belief is None:
            self.belief = localiser.begin(
                reading, self.angle, self.settings, self.planned, self.draw
            )
        else:
            self.belief = localiser.update(
                self.belief, self.turn, reading, self.settings, self.planned, self.draw
            )
        self.update_times.append(time.perf_counter() - begun)
        return self.belief.cloud

    def _decide(self, view: View, frame: int) -> None:
        begun = time.perf_counter()
        decision = self.policy.decide(view, self.planned, self.draw)
        if decision is not None:
            self.plan_times.append(time.perf_counter() - begun)
            self.path, self.begun, self.look = decision.path, frame, decision.look
            self.looks += decision.look

    def _move(self, frame: int) -> None:
        world = self.start.world
        angle, rate = bat.angle_and_rate(self.path, (frame - self.begun) * CAMERA_PERIOD)
        self.turn = Turn(angle, rate, CAMERA_PERIOD)
        closest = clouds.move(
            self.states, self.kinds, (angle, rate), CAMERA_PERIOD, world, self.counts
        )
        self.angle = angle + rate * CAMERA_PERIOD
        goal = np.array([world.table.goal_x, world.table.goal_y])
        distance = float(np.hypot(*(self.states[0, :2] - goal)))
        self.passes.add(float(np.sqrt(closest[0])), distance)
