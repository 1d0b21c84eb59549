"""A posterior put to the test on a real rig: an operator tosses and judges, the arm tracks.

    confirmed -> [Enter -> home -> listen, toss -> touched, missed or spoilt] until all are judged

Candidate and champion come in blocks of one toss each, in an order drawn from the seed that is not
shown, so that neither the hand nor the verdict knows whose turn it is. A spoilt toss (out of
the paddle's reach, a noise, no toss) is repeated by the same role, and so is one whose sound was
lost, doubled or not finite: it is set aside, and nobody is asked. Whatever aborts the trials ends
the motion first and is one line: microphones or robot that fail, an operator who stops or does not
answer, too many spoilt tosses. What was judged until then is in `tosses.json`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.tasks.console import operator
from ricochet.tasks.console.operator import Answer, Operator, OperatorAbortError
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.telemetry import Telemetry
from ricochet.tasks.systems.bouncing_ball.settings import Real
from ricochet.tasks.systems.bouncing_ball.tracking import controllers, real_rig, toss_stream
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel, ControllerInputs
from ricochet.tasks.systems.bouncing_ball.tracking.real_rig import RealRig
from ricochet.tasks.systems.bouncing_ball.tracking.toss_stream import ListeningWindow, TossRecord
from ricochet.tasks.systems.bouncing_ball.validation import staying, toss_log, trials
from ricochet.tasks.systems.bouncing_ball.validation.results import (
    Role,
    TrackingTrials,
    TwinResult,
)
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.outcomes import REAL

TOUCHED, MISSED, SPOILT, STOP = "touched", "missed", "spoilt", "stop"
VERDICTS = (TOUCHED, MISSED, SPOILT, STOP)
FAULT = "fault"
"""How a toss is logged that failing microphones or a failing robot cut short."""
STOPPED = "operator: found stop, expected tosses to the end"
RETURN, REST = real_rig.RETURN, 0.5
"""Time of the way home, and for which the arm then stands, s."""
BETWEEN = 1.0
"""Time of the log from one toss to the next, s."""


@dataclass(frozen=True)
class TrialTurn:
    """One toss: its number from 1, whose it is, and the controller's seed."""

    number: int
    role: Role
    seed: int


@dataclass(frozen=True)
class ScoredToss:
    """A toss with the operator's verdict on it."""

    turn: TrialTurn
    verdict: str
    record: TossRecord


@dataclass(frozen=True)
class TrialSetup:
    """All that a toss needs; of the ball, controllers read name and radius alone."""

    ball: Ball
    models: Mapping[Role, BallModel]
    settings: Settings
    rig: RealRig
    operator: Operator


def run(
    ball: Ball,
    settings: Settings,
    rig: RealRig,
    there: Operator,
    contenders: Contenders,
    seed: int,
    folder: Path,
) -> TwinResult:
    """Ask, and let the contenders play tosses by hand; see `run_tosses` for what may abort them."""
    models = trials.ball_models(contenders)
    setup = TrialSetup(ball, models, settings, rig, there)
    tracking = run_tosses(setup, seed=seed, folder=folder)
    seeds = trials.block_seeds(seed, settings[Real].tosses)
    result = trials.result_of(contenders, REAL, seeds, tracking, folder)
    if contenders.champion is not None:
        return result
    return replace(result, staying=staying.share(rig.workspace))


def turns(roles: Sequence[Role], *, seed: int, tosses: int) -> tuple[TrialTurn, ...]:
    """Return who plays which toss: every role once in each of `tosses` blocks, in random order."""
    draw = np.random.default_rng(seed)
    order = [
        (roles[i], own)
        for own in trials.block_seeds(seed, tosses)
        for i in draw.permutation(len(roles))
    ]
    return tuple(TrialTurn(number, *each) for number, each in enumerate(order, start=1))


def confirm(setup: TrialSetup, folder: Path) -> Answer:
    """Keep the operator's answer in `motion.json`; `OperatorAbortError` if it is not a yes."""
    real, rig = setup.settings[Real], setup.rig
    lines = real_rig.lines(
        rig, ball=setup.ball.name, tosses=real.tosses * len(setup.models), repeats=real.repeats
    )
    answer = operator.confirm(setup.operator, lines, word=rig.host, patience=real.answer)
    write_json(folder / "motion.json", asdict(answer) | {"asked": list(lines)})
    if answer.answer != operator.YES:
        expected = f"{rig.host} typed within {real.answer:.0f} s; the robot did not move"
        raise OperatorAbortError(
            f"confirmation of motion: found {answer.answer}, expected {expected}"
        )
    return answer


