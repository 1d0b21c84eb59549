"""A posterior put to the test in simulation: balls tracked by sound, and a cup predicted.

Candidate and champion play the same tosses, in the same order, with the same controller; each
predicts the same cups. Without a champion, a paddle that stays at home plays the tosses too. What
the arm did goes into `telemetry-<role>.mcap`, the first three tosses of the candidate into
pictures.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ricochet.hardware.microphones.interface import Rig
from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.tracking import outcomes
from ricochet.models.systems.bouncing_ball.tracking.outcomes import Outcome
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.console.progress import bar
from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.storage.telemetry import Telemetry
from ricochet.tasks.systems.bouncing_ball.settings import Tosses, Validate
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop, controllers
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Run, TimedEvent
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import (
    STATIONARY,
    BallModel,
    ControllerInputs,
)
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import open_laboratory
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import workspace as workspace_of
from ricochet.tasks.systems.bouncing_ball.validation import cups, toss_log, trials, twin_balls
from ricochet.tasks.systems.bouncing_ball.validation.results import (
    Role,
    TrackingTrials,
    TwinResult,
)
from ricochet.tasks.systems.bouncing_ball.validation.twin_balls import BallOf
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.outcomes import SIMULATED

PICTURED = 3
"""Tosses of which a strip of pictures is drawn."""
PAUSE = 10.0
"""Time of the log from one toss to the next, s."""


@dataclass(frozen=True)
class SimulatedToss:
    """One toss in the twin: its seed, what was detected, what is true, and the microphones."""

    seed: int
    events: tuple[TimedEvent, ...]
    truth: Toss
    rig: Rig


def run(settings: Settings, contenders: Contenders, seed: int, folder: Path) -> TwinResult:
    """Let the contenders play tosses and predict cups."""
    sizes, models = settings[Validate], trials.ball_models(contenders)
    seeds = trials.block_seeds(seed, sizes.tosses)
    ball_of = twin_balls.of_pair(contenders.name, models[CANDIDATE].draws)
    if contenders.champion is None:
        models[STATIONARY] = models[CANDIDATE]
    with bar(f"{contenders.name} rig") as progress:
        tracking = run_tosses(
            ball_of, models, settings=settings, seeds=seeds, folder=folder, progress=progress
        )
    draws = {role: models[role].draws for role in contenders.packages}
    places = cups.positions(sizes.positions)
    return replace(
        trials.result_of(contenders, SIMULATED, seeds, tracking, folder),
        positions=tuple((float(x), float(y)) for x, y in places),
        inside_90=trials.paired(cups.predict(ball_of, draws, places, seed=seed)),
    )


def run_tosses(
    ball_of: BallOf,
    models: Mapping[Role, BallModel],
    *,
    settings: Settings,
    seeds: Sequence[int],
    folder: Path,
    progress: Progress = no_progress,
) -> TrackingTrials:
    """Toss a ball in the twin, once a seed, and let every role play; none knows its nature."""
    workspace, place = workspace_of(settings[Tosses]), output_folder(folder)
    runs: dict[Role, list[tuple[Run, bool]]] = {role: [] for role in models}
    first = next(iter(models))
    with ExitStack() as stack:
        files = {role: place / f"telemetry-{role}.mcap" for role in models}
        logs = {role: Telemetry(file, toss_log.CHANNELS) for role, file in files.items()}
        for log in logs.values():
            stack.callback(log.close)
        for number, seed in enumerate(seeds):
            toss = _toss(ball_of(seed), settings, seed)
            for role, model in models.items():
                done, states = _play(role, model, toss, settings, workspace)
                kind = outcome_of(done, toss.truth, toss.events, workspace=workspace).kind
                runs[role].append((done, kind == "success"))
                toss_log.record(logs[role], PAUSE * number, seed, done, states, kind)
                if role == first and number < PICTURED:
                    path = place / f"toss-{number + 1}.png"
                    title = f"{toss.truth.ball.name}: {kind}"
                    toss_log.draw(path, title, toss.truth, states, toss.rig)
            progress(number + 1, len(seeds))
    return trials.tracking_trials(runs)


def end_of(toss: Toss) -> float:
    """Return when a toss is over: at the crossing, or at the last bounce of one without, s."""
    return float(toss.times[-1]) if toss.crossing_time is None else toss.crossing_time


def outcome_of(
    run: Run, toss: Toss, events: Sequence[TimedEvent], *, workspace: Workspace
) -> Outcome:
    """Tell how a toss ended, by what truly happened."""
    before = toss.times < (np.inf if toss.crossing_time is None else toss.crossing_time)
    wrong = outcomes.mislocated(
        toss.times[before], toss.positions[before, :2], [observed.event for observed in events]
    )
    kind, distance = outcomes.judge(
        toss.crossing,
        np.array(run.final.paddle[1:]),
        workspace=workspace,
        ball_radius=toss.ball.radius,
        outliers=wrong,
    )
    return Outcome(kind, run.final.energy, distance, wrong, run.refused)


def _toss(ball: Ball, settings: Settings, seed: int) -> SimulatedToss:
    twin = open_laboratory(settings, ball=ball, seed=seed)
    events = tuple(control_loop.listen(twin.toss()))
    return SimulatedToss(seed, events, twin.truth_for_evaluation().toss, twin.rig)


def _play(
    role: Role, model: BallModel, toss: SimulatedToss, settings: Settings, workspace: Workspace
) -> tuple[Run, list[ArmState]]:
    states = list[ArmState]()
    name = STATIONARY if role == STATIONARY else trials.CONTROLLER
    inputs = ControllerInputs(model, workspace, toss.truth.ball, settings, toss.seed)
    run = control_loop.run_control_loop(
        controllers.controller(name, inputs),
        toss.events,
        SimulatedArm(workspace),
        until=end_of(toss.truth),
        record=states.append,
    )
    return run, states
