"""Sound as it comes: short buffers on one clock, simulated or from a sound card.

A buffer is 11 ms long as in section 3.3 of Matl et al. (STReSSD): 485 frames at 44.1 kHz. The clock
counts from the first frame. Frames that were lost are not filled in: the clock jumps over them as
far as their number is known, and the buffer says how often something was lost in it.

A stream that stops ends; the listener's `fault` says in one line why.
"""

from collections.abc import Iterator
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
        faults: What else is wrong with the sound, a line each: samples that are not finite, which
            are 0 here, and frames that were lost or doubled within the last second.
    """

    time: float
    samples: Float32[ndarray, "channel frame"]
    xruns: int = 0
    faults: tuple[str, ...] = ()


class Listener(Protocol):
    """Microphones that are read while they record.

    Attributes:
        fault: Why the stream ended before its time, one line; None while all is well.
    """

    rig: Rig
    fault: str | None

    def buffers(self) -> Iterator[Buffer]:
        """Open the stream and yield each buffer when complete; leaving the iterator closes it."""
        ...


def frames(rig: Rig) -> int:
    """Return the frames of a buffer."""
    return round(BUFFER * rig.sample_rate)


def events(
    listener: Listener, *, region: Region | None = None
) -> Iterator[tuple[Buffer, tuple[BounceEvent, ...]]]:
    """Detect the impacts in a stream.

    Args:
        region: Where impacts can be; None takes the surroundings of the microphones.

    Returns:
        Each buffer and the impacts that it decided, their times in the stream's clock.
    """
    rate = listener.rig.sample_rate
    state, received = impact_stream.init(listener.rig.array(), region=region), 0
    for buffer in listener.buffers():
        state, found = impact_stream.step(state, buffer.samples)
        received += buffer.samples.shape[1]
        late = buffer.time - received / rate
        yield buffer, found if late == 0.0 else tuple(_moved(event, late) for event in found)


def stopped(rig: Rig, seconds: float, *, patience: float = SILENCE) -> str:
    """Say in one line that microphones stopped, after so many seconds of their clock."""
    return f"{rig.name}: found no sound for {patience} s after {seconds:.3f} s, expected a stream"


class PlayedSound:
    """A listener that plays samples; it can be listened to again."""

    def __init__(
        self,
        rig: Rig,
        samples: Float32[ndarray, "channel frame"],
        *,
        stops_at: float | None = None,
    ) -> None:
        """Take the sound.

        Args:
            samples: What the microphones record, full scale 1.
            stops_at: Time at which they fail, s.
        """
        self.rig = rig
        self.fault: str | None = None
        self._samples = samples
        self._stops_at = stops_at

    def buffers(self) -> Iterator[Buffer]:
        """Play the whole buffers; see `Listener.buffers`."""
        size, rate, end = frames(self.rig), self.rig.sample_rate, 0.0
        self.fault = None
        for stop in range(size, self._samples.shape[1] + 1, size):
            if self._stops_at is not None and stop / rate > self._stops_at:
                self.fault = stopped(self.rig, end)
                return
            end = stop / rate
            yield Buffer(end, self._samples[:, stop - size : stop])


def _moved(event: BounceEvent, late: float) -> BounceEvent:
    """Shift an event in time."""
    return replace(event, time=event.time + late, arrival=event.arrival + late)
