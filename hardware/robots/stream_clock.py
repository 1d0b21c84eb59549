"""A clock in step with a stream of sound, on top of the clock of this machine.

A buffer that ends at t comes at t or later, so the stream's clock is the latest of all that its
buffers allow (`follow`).
"""

import time
from collections.abc import Callable


class StreamClock:
    """Seconds since a stream began, s."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin now; `clock` is that of the machine, s."""
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """Set it to zero."""
        self._zero, self._following = self._clock(), False

    def follow(self, time: float) -> None:
        """Keep it in step: a buffer of the stream has just ended, at `time`, s."""
        zero = self._clock() - time
        self._zero = min(self._zero, zero) if self._following else zero
        self._following = True

    def now(self) -> float:
        """Return the stream's time, s."""
        return self.at(self._clock())

    def at(self, when: float) -> float:
        """Return the stream's time at a time of the machine's clock, s."""
        return when - self._zero
