"""A posterior put to the test on a real rig: a person tosses and judges, the arm meets by ear.

    confirmed -> [Enter -> home -> listen, toss -> touched, missed or spoilt] until all are judged

Candidate and champion come in blocks of one toss each, in an order drawn from the seed that nobody
is told, so that neither the hand nor the verdict knows whose turn it is. A spoilt toss (out of the
paddle's reach, a noise, no toss) is repeated by the same role. What ends the trials early ends the
motion first and is one line: microphones or robot that fail, a person who stops or does not answer,
too many spoilt tosses. What was judged till then is in `tosses.json`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ricochet.hardware.robots.threaded import SteeredArm
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.tasks.console import operator as person
from ricochet.tasks.console.operator import Answer, EndedError, Person
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.storage.telemetry import Telemetry
from ricochet.tasks.systems.bouncing_ball.settings import Real, Tosses
from ricochet.tasks.systems.bouncing_ball.tracking import controllers, real_rig, toss_stream
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel
from ricochet.tasks.systems.bouncing_ball.tracking.real_rig import RealRig
from ricochet.tasks.systems.bouncing_ball.tracking.toss_stream import ListeningWindow, TossRecord
from ricochet.tasks.systems.bouncing_ball.validation import gate, simulated_trials
from ricochet.tasks.systems.bouncing_ball.validation.gate import Evidence
from ricochet.tasks.systems.bouncing_ball.validation.simulated_trials import CONTROLLER, Met, Role
from ricochet.tasks.validation.checks import Verdict

TOUCHED, MISSED, SPOILT, STOP = "touched", "missed", "spoilt", "stop"
VERDICTS = (TOUCHED, MISSED, SPOILT, STOP)
FAULT = "fault"
"""How a toss is logged that was cut by microphones or robot."""
STOPPED = "person: found stop, expected tosses to the end"
RETURN, REST = real_rig.RETURN, 0.5
"""Time of the way home, and for which the arm then stands, s."""
BETWEEN = 1.0
"""Time of the log from one toss to the next, s."""


@dataclass(frozen=True)
class Turn:
    """One toss to be met: its number from 1, whose it is, and the controller's seed."""

    number: int
    role: Role
    seed: int


@dataclass(frozen=True)
class Judged:
    """A toss with the person's verdict on it."""

    turn: Turn
    verdict: str
    live: TossRecord


@dataclass(frozen=True)
class Place:
    """A real rig, and the person at it who tosses and judges."""

    rig: RealRig
    person: Person


@dataclass(frozen=True)
class Bench:
    """All that a toss needs.

    Attributes:
        ball: What is tossed; controllers read its name and radius.
        known: What each role believes of it.
        settings: How long is listened, and how often a toss is repeated.
        place: Where.
    """

    ball: Ball
    known: Mapping[Role, BallModel]
    settings: Settings
    place: Place

    @property
    def rig(self) -> RealRig:
        """The rig."""
        return self.place.rig

    @property
    def person(self) -> Person:
        """The person."""
        return self.place.person


def block_seeds(seed: int, tosses: int) -> tuple[int, ...]:
    """Return the seeds of the controllers, one a block.

    Args:
        seed: Seed of the validation.
        tosses: Blocks.
    """
    return tuple(seed * tosses + i for i in range(tosses))


def turns(roles: Sequence[Role], *, seed: int, tosses: int) -> tuple[Turn, ...]:
    """Return who meets which toss: every role once a block, in random order.

    Args:
        roles: Candidate, and champion if there is one.
        seed: Seed of the order.
        tosses: Blocks.
    """
    draw = np.random.default_rng(seed)
    order = [
        (roles[i], own) for own in block_seeds(seed, tosses) for i in draw.permutation(len(roles))
    ]
    return tuple(Turn(number, role, own) for number, (role, own) in enumerate(order, start=1))


def refuse_motion(evidence: Evidence, place: Place | None) -> None:
    """Move nothing real for a candidate that the gate refuses by what was measured again.

    Args:
        evidence: The measurements.
        place: The real rig; None asks for nothing.

    Raises:
        EndedError: If a check failed.
    """
    failed = Verdict(gate.judge_evidence(evidence)).refusals if place is not None else ()
    if failed:
        raise EndedError(f"nothing was moved, the gate refuses already: {failed[0]}")


def confirm(bench: Bench, folder: Path) -> Answer:
    """Ask the person whether the robot may move, and keep the answer in `motion.json`.

    Args:
        bench: Rig and person.
        folder: Where the answer is kept.

    Returns:
        A yes.

    Raises:
        EndedError: If it was anything else.
    """
    real, rig = bench.settings[Real], bench.rig
    lines = real_rig.lines(
        rig, ball=bench.ball.name, tosses=real.tosses * len(bench.known), repeats=real.repeats
    )
    answer = person.confirm(bench.person, lines, word=rig.host, patience=real.answer)
    write_json(folder / "motion.json", asdict(answer) | {"asked": list(lines)})
    if answer.answer != person.YES:
        expected = f"{rig.host} typed within {real.answer:.0f} s; nothing was moved"
        raise EndedError(f"confirmation of motion: found {answer.answer}, expected {expected}")
    return answer