def run_tosses(setup: TrialSetup, *, seed: int, folder: Path) -> TrackingTrials:
    """Ask, and let every role play its tosses.

    `OperatorAbortError` if they were aborted; the arm then stands. `BadInput` if the rig is not
    as it was before the question, `BusyError` if another process uses it.
    """
    confirm(setup, output_folder(folder))
    scored = list[ScoredToss]()
    order = turns(tuple(setup.models), seed=seed, tosses=setup.settings[Real].tosses)
    with ExitStack() as stack:
        stack.callback(lambda: _write_scores(folder, scored))
        places = {role: folder / f"telemetry-{role}.mcap" for role in setup.models}
        logs = {role: Telemetry(place, toss_log.CHANNELS) for role, place in places.items()}
        for log in logs.values():
            stack.callback(log.close)
        clock, arm = 0.0, stack.enter_context(real_rig.held(setup.rig))
        for turn in order:
            for toss in _attempts(setup, arm, turn, of=len(order)):
                scored.append(toss)
                clock = _log(logs[turn.role], clock, toss)
    return _summary(tuple(setup.models), scored)


def _attempts(
    setup: TrialSetup, arm: WatchedArm, turn: TrialTurn, *, of: int
) -> Iterator[ScoredToss]:
    """Toss until the toss can be judged."""
    attempts = 1 + setup.settings[Real].repeats
    for _ in range(attempts):
        _go_home(setup, arm, f"toss {turn.number} of {of}")
        record = _listen(setup, arm, turn)
        if record.fault is not None:
            yield ScoredToss(turn, FAULT, record)
            raise OperatorAbortError(f"toss {turn.number}: {record.fault}")
        if record.spoilt is not None:
            setup.operator.say(f"set aside, {record.spoilt}")
            yield ScoredToss(turn, SPOILT, record)
            continue
        try:
            verdict = operator.choose(setup.operator, "what did the ball do?", VERDICTS)
        except OperatorAbortError:
            yield ScoredToss(turn, STOP, record)
            raise
        yield ScoredToss(turn, verdict, record)
        if verdict == STOP:
            raise OperatorAbortError(STOPPED)
        if verdict != SPOILT:
            return
    found = f"{attempts} spoilt in a row"
    raise OperatorAbortError(f"toss {turn.number}: found {found}, expected one that can be judged")


def _go_home(setup: TrialSetup, arm: WatchedArm, which: str) -> None:
    """Wait for the operator's Enter, then bring the paddle home."""
    while typed := operator.ask(
        setup.operator, f"{which}: Enter moves the arm home and listens, stop ends: "
    ).strip():
        if typed.lower() == STOP:
            raise OperatorAbortError(STOPPED)
    home = (setup.rig.workspace.x, *setup.rig.workspace.home)
    refusal = arm.move(home, RETURN) or arm.advance(RETURN + REST)
    if refusal is not None:
        raise OperatorAbortError(f"{which}, on the way home: {refusal}")


def _listen(setup: TrialSetup, arm: WatchedArm, turn: TrialTurn) -> TossRecord:
    """Let the controller of a turn play a toss."""
    model, real = setup.models[turn.role], setup.settings[Real]
    return toss_stream.run_live_toss(
        controllers.controller(
            trials.CONTROLLER,
            ControllerInputs(model, setup.rig.workspace, setup.ball, setup.settings, turn.seed),
        ),
        setup.rig.listener,
        arm,
        ListeningWindow(real.patience, real.window),
        listening=lambda: setup.operator.say("listening: toss the ball now"),
    )


def _log(log: Telemetry, start: float, toss: ScoredToss) -> float:
    """Write a toss into the telemetry and return when the next may begin, s."""
    run, track = toss.record.run, toss.record.track
    toss_log.record(log, start, toss.turn.seed, run, track, toss.verdict)
    return start + run.final.time + BETWEEN


def _summary(roles: Sequence[Role], scored: Sequence[ScoredToss]) -> TrackingTrials:
    """Count what was judged; spoilt tosses say nothing."""
    runs = {
        role: [
            (toss.record.run, toss.verdict == TOUCHED)
            for toss in scored
            if toss.turn.role == role and toss.verdict in (TOUCHED, MISSED)
        ]
        for role in roles
    }
    if not all(any(run.decisions for run, _ in rows) for rows in runs.values()):
        found = "found no bounce in all tosses of a role, expected some"
        raise OperatorAbortError(f"microphones: {found}")
    return trials.tracking_trials(runs)


def _write_scores(folder: Path, scored: Sequence[ScoredToss]) -> None:
    rows = [
        asdict(toss.turn)
        | {
            "verdict": toss.verdict,
            "energy": toss.record.run.final.energy,
            "events": len(toss.record.run.decisions),
            "refused": list(toss.record.run.refused),
        }
        for toss in scored
    ]
    write_json(folder / "tosses.json", {"tosses": rows})
