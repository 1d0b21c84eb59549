"""One real toss: microphones that are recorded until it is over, and an arm that answers.

    card -> TossListener (settles, announces itself, ends with the toss) -> control loop -> arm

The loop is that of the twin (`tasks.systems.bouncing_ball.tracking.control_loop`); what differs is
that time passes by itself. An event becomes known when it is detected, not when its buffer ends;
the arm's clock tells when that is.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import cast

from ricochet.hardware.microphones.stream import Buffer, Listener
from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Controller, Run, TimedEvent

SETTLE = 0.3
"""Sound that is dropped after a card was opened: a key pressed, a start-up click, s."""
BEFORE = 0.5
"""Time before the first event of which the arm's record is kept, s."""


@dataclass(frozen=True)
class ListeningWindow:
    """How long to listen: with patience until the first event, and in a window from it on, s."""

    patience: float
    window: float


@dataclass(frozen=True)
class TossRecord:
    """What came of a toss.

    Attributes:
        track: Where the arm was, from a little before the first event.
        fault: Why nothing may go on, one line; None while all is well.
        spoilt: Why it says nothing and may be repeated, one line: sound that was lost, doubled or
            not finite.
    """

    run: Run
    track: tuple[ArmState, ...]
    fault: str | None
    spoilt: str | None = None


class TossListener:
    """A listener that ends with the toss; the arm's clock follows its stream."""

    def __init__(
        self,
        listener: Listener,
        arm: WatchedArm,
        window: ListeningWindow,
        *,
        listening: Callable[[], None],
    ) -> None:
        """Prepare to listen; `listening` is called once, when a ball may be tossed."""
        self.rig, self.fault = listener.rig, listener.fault
        self.first: float | None = None
        self.spoilt: str | None = None
        self._listener, self._arm, self._window = listener, arm, window
        self._listening = listening

    def buffers(self) -> Iterator[Buffer]:
        """Listen until the toss is over, or spoilt; see `Listener.buffers`."""
        announced = False
        with closing(cast(Generator[Buffer], self._listener.buffers())) as sound:
            for buffer in sound:
                self._arm.follow(buffer.time)
                if buffer.time < SETTLE:
                    continue
                if not announced:
                    self._listening()
                    announced = True
                if buffer.time >= self._end():
                    return
                self.spoilt = _spoilt(buffer)
                if self.spoilt is not None:
                    return
                yield buffer
        self.fault = self._listener.fault

    def events(self) -> Iterator[TimedEvent]:
        """Detect the bounces; see `control_loop.listen`."""
        for observed in control_loop.listen(self):
            self.first = observed.event.arrival if self.first is None else self.first
            now = self._arm.state().time
            yield replace(observed, time=max(observed.time, now), cost=0.0)

    def _end(self) -> float:
        if self.first is None:
            return SETTLE + self._window.patience
        return self.first + self._window.window


def run_live_toss(
    controller: Controller,
    listener: Listener,
    arm: WatchedArm,
    window: ListeningWindow,
    *,
    listening: Callable[[], None],
) -> TossRecord:
    """Run the control loop on one real toss; `listening` is called when a ball may be tossed."""
    arm.begin()
    toss = TossListener(listener, arm, window, listening=listening)
    run = control_loop.run_control_loop(controller, toss.events(), arm)
    since = (run.final.time if toss.first is None else toss.first) - BEFORE
    track = tuple(state for state in arm.track() if state.time >= since)
    fault = toss.fault or (None if arm.fault is None else str(arm.fault))
    for line in (fault, toss.spoilt):
        if line is not None and line not in run.refused:
            run = replace(run, refused=(*run.refused, line))
    return TossRecord(run, track, fault, toss.spoilt)


def _spoilt(buffer: Buffer) -> str | None:
    """Say in one line what is wrong with the sound of a buffer."""
    lost = (f"lost {buffer.xruns} times",) if buffer.xruns else ()
    found = "; ".join((*lost, *buffer.faults))
    return f"sound at {buffer.time:.3f} s: {found}" if found else None
