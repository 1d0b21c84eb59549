"""Sound as it comes: short buffers on one clock, simulated or from a sound card.

A buffer is 11 ms long as in section 3.3 of Matl et al. (STReSSD): 485 frames at 44.1 kHz. The clock
counts from the first frame. Frames that were lost are not filled in: the clock jumps over them as
far as their number is known, and the buffer says how often something was lost in it.

A stream that stops ends; the listener's `fault` says in one line why.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from jaxtyping import Float32
from numpy import ndarray

from ricochet.hardware.microphones.interface import Rig
from ricochet.models.sound import impact_stream
from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.sound.multilateration import Region

BUFFER = 0.011
"""Length of a buffer, s."""
SILENCE = 0.2
"""Time without a buffer after which the microphones are said to have stopped, s."""


@dataclass(frozen=True)
class Buffer:
    """A piece of sound.

    Attributes:
        time: End of the buffer in the stream's clock, s.
        samples: Sound, full scale 1.
        xruns: How often something was lost since the buffer before.
    """

    time: float
    samples: Float32[ndarray, "channel frame"]
    xruns: int = 0


class Listener(Protocol):
    """Microphones that are listened to while they hear.

    Attributes:
        rig: The microphones.
        fault: Why the stream ended before its time, one line; None while all is well.
    """

    rig: Rig
    fault: str | None

    def buffers(self) -> Iterator[Buffer]:
        """Open the stream; leaving the iterator closes it.

        Returns:
            The buffers in order, each as soon as it is complete.
        """
        ...


def frames(rig: Rig) -> int:
    """Return the frames of a buffer.

    Args:
        rig: The microphones.
    """
    return round(BUFFER * rig.sample_rate)


def events(
    listener: Listener, *, region: Region | None = None
) -> Iterator[tuple[Buffer, tuple[BounceEvent, ...]]]:
    """Hear the impacts in a stream.

    Args:
        listener: The microphones.
        region: Where impacts can be; None takes the surroundings of the microphones.

    Returns:
        Each buffer and the impacts that it decided, their times in the stream's clock.
    """
    rate = listener.rig.sample_rate
    state, heard = impact_stream.init(listener.rig.array(), region=region), 0
    for buffer in listener.buffers():
        state, found = impact_stream.step(state, buffer.samples)
        heard += buffer.samples.shape[1]
        late = buffer.time - heard / rate
        yield buffer, found if late == 0.0 else tuple(_moved(event, late) for event in found)


def stopped(rig: Rig, seconds: float) -> str:
    """Say that microphones stopped.

    Args:
        rig: The microphones.
        seconds: Their clock when the last buffer ended, s.

    Returns:
        One line.
    """
    return f"{rig.name}: found no sound for {SILENCE} s after {seconds:.3f} s, expected a stream"


def at_once(_seconds: float) -> None:
    """Pace a simulated stream as fast as it goes."""


def in_real_time() -> Callable[[float], None]:
    """Pace a simulated stream like a sound card, from now on.

    Returns:
        A function that sleeps until a time of the stream's clock, s.
    """
    begun = time.monotonic()
    return lambda seconds: time.sleep(max(0.0, begun + seconds - time.monotonic()))


class PlayedSound:
    """A listener that plays samples; it can be listened to again."""

    def __init__(
        self,
        rig: Rig,
        samples: Float32[ndarray, "channel frame"],
        *,
        pace: Callable[[], Callable[[float], None]] = lambda: at_once,
        stops_at: float | None = None,
    ) -> None:
        """Take the sound.

        Args:
            rig: The microphones.
            samples: What they hear, full scale 1.
            pace: Called at the start of a stream; gives a function that waits for a time of the
                stream's clock (`in_real_time`), by default not at all.
            stops_at: Time at which the microphones fail, s.
        """
        self.rig = rig
        self.fault: str | None = None
        self._samples = samples
        self._pace = pace
        self._stops_at = stops_at

    def buffers(self) -> Iterator[Buffer]:
        """Play the whole buffers; see `Listener.buffers`."""
        size, rate, end, wait = frames(self.rig), self.rig.sample_rate, 0.0, self._pace()
        self.fault = None
        for stop in range(size, self._samples.shape[1] + 1, size):
            if self._stops_at is not None and stop / rate > self._stops_at:
                wait(end + SILENCE)
                self.fault = stopped(self.rig, end)
                return
            end = stop / rate
            wait(end)
            yield Buffer(end, self._samples[:, stop - size : stop])


def _moved(event: BounceEvent, late: float) -> BounceEvent:
    """Shift an event in time."""
    return replace(event, time=event.time + late, arrival=event.arrival + late)
