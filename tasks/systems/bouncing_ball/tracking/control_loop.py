"""The control loop of one toss: detection, controller and arm joined, live or from recorded events.

    microphones -> buffers of 11 ms -> bounce events -> controller -> target -> arm

The loop is the same for a simulated laboratory and a real one. A simulated arm computes the time
that passes. A real one is steered by a process of its own (ricochet.hardware.robots.watched) and to
be advanced means to wait; its clock is the sound's, kept in step by
ricochet.tasks.systems.bouncing_ball.tracking.toss_stream.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ricochet.hardware.microphones import stream
from ricochet.hardware.microphones.stream import Listener
from ricochet.hardware.robots.paddle_arm import Arm, ArmState
from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.tracking.workspace import MotionTarget

DECISION = 5e-3
"""Time from the end of a buffer to the arm's new target that a simulated arm waits, s: a bound for
the slowest controller, the same for all, so that none gains by it. `python -m
benchmarks.sound.realtime` prints what detection in a buffer with an impact costs (99 in 100 within
1.5 ms of the processor), `python -m benchmarks.bouncing_ball.belief` what a step of `belief` does
(2.9 ms); the others cost less. A real arm waits as long as it takes."""

Step = Callable[..., tuple[Any, MotionTarget | None]]
Record = Callable[[ArmState], None]


class StreamClosedError(RuntimeError):
    """The microphones stopped; the text is one line."""


@dataclass(frozen=True)
class Controller:
    """A controller of `ricochet.models.systems.bouncing_ball.tracking` before the first bounce.

    Attributes:
        state: It has `refused`, a line for each bad event.
        step: `step(state, event, now=, paddle=)`.
    """

    state: Any
    step: Step


@dataclass(frozen=True)
class TimedEvent:
    """An event, when it became known (the end of its buffer, s), and what its detection cost, s."""

    time: float
    event: BounceEvent
    cost: float


@dataclass(frozen=True)
class Decision:
    """What a controller made of one event.

    Attributes:
        refusal: Why the arm did not take it, in one line, or None.
        latency: From the sound at the first microphone to the new target, s: the wait for the
            buffer, detection and the controller.
    """

    observed: TimedEvent
    target: MotionTarget | None
    refusal: str | None
    latency: float


@dataclass(frozen=True)
class Run:
    """What came of one toss.

    Attributes:
        refused: Everything that was refused, or that stopped the arm, a line each.
    """

    decisions: tuple[Decision, ...]
    final: ArmState
    refused: tuple[str, ...]


def listen(listener: Listener) -> Iterator[TimedEvent]:
    """Turn buffers into bounce events while they come; sound played at once gives bare costs.

    Raises:
        StreamClosedError: If the microphones stopped.
    """
    began = time.perf_counter()
    for buffer, events in stream.events(listener):
        cost = time.perf_counter() - began
        for event in events:
            yield TimedEvent(buffer.time, event, cost)
        began = time.perf_counter()
    if listener.fault is not None:
        raise StreamClosedError(listener.fault)


def run_control_loop(
    controller: Controller,
    events: Iterable[TimedEvent],
    arm: Arm,
    *,
    until: float | None = None,
    record: Record | None = None,
) -> Run:
    """Let a controller steer an arm by the events of one toss.

    A refusal never moves the arm; microphones that stop stop it, and so does whatever is raised.

    Args:
        arm: At rest at its home; its clock is the stream's.
        until: Time of the arm's clock at which to end, s; None ends with the last event.
        record: Called with the arm's state after every motion.
    """
    try:
        return _run(controller, events, arm, until, record)
    except BaseException:
        with contextlib.suppress(Exception):  # what was raised first is what is reported
            arm.stop()
        raise


def _run(
    controller: Controller,
    events: Iterable[TimedEvent],
    arm: Arm,
    until: float | None,
    record: Record | None,
) -> Run:
    state, decisions, stopped = controller.state, list[Decision](), None
    try:
        for observed in events:
            now = observed.time + (0.0 if arm.exclusive else DECISION)
            if until is not None and now >= until:
                break
            stopped = _pass(arm, now, record)
            if stopped is not None:
                break
            state, decision = _decide(controller.step, state, observed, _clock(arm, now), arm)
            decisions.append(decision)
    except StreamClosedError as error:
        arm.stop()
        stopped = str(error)
    if until is not None and stopped is None:
        stopped = _pass(arm, until, record)
    lines = [*state.refused, *(each.refusal for each in decisions if each.refusal)]
    return Run(tuple(decisions), arm.state(), (*lines, *([stopped] if stopped else [])))


def _pass(arm: Arm, until: float, record: Record | None, *, step: float = 0.02) -> str | None:
    """Let the arm's time pass, in steps if they are recorded; return why it stopped."""
    while (left := until - arm.state().time) > 1e-9:
        refusal = arm.advance(left if record is None else min(step, left))
        if refusal is not None:
            return str(refusal)
        if record is not None:
            record(arm.state())
    return None


def _clock(arm: Arm, now: float) -> float:
    """Return the time: a simulated arm waits for the controller, a real one does not."""
    return max(now, arm.state().time) if arm.exclusive else now


def _decide(
    step: Step, state: Any, observed: TimedEvent, now: float, arm: Arm
) -> tuple[Any, Decision]:
    """Ask the controller, and the arm to follow."""
    here = arm.state().paddle
    began = time.perf_counter()
    state, target = step(state, observed.event, now=now, paddle=(here[1], here[2]))
    latency = observed.time - observed.event.arrival + observed.cost + time.perf_counter() - began
    refusal = None
    if target is not None:
        height = here[2] if target.z is None else target.z
        left = target.duration - (_clock(arm, now) - target.issued)
        refusal = arm.move((arm.workspace.x, target.y, height), left)
    return state, Decision(observed, target, None if refusal is None else str(refusal), latency)
