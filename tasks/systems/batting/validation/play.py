"""Trials and flights on the simulated board: a controller at 50 Hz, a camera at 20 Hz.

Trial i of a seed has the same object, start and errors of the camera whoever plays it. The
controller sees readings and the bat's angle alone; what the object truly does counts passes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ricochet.hardware.twins.batting.rig import BattingRig
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.batting import bat, trial
from ricochet.models.systems.batting.agent import Agent
from ricochet.models.systems.batting.belief import flights, localiser
from ricochet.models.systems.batting.belief.flights import SWINGING, Flight
from ricochet.models.systems.batting.belief.particles import Turn
from ricochet.models.systems.batting.table import CAMERA_PERIOD
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.storage.telemetry import Telemetry
from ricochet.tasks.systems.batting import agents
from ricochet.tasks.systems.batting.packages import Batter
from ricochet.tasks.systems.batting.validation import trial_log
from ricochet.tasks.systems.batting.validation.results import BoardTrial

TICK = 0.01
"""Common measure of the camera's period and the controller's, s."""
CONTROL_PERIOD = 0.02
"""Between commands, s."""
FLIGHT = 12.0
"""After which a filter is compared with the truth, s."""
STREAM = 71
"""Of the randomness of trials; that of flights is the next."""
_FRAME, _COMMAND = round(CAMERA_PERIOD / TICK), round(CONTROL_PERIOD / TICK)


@dataclass(frozen=True, eq=False)
class BoardJob:
    """A trial or a flight to be played.

    Attributes:
        row: Of `studies.rows`, how the agent plans.
        seconds: How long.
        log: File of the telemetry; None: none is kept.
    """

    batter: Batter
    seed: int
    number: int
    row: str = agents.OURS
    seconds: float = FLIGHT
    log: Path | None = None


def play_trials(
    jobs: Sequence[BoardJob], progress: Progress = no_progress, workers: int | None = None
) -> list[BoardTrial]:
    """Play trials side by side; return what came of each, in order."""
    return run_all(play, jobs, progress=progress, workers=workers)


def play(job: BoardJob) -> BoardTrial:
    """Play a trial."""
    rig = rig_of(job, STREAM)
    agent = agents.make(job.batter, seed=job.seed * 10_000 + job.number, row=job.row)
    if job.log is None:
        return run(rig, agent, job.seconds)
    with Telemetry(job.log, trial_log.CHANNELS) as log:
        return run(rig, agent, job.seconds, log)


def rig_of(job: BoardJob, stream: int) -> BattingRig:
    """Return the board at the start of a job, the same whatever the batter believes of it."""
    start = trial.random_start(job.seed, job.number, CAMERA_PERIOD, 0.0)
    errors = np.random.default_rng([job.seed, job.number, stream])
    return BattingRig(start.kind, start.state, errors)


def run(rig: BattingRig, agent: Agent, seconds: float, log: Telemetry | None = None) -> BoardTrial:
    """Let an agent play on a board for a time."""
    for tick in range(round(seconds / TICK)):
        now = tick * TICK
        if tick % _FRAME == 0:
            reading, angle = rig.reading(), rig.angle
            faults = len(agent.faults)
            cloud = agent.see(now, reading, angle)
            if log is not None:
                trial_log.seen(log, now, reading, cloud, agent.faults[faults:])
        if tick % _COMMAND == 0:
            target = agent.target(now + CONTROL_PERIOD)
            rig.command(target, CONTROL_PERIOD)
            if log is not None:
                log.write("bat", time=now, angle=rig.angle, target=target, look=agent.look)
        rig.advance(TICK)
    passes = tuple(int(count) for count in rig.passes.counts)
    if log is not None:
        log.write("trial", time=rig.time, passes=list(passes), bats=rig.true_bats())
    return BoardTrial(passes, rig.true_bats(), agent.looks, tuple(agent.faults))


def fly(job: BoardJob) -> Flight:
    """Follow a flight under a swinging bat, from nothing, and compare with the truth."""
    rig, batter = rig_of(job, STREAM + 1), job.batter
    draw = np.random.default_rng([job.seed, job.number, STREAM + 2])
    world, before = batter.world(draw), rig.angle
    path = bat.cyclic(before, SWINGING, job.seconds)
    belief = localiser.begin(rig.reading(), before, batter.settings, world, draw)
    for frame in range(1, math.floor(job.seconds / CAMERA_PERIOD)):
        rig.command(float(bat.angle_and_rate(path, frame * CAMERA_PERIOD)[0]), CAMERA_PERIOD)
        rig.advance(CAMERA_PERIOD)
        turn = Turn(before, (rig.angle - before) / CAMERA_PERIOD, CAMERA_PERIOD)
        reading, before = rig.reading(), rig.angle
        belief = localiser.update(belief, turn, reading, batter.settings, world, draw)
    return flights.judged(belief.cloud, rig.true_state(), rig.true_kind(), np.zeros(0))


def follow_flights(
    batter: Batter,
    count: int,
    seed: int,
    progress: Progress = no_progress,
    workers: int | None = None,
) -> list[Flight]:
    """Follow flights side by side."""
    jobs = [BoardJob(batter, seed, number) for number in range(count)]
    return run_all(fly, jobs, progress=progress, workers=workers)
