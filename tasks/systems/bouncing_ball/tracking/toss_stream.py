"""One real toss: microphones that are listened to until it is over, and an arm that answers.

    card -> Ear (settles, says when it listens, ends with the toss) -> deflection -> steered arm

The loop is that of the twin (`tasks.systems.bouncing_ball.tracking.control_loop`); what differs is
that time passes by itself. An event becomes known when it is heard, not when its buffer ends, and
the arm's clock is what says so.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import cast

from ricochet.hardware.microphones.stream import Buffer, Listener
from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.hardware.robots.threaded import SteeredArm
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Controller, Known, Run

SETTLE = 0.3
"""Sound that is not listened to after a card was opened: a key pressed, a start-up click, s."""
BEFORE = 0.5
"""Time before the first event of which the arm's record is kept, s."""


@dataclass(frozen=True)
class Attention:
    """How long a toss is listened to.

    Attributes:
        patience: Until the first event, s.
        window: From the first event on, s.
    """

    patience: float
    window: float


@dataclass(frozen=True)
class Live:
    """What came of a toss.

    Attributes:
        run: What was decided, refused and done.
        track: Where the arm was, from a little before the first event.
        fault: Why nothing may go on, one line; None while all is well.
    """

    run: Run
    track: tuple[ArmState, ...]
    fault: str | None


class Ear:
    """A listener that ends with the toss."""

    def __init__(
        self,
        listener: Listener,
        arm: SteeredArm,
        attention: Attention,
        *,
        listening: Callable[[], None],
    ) -> None:
        """Prepare to listen.

        Args:
            listener: The microphones.
            arm: The arm whose clock follows the stream.
            attention: How long to listen.
            listening: Called once, when a ball may be tossed.
        """
        self.rig, self.fault = listener.rig, listener.fault
        self.first: float | None = None
        self._listener, self._arm, self._attention = listener, arm, attention
        self._listening = listening

    def buffers(self) -> Iterator[Buffer]:
        """Listen until the toss is over; see `Listener.buffers`."""
        told = False
        with closing(cast(Generator[Buffer], self._listener.buffers())) as sound:
            for buffer in sound:
                self._arm.follow(buffer.time)
                if buffer.time < SETTLE:
                    continue
                if not told:
                    self._listening()
                    told = True
                if buffer.time >= self._end():
                    return
                yield buffer
        self.fault = self._listener.fault

    def events(self) -> Iterator[Known]:
        """Hear the bounces; see `deflection.listen`."""
        for known in control_loop.listen(self):
            self.first = known.event.arrival if self.first is None else self.first
            now = self._arm.state().time
            yield replace(known, time=max(known.time, now), cost=0.0)

    def _end(self) -> float:
        if self.first is None:
            return SETTLE + self._attention.patience
        return self.first + self._attention.window


def meet(
    controller: Controller,
    listener: Listener,
    arm: SteeredArm,
    attention: Attention,
    *,
    listening: Callable[[], None],
) -> Live:
    """Let a controller meet one real toss.

    Args:
        controller: The controller at rest.
        listener: The microphones.
        arm: The arm, at its home.
        attention: How long to listen.
        listening: Called when a ball may be tossed.

    Returns:
        What came of it.
    """
    arm.begin()
    ear = Ear(listener, arm, attention, listening=listening)
    run = control_loop.deflect(controller, ear.events(), arm)
    since = (run.final.time if ear.first is None else ear.first) - BEFORE
    track = tuple(state for state in arm.track() if state.time >= since)
    fault = ear.fault or (None if arm.fault is None else str(arm.fault))
    if fault is not None and fault not in run.refused:
        run = replace(run, refused=(*run.refused, fault))
    return Live(run, track, fault)
