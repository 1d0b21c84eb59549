"""A posterior put to the test on the rig: balls met by ear, and a cup predicted.

Candidate and champion play the same tosses, in the same order, with the same controller; each
predicts the same cups. The role `stay` never moves. What the arm did goes into
`telemetry-<role>.mcap`, the first three tosses of the candidate into pictures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones.interface import Rig
from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.prediction import cup_success
from ricochet.models.systems.bouncing_ball.tracking import outcomes as ball_tracking
from ricochet.models.systems.bouncing_ball.tracking.toss import Toss
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.console.progress import Progress, silent
from ricochet.tasks.figures import style
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import write_bytes
from ricochet.tasks.storage.telemetry import Telemetry
from ricochet.tasks.systems.bouncing_ball.figures import toss_strips
from ricochet.tasks.systems.bouncing_ball.figures.toss_strips import Frame
from ricochet.tasks.systems.bouncing_ball.settings import Tosses
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop, controllers
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Run, TimedEvent
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import open_laboratory
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import workspace as workspace_of
from ricochet.tasks.systems.bouncing_ball.validation.results import STAY

CONTROLLER = "belief"
PICTURED = 3
"""Tosses of which a strip of pictures is drawn."""
PAUSE = 10.0
"""Time of the log from one toss to the next, s."""
FRAMES = 6
"""Pictures of a strip."""

Role = str
Outcomes = Mapping[Role, tuple[bool, ...]]


@dataclass(frozen=True)
class Met:
    """The tosses as each role met them.

    Attributes:
        success: Whether each toss was met, by role.
        energy: Mean energy of the paddle over its mass, m^2/s, by role.
        latency: Time from a bounce's sound to the new target, 99th percentile, s, by role.
        refused: Lines of what was refused, by role.
    """

    success: Outcomes
    energy: Mapping[Role, float]
    latency: Mapping[Role, float]
    refused: Mapping[Role, tuple[str, ...]]


def meet_tosses(
    ball: Ball,
    known: Mapping[Role, BallModel],
    *,
    settings: Settings,
    seeds: Sequence[int],
    folder: Path,
    progress: Progress = silent,
) -> Met:
    """Toss the ball in the twin laboratory and let every role meet it.

    Args:
        ball: What the twin tosses; no controller is told its nature.
        known: What each role believes of it.
        settings: The laboratory.
        seeds: One a toss.
        folder: Where telemetry and pictures go.
        progress: Told of each toss.

    Returns:
        What happened.
    """
    logs = {role: Telemetry(folder / f"telemetry-{role}.mcap") for role in known}
    outcomes: dict[Role, list[ball_tracking.Outcome]] = {role: [] for role in known}
    waits: dict[Role, list[float]] = {role: [] for role in known}
    first, workspace = next(iter(known)), workspace_of(settings[Tosses])
    try:
        for number, seed in enumerate(seeds):
            twin = open_laboratory(settings, ball=ball, seed=seed)
            heard = list(control_loop.listen(twin.toss()))
            toss = twin.truth_for_evaluation().toss
            for role, knowledge in known.items():
                name = STAY if role == STAY else CONTROLLER
                run, states = _play(name, ball, knowledge, heard, toss, settings, seed)
                outcomes[role].append(judged(run, toss, heard, workspace=workspace))
                waits[role] += [decision.latency for decision in run.decisions]
                record(logs[role], PAUSE * number, seed, run, states, outcomes[role][-1].kind)
                if role == first and number < PICTURED:
                    title = f"{toss.ball.name}: {outcomes[role][-1].kind}"
                    _picture(folder / f"toss-{number + 1}.png", title, toss, states, twin.rig)
            progress(number + 1, len(seeds))
    finally:
        for log in logs.values():
            log.close()
    return Met(
        {role: tuple(each.kind == "success" for each in rows) for role, rows in outcomes.items()},
        {role: float(np.mean([e.energy for e in rows])) for role, rows in outcomes.items()},
        {role: float(np.quantile(rows or [np.nan], 0.99)) for role, rows in waits.items()},
        {role: tuple(x for e in rows for x in e.refused) for role, rows in outcomes.items()},
    )


def end_of(toss: Toss) -> float:
    """Return when a toss is over: at the crossing, or at the last bounce of one without, s.

    Args:
        toss: The truth.
    """
    return float(toss.times[-1]) if toss.crossing_time is None else toss.crossing_time


def judged(
    run: Run, toss: Toss, heard: Sequence[TimedEvent], *, workspace: Workspace
) -> ball_tracking.Outcome:
    """Tell how a toss ended, by what truly happened.

    Args:
        run: What the controller and the arm did until the ball crossed the plane.
        toss: The truth.
        heard: What was heard.
        workspace: Where the paddle may be.

    Returns:
        The outcome.
    """
    before = toss.times < (np.inf if toss.crossing_time is None else toss.crossing_time)
    wrong = ball_tracking.mislocated(
        toss.times[before], toss.positions[before, :2], [observed.event for observed in heard]
    )
    kind, distance = ball_tracking.judge(
        toss.crossing,
        np.array(run.final.paddle[1:]),
        workspace=workspace,
        ball_radius=toss.ball.radius,
        outliers=wrong,
    )
    return ball_tracking.Outcome(kind, run.final.energy, distance, wrong, run.refused)


def cup_positions(count: int) -> Float[ndarray, "position 2"]:
    """Return places over the incline from which a ball may reach the cup, evenly picked, m.

    Args:
        count: How many.
    """
    grid = cup_success.positions().reshape(-1, 2)
    return grid[np.linspace(0, len(grid) - 1, count).round().astype(int)]


def predict_cups(
    ball: Ball,
    theta: Mapping[Role, Float[ndarray, "sample 2"]],
    places: Float[ndarray, "position 2"],
    *,
    seed: int,
) -> Outcomes:
    """Let the twin count what falls into the cup, and every role predict it.

    Args:
        ball: What the twin drops.
        theta: Draws of each role's posterior.
        places: From where.
        seed: Seed of all randomness.

    Returns:
        Whether the count lay in the predicted 90 % interval, by role and place.
    """
    truth = np.array([ball.restitution, ball.log10_concentration])
    draw = torch.Generator().manual_seed(seed)
    counted = cup_success.count(truth, places, ball_radius=ball.radius, draw=draw)
    inside = {}
    for role, samples in theta.items():
        chosen = np.random.default_rng(seed).choice(len(samples), cup_success.DRAWS, replace=False)
        predicting = torch.Generator().manual_seed(seed + 1)
        found = cup_success.predict(
            samples[chosen], places, ball_radius=ball.radius, draw=predicting
        )
        inside[role] = tuple(bool(held) for held in found.holds(counted))
    return inside


def record(
    log: Telemetry, start: float, seed: int, run: Run, states: Sequence[ArmState], kind: str
) -> None:
    """Write a toss that began at a time of the log, its messages in the order of time.

    Args:
        log: The log.
        start: When the toss began, s of the log.
        seed: Its seed.
        run: What was decided, refused and done.
        states: Where the arm was.
        kind: How it ended.
    """
    rows: list[tuple[float, str, dict[str, object]]] = [
        (
            state.time,
            "arm",
            {
                "joints": list(state.joints),
                "joint_speeds": list(state.joint_speeds),
                "paddle": list(state.paddle),
                "paddle_velocity": list(state.paddle_velocity),
            },
        )
        for state in states
    ]
    for decision in run.decisions:
        event, target = decision.observed.event, decision.target
        place = None if event.position is None else event.position.tolist()
        fields = {"contact_time": event.time, "position": place}
        rows.append((decision.observed.time, "bounce", fields))
        if target is not None:
            wish = {"y": target.y, "z": target.z, "duration": target.duration}
            rows.append((target.issued, "target", {**wish, "reason": target.reason}))
    rows += [(run.final.time, "refusal", {"reason": line}) for line in run.refused]
    rows.append((run.final.time, "toss", {"seed": seed, "outcome": kind}))
    for when, channel, content in sorted(rows, key=lambda row: row[0]):
        log.write(channel, time=start + when, **content)


def _play(
    name: str,
    ball: Ball,
    knowledge: BallModel,
    heard: Sequence[TimedEvent],
    toss: Toss,
    settings: Settings,
    seed: int,
) -> tuple[Run, list[ArmState]]:
    workspace, states = workspace_of(settings[Tosses]), list[ArmState]()
    controller = controllers.controller(
        name,
        knowledge,
        workspace,
        ball,
        settings[Tosses],
        seed=seed,
        microphones=settings[Capture].microphones,
    )
    arm = SimulatedArm(workspace)
    run = control_loop.run_control_loop(
        controller, heard, arm, until=end_of(toss), record=states.append
    )
    return run, states


def _picture(path: Path, title: str, toss: Toss, states: list[ArmState], rig: Rig) -> None:
    """Draw the toss from its first bounce to its end."""
    if not len(toss.times) or not states:
        return
    times = np.linspace(toss.times[0], states[-1].time, FRAMES)
    clock = np.array([state.time for state in states])
    frames = [
        Frame(
            float(when),
            np.array(states[int(np.abs(clock - when).argmin())].joints),
            _ball_at(toss, float(when)),
        )
        for when in times
    ]
    places = [each.position for each in rig.microphones][: len(toss_strips.MICROPHONES)]
    drawn = toss_strips.strip(frames, title=title, ball_radius=toss.ball.radius, microphones=places)
    write_bytes(path, style.to_png(drawn))


def _ball_at(toss: Toss, when: float) -> tuple[float, float, float]:
    """Return the ball's centre, a radius above the point that its flight describes."""
    last = max(int(np.searchsorted(toss.times, when, side="right")) - 1, 0)
    since = when - toss.times[last]
    x, y, z = toss.positions[last] + toss.velocities[last] * since
    return float(x), float(y), float(z - 0.5 * GRAVITY * since**2 + toss.ball.radius)
