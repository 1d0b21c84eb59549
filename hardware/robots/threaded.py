"""An arm that a thread of its own steers all the time, while others listen and decide.

A real arm needs a target every period and its watchdog kicked, whether or not a controller is
computing, sound is awaited, or the operator is asked. The thread alone calls the arm; it executes
the requests of others between two periods and answers within one.

Its clock is that of a stream of sound: a buffer that ends at t comes at t or later, so the clock
is the latest of all that its buffers allow (`follow`). It runs from `begin`, with the energy.
"""

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import replace

from ricochet.hardware.robots.paddle_arm import Arm, ArmState, Point, Refusal

PERIOD = 0.008  # s, from one look at the arm to the next
PATIENCE = 1.0  # s, within which the thread answers
KEPT = 60.0  # s, of the arm's track

Answer = Refusal | None
Request = tuple[Callable[[], Answer], "Future[Answer]"]


class SteeredArm:
    """Another arm, steered by a thread until it is closed."""

    exclusive = True

    def __init__(
        self,
        arm: Arm,
        *,
        period: float = PERIOD,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take an arm over and start to steer it.

        Args:
            arm: Only this object may call it until it is closed.
            period: Time that the arm is advanced by at once, s.
            clock: Wall clock, s.
        """
        self.workspace = arm.workspace
        self.fault: Refusal | None = None
        self._arm, self._period, self._clock = arm, period, clock
        self._track = deque([(clock(), arm.state())], maxlen=round(KEPT / period))
        self._zero, self._energy, self._following = clock(), 0.0, False
        self._requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._ended, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._steer, name="arm", daemon=True)
        self._thread.start()

    def begin(self) -> None:
        """Set clock and energy to zero."""
        self._zero, self._energy = self._clock(), self._track[-1][1].energy
        self._following = False

    def follow(self, time: float) -> None:
        """Keep the clock in step with a stream: one of its buffers has just ended, at `time`, s."""
        zero = self._clock() - time
        self._zero = min(self._zero, zero) if self._following else zero
        self._following = True

    def state(self) -> ArmState:
        """Return where the arm was a period ago at most, at the clock's time."""
        return self._as_of(self._clock(), self._track[-1][1])

    def track(self) -> list[ArmState]:
        """Return where the arm was in every period since the stream began, a minute at most."""
        states = [self._as_of(when, state) for when, state in self._track.copy()]
        return [state for state in states if state.time >= 0.0]

    def move(self, point: Point, duration: float) -> Refusal | None:
        """Turn to a new target; see `paddle_arm.Arm`."""
        return self._ask(lambda: self._arm.move(point, duration))

    def advance(self, seconds: float) -> Refusal | None:
        """Wait while the thread steers; see `paddle_arm.Arm`."""
        self._ended.wait(seconds)
        return self.fault

    def stop(self) -> None:
        """Come to rest and stay."""
        self._ask(self._arm.stop)

    def close(self) -> None:
        """End the thread, stop the arm and let it go; may be called twice."""
        self._closing.set()
        self._thread.join()
        self._arm.close()

    def _as_of(self, when: float, state: ArmState) -> ArmState:
        """Return a state as of the stream's clock, with the energy since it began."""
        return replace(state, time=when - self._zero, energy=state.energy - self._energy)

    def _ask(self, call: Callable[[], Answer]) -> Answer:
        """Have the thread do something between two periods."""
        if self._ended.is_set():
            return self.fault
        answer: Future[Answer] = Future()
        self._requests.put((call, answer))
        try:
            return answer.result(PATIENCE)
        except FutureTimeoutError:
            return self.fault or Refusal("arm", f"no answer in {PATIENCE} s", "one every period")

    def _steer(self) -> None:
        """Steer until the arm fails or is closed."""
        try:
            while self.fault is None and not self._closing.is_set():
                self._answer()
                self.fault = self._arm.advance(self._period)
                self._track.append((self._clock(), self._arm.state()))
        except Exception as error:  # whatever the driver raises, nothing may go on unsupervised
            self.fault = Refusal("arm", str(error) or type(error).__name__, "an arm that answers")
            with contextlib.suppress(Exception):
                self._arm.stop()
        self._ended.set()

    def _answer(self) -> None:
        """Execute the requests, and answer them."""
        while not self._requests.empty():
            call, answer = self._requests.get()
            answer.set_result(call())