def meet_tosses(bench: Bench, *, seed: int, folder: Path) -> Met:
    """Ask, and let every role meet its tosses.

    Args:
        bench: All that is needed.
        seed: Seed of the order and of the controllers.
        folder: Where telemetry, verdicts and the answer go.

    Returns:
        What happened.

    Raises:
        EndedError: If it ended before its time; the arm then stands.
        BadInput: If the rig is not as it was before the question.
        BusyError: If another process uses it.
    """
    confirm(bench, folder)
    tosses, judged = bench.settings[Real].tosses, list[Judged]()
    order = turns(tuple(bench.known), seed=seed, tosses=tosses)
    logs = {role: Telemetry(folder / f"telemetry-{role}.mcap") for role in bench.known}
    clock = 0.0
    try:
        with real_rig.held(bench.rig) as arm:
            for turn in order:
                for each in _attempts(bench, arm, turn, of=len(order)):
                    judged.append(each)
                    clock = _log(logs[turn.role], clock, each)
    finally:
        for log in logs.values():
            log.close()
        write_json(folder / "tosses.json", {"tosses": [_row(each) for each in judged]})
    return _met(tuple(bench.known), judged)


def _attempts(bench: Bench, arm: SteeredArm, turn: Turn, *, of: int) -> Iterator[Judged]:
    """Toss until the toss can be judged."""
    for _ in range(1 + bench.settings[Real].repeats):
        _go_home(bench, arm, f"toss {turn.number} of {of}")
        live = _listen(bench, arm, turn)
        if live.fault is not None:
            yield Judged(turn, FAULT, live)
            raise EndedError(f"toss {turn.number}: {live.fault}")
        try:
            verdict = person.choose(bench.person, "what did the ball do?", VERDICTS)
        except EndedError:
            yield Judged(turn, STOP, live)
            raise
        yield Judged(turn, verdict, live)
        if verdict == STOP:
            raise EndedError(STOPPED)
        if verdict != SPOILT:
            return
    found = f"{1 + bench.settings[Real].repeats} spoilt in a row"
    raise EndedError(f"toss {turn.number}: found {found}, expected one that can be judged")


def _go_home(bench: Bench, arm: SteeredArm, which: str) -> None:
    """Wait for the person's Enter, then bring the paddle home."""
    while typed := person.ask(
        bench.person, f"{which}: Enter moves the arm home and listens, stop ends: "
    ).strip():
        if typed.lower() == STOP:
            raise EndedError(STOPPED)
    home = (bench.rig.workspace.x, *bench.rig.workspace.home)
    refusal = arm.move(home, RETURN) or arm.advance(RETURN + REST)
    if refusal is not None:
        raise EndedError(f"{which}, on the way home: {refusal}")


def _listen(bench: Bench, arm: SteeredArm, turn: Turn) -> TossRecord:
    """Let the controller of a turn meet a toss."""
    settings = bench.settings
    controller = controllers.controller(
        CONTROLLER,
        bench.known[turn.role],
        bench.rig.workspace,
        bench.ball,
        settings[Tosses],
        seed=turn.seed,
        microphones=settings[Capture].microphones,
    )
    return toss_stream.run_live_toss(
        controller,
        bench.rig.listener,
        arm,
        ListeningWindow(settings[Real].patience, settings[Real].window),
        listening=lambda: bench.person.say("listening: toss the ball now"),
    )


def _log(log: Telemetry, start: float, each: Judged) -> float:
    """Write a toss into the telemetry and return when the next may begin, s."""
    run = each.live.run
    simulated_trials.record(log, start, each.turn.seed, run, each.live.track, each.verdict)
    return start + run.final.time + BETWEEN


def _met(roles: Sequence[Role], judged: Sequence[Judged]) -> Met:
    """Count what was judged; spoilt tosses say nothing."""
    rows = {
        role: [e for e in judged if e.turn.role == role and e.verdict in (TOUCHED, MISSED)]
        for role in roles
    }
    waits: dict[Role, list[float]] = {
        role: [decision.latency for each in of for decision in each.live.run.decisions]
        for role, of in rows.items()
    }
    if not all(waits.values()):
        raise EndedError("microphones: found no bounce in all tosses of a role, expected some")
    return Met(
        {role: tuple(each.verdict == TOUCHED for each in of) for role, of in rows.items()},
        {role: float(np.mean([e.live.run.final.energy for e in of])) for role, of in rows.items()},
        {role: float(np.quantile(wait, 0.99)) for role, wait in waits.items()},
        {role: tuple(x for e in of for x in e.live.run.refused) for role, of in rows.items()},
    )


def _row(each: Judged) -> dict[str, object]:
    run = each.live.run
    return asdict(each.turn) | {
        "verdict": each.verdict,
        "energy": run.final.energy,
        "events": len(run.decisions),
        "refused": list(run.refused),
    }
