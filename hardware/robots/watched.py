"""An arm that a process of its own steers and watches, while others listen and decide.

A real arm needs a target every period and its watchdog kicked, whether or not a controller is
computing, sound is awaited, or the operator is asked; and it must stop when whoever commands it
hangs or dies. The process (`owner`) alone calls the driver. It stops the arm when this one is
silent for `Limits.silence`. The other way round, when the owner is silent, gone, or does not answer
in time, this one stops the arm beside the driver and ends the owner; every later call answers why.

A command has a deadline: it is executed before that, or never.
"""

import contextlib
import importlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import replace
from typing import Any

from ricochet.hardware.robots import messages, owner_process
from ricochet.hardware.robots.messages import Channel, Driver, Limits, Move, Start, Stop
from ricochet.hardware.robots.owner import StopBeside
from ricochet.hardware.robots.paddle_arm import ArmState, Point, Refusal, refuse_target
from ricochet.hardware.robots.stream_clock import StreamClock
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

STARTING = 20.0  # s, for the process to start and to import its driver
KEPT = 60.0  # s, of the arm's track
BEAT = 0.02  # s, between signs of life
TICK = 0.01  # s, between looks at the clock
LET_GO = Refusal("arm", "let go", "one that is held")


class WatchedArm:
    """An arm behind its owner; see `paddle_arm.Arm`."""

    exclusive = True

    def __init__(
        self,
        driver: Driver,
        workspace: Workspace,
        *,
        limits: Limits | None = None,
        lock: int | None = None,
    ) -> None:
        """Start the owner and wait until the arm is there, at rest.

        Args:
            driver: What opens the arm in the owner's process.
            workspace: Where targets may lie.
            limits: How long anything may take; the standard ones when absent.
            lock: Descriptor of `locks.hold` that the owner holds too: as long as it may still
                command the arm nobody else can take it, even after this process has died.

        Raises:
            BadInput: What the driver refuses, or a driver that does not open the arm in time.
        """
        self.workspace = workspace
        self.fault: Refusal | None = None
        self.clock = StreamClock()
        self._start = Start(driver, limits or Limits())
        self._numbers, self._sending = itertools.count(1), threading.Lock()
        self._answers: dict[int, Future[Refusal | None]] = {}
        self._ended, self._over = threading.Event(), threading.Event()
        self._closing, self._let_go = False, False
        self._failing, self._releasing = threading.Lock(), threading.Lock()
        end, self._process = owner_process.launch(*(() if lock is None else (lock,)))
        self._channel = Channel(end, sends=messages.TO_OWNER, receives=messages.TO_CLIENT)
        try:
            first = self._opened()
        except BaseException:
            with contextlib.closing(self._channel):
                self._end_process()
            raise
        track = deque([(time.monotonic(), first)], maxlen=round(KEPT / self._start.limits.period))
        self._track, self._energy = track, first.energy
        self._thread = threading.Thread(target=self._listen, name="arm", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Set clock and energy to zero."""
        self.clock.begin()
        self._energy = self._track[-1][1].energy

    def follow(self, time: float) -> None:
        """Keep the clock in step with a stream: one of its buffers has just ended, at `time`, s."""
        self.clock.follow(time)

    def state(self) -> ArmState:
        """Return where the arm was a period ago at most, at the clock's time."""
        return self._as_of(self.clock.now(), self._track[-1][1])

    def track(self) -> list[ArmState]:
        """Return where the arm was in every period since the stream began, a minute at most."""
        states = [self._as_of(self.clock.at(when), state) for when, state in self._track.copy()]
        return [state for state in states if state.time >= 0.0]

    def move(self, point: Point, duration: float) -> Refusal | None:
        """Turn to a new target within `Limits.command`, or never; see `paddle_arm.Arm`."""
        refusal = self.fault or refuse_target(point, duration, self.workspace)
        if refusal is not None:
            return refusal
        x, y, z = (float(number) for number in point)
        deadline = time.monotonic() + self._start.limits.command
        return self._ask(lambda number: Move(number, deadline, (x, y, z), float(duration)))

    def advance(self, seconds: float) -> Refusal | None:
        """Wait while the owner steers; see `paddle_arm.Arm`."""
        self._ended.wait(seconds)
        return self.fault

    def stop(self) -> None:
        """Come to rest and stay; every command before it is void."""
        if self.fault is None:
            self._ask(Stop)

    def close(self) -> None:
        """Stop the arm, let it go and end its owner, in bounded time; many may call it.

        An owner that dies meanwhile, or before, may have stopped nothing: `fault` then says so.
        """
        with self._releasing:
            if not self._over.is_set():
                self._release()

    def _release(self) -> None:
        """Let the arm go, once."""
        self._closing = True
        limits = self._start.limits
        try:
            self._channel.send(messages.Close())
            gone = self._process.wait(limits.hang + limits.closing + limits.stopping)
        except OSError:
            gone = self._process.wait(limits.hang)  # one that was killed may end yet
        self._over.set()
        self._thread.join()
        self._take_last()
        if not gone:
            self._fail(Refusal("arm", "its owner did not end", "an end in time"))
        elif not self._let_go:
            self._fail(Refusal("arm", "its owner died as it was closed", "an owner that lives"))
        self._end_process()
        self._channel.close()
        self._ended.set()

    def _opened(self) -> ArmState:
        """Wait for the owner's first word."""
        self._channel.send(self._start)
        end = time.monotonic() + STARTING + self._start.limits.opening
        try:
            while time.monotonic() < end:
                for message in self._channel.receive(TICK):
                    if isinstance(message, messages.Refused):
                        raise BadInput(message.where, message.found, message.expected)
                    if isinstance(message, messages.Fault):
                        raise _bad(message.fault)
                    if isinstance(message, messages.Ready):
                        return message.state
        except (EOFError, OSError) as error:
            raise BadInput("arm", str(error), "a process that owns it") from error
        raise BadInput("arm", "no answer from its driver in time", "a driver that opens it")

    def _ask(self, message: Callable[[int], Move | Stop]) -> Refusal | None:
        """Send a command and wait for its answer; without one, give the owner up.

        An arm that is let go may be another's: nothing is asked of it, nor is it stopped.
        """
        limits, answer = self._start.limits, Future[Refusal | None]()
        with self._sending:
            if self._closing:
                return LET_GO
            number = next(self._numbers)
            self._answers[number] = answer
            try:
                self._channel.send(message(number))
            except OSError as error:
                if self._closing:
                    return LET_GO
                if not self._ended.wait(self._start.limits.hang):  # it may have said why it ended
                    self._fail(Refusal("arm", str(error), "an owner that reads"))
        patience = limits.command + limits.hang + limits.silence
        if self.fault is not None:  # it may have come since the answer was put where it is found
            return self.fault
        try:
            return answer.result(patience)
        except FutureTimeoutError:
            late = Refusal("arm", f"no answer in {patience:.2f} s", "one in time")
            return LET_GO if self._closing else self._fail(late)
        finally:
            self._answers.pop(number, None)

    def _listen(self) -> None:
        """Take what the owner says and give signs of life until the arm is closed or lost."""
        heard, beat = time.monotonic(), 0.0
        try:
            while not self._over.is_set():
                received = self._channel.receive(TICK)
                for message in received:
                    self._take(message)
                now = time.monotonic()
                heard = now if received else heard
                if now - heard > self._start.limits.silence:
                    raise TimeoutError(f"its owner is silent for {now - heard:.3f} s")
                if now - beat > BEAT:
                    self._beat()
                    beat = now
        except (EOFError, OSError, ValueError) as error:
            if not self._closing or not self._process.wait(self._start.limits.closing):
                self._fail(Refusal("arm", " ".join(str(error).split()), "an owner that lives"))

    def _beat(self) -> None:
        """Give a sign of life; of an owner who is gone, take first what it said last."""
        try:
            self._channel.send(messages.Beat())
        except OSError:
            self._take_last()
            raise

    def _take_last(self) -> None:
        """Take what the owner said before its end, if that is not taken yet."""
        with contextlib.suppress(EOFError, OSError, ValueError):
            for message in self._channel.receive(0.0):
                self._take(message)

    def _take(self, message: Any) -> None:
        """Keep what the owner says."""
        if isinstance(message, messages.State):
            self._track.append((message.when, message.state))
        elif isinstance(message, messages.Fault):
            self._note(message.fault)
        elif isinstance(message, messages.Closed):
            self._let_go = True
        elif isinstance(message, messages.Done):
            answer = self._answers.get(message.number)
            if answer is not None and not answer.done():
                answer.set_result(message.refusal)

    def _note(self, fault: Refusal) -> Refusal:
        """Keep the first fault, and answer with it all that waits."""
        self.fault = self.fault or fault
        self._ended.set()
        for answer in list(self._answers.values()):
            if not answer.done():
                answer.set_result(self.fault)
        return self.fault

    def _fail(self, fault: Refusal) -> Refusal:
        """Stop the arm beside its driver and end its owner, who can then execute nothing."""
        with self._failing:
            if self.fault is not None and self._process.wait(self._start.limits.hang):
                return self.fault  # the owner said why the arm is stopped, and ended
            self._process.kill()
            module = importlib.import_module(self._start.driver.module)
            escape = StopBeside(module, self._start)
            escape.wait()
            return self._note(escape.added_to(fault))

    def _end_process(self) -> None:
        """End the owner and wait for it."""
        self._process.kill()
        self._process.wait(self._start.limits.closing)

    def _as_of(self, when: float, state: ArmState) -> ArmState:
        """Return a state as of the stream's clock, with the energy since it began."""
        return replace(state, time=when, energy=state.energy - self._energy)


def _bad(fault: Refusal) -> BadInput:
    return BadInput(fault.what, fault.found, fault.expected)
