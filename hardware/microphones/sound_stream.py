"""A sound card read while it records (sounddevice).

The card's callback copies each block into a preallocated ring, wakes the listener and returns. What
the ring had no room for is counted, located and skipped by the clock; of what the card itself lost
only the place is known, so the clock then runs late by the loss. What it lost or gave twice without
a word is found within a second (`frame_clock`), and samples that are not finite at once; both are
faults of a buffer. Needs the extra `capture` and Debian's libportaudio2.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ricochet.hardware.microphones import finite, sound_device
from ricochet.hardware.microphones.frame_clock import BIN, KEPT, FrameClock
from ricochet.hardware.microphones.interface import Rig
from ricochet.hardware.microphones.ring import Gap, Ring
from ricochet.hardware.microphones.stream import SILENCE, Buffer, frames, stopped

AHEAD = 2.0  # s that the ring holds: a listener may fall behind by as much


class SoundStream:
    """A listener on one input device."""

    def __init__(
        self,
        rig: Rig,
        *,
        device: str | int | None = None,
        driver: Any = None,
        ahead: float = AHEAD,
        patience: float = SILENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Choose the device as `SoundCard` does; it is opened when the buffers are asked for.

        Args:
            ahead: Seconds by which the listener may fall behind.
            patience: Seconds without a whole buffer after which the card is said to have stopped.
            clock: The machine's, s.

        Raises:
            BadInput: sounddevice or PortAudio is missing.
        """
        self.rig = rig
        self.fault: str | None = None
        self.gaps: tuple[Gap, ...] = ()
        self._device = device
        self._driver = driver if driver is not None else sound_device.sounddevice()
        self._ahead, self._patience, self._clock = ahead, patience, clock
        self._known: set[int] = set()  # frames of the slips that were said

    def buffers(self) -> Iterator[Buffer]:
        """Open the card; see `stream.Listener.buffers`.

        Raises:
            BadInput: The device does not exist, has too few channels or not the rate.
        """
        self.fault, self.gaps, self._known = None, (), set()
        order = [microphone.channel for microphone in self.rig.microphones]
        ring, arrived = (
            Ring(round(self._ahead * self.rig.sample_rate), 1 + max(order)),
            threading.Event(),
        )
        size, clock, taken, due, doubled = frames(self.rig), 0, 0, 0.0, 0
        blocks = FrameClock(self.rig.sample_rate, kept=KEPT, clock=self._clock)

        def callback(block: Any, _frames: int, stated: Any, status: Any) -> None:
            if status and status.input_overflow:
                ring.note_gap()
            ring.push(np.asarray(block, np.float32))
            blocks.note(block, stated)
            arrived.set()

        with sound_device.open_input(
            self.rig, callback, driver=self._driver, device=self._device, frames=size
        ):
            while _wait(ring, size, arrived, self._patience):
                samples, bad = finite.without(ring.take(size)[:, order].T, begin=taken)
                clock, lost = self._tick(ring, clock, size)
                taken += size
                slipped = list[str]()
                if taken >= due or blocks.doubled > doubled:
                    due, doubled = taken + BIN * self.rig.sample_rate, blocks.doubled
                    slipped = self._slipped(blocks)
                faults = (*(str(each) for each in bad), *slipped)
                yield Buffer(clock / self.rig.sample_rate, samples, lost, faults)
        self.fault = stopped(self.rig, clock / self.rig.sample_rate, patience=self._patience)

    def _slipped(self, blocks: FrameClock) -> list[str]:
        """Say what was lost or doubled without a word, once, and not what was flagged.

        Another rate than was asked is said as long as it lasts, and nothing else.
        """
        if odd := blocks.odd_rate():
            return [odd]
        near, said = BIN * self.rig.sample_rate, list[str]()
        for slip in blocks.slips():
            known = [*self._known, *(gap.frame for gap in self.gaps)]
            if all(abs(slip.frame - frame) > near for frame in known):
                said.append(str(slip))
                self._known.add(slip.frame)
        return said

    def _tick(self, ring: Ring, clock: int, size: int) -> tuple[int, int]:
        """Advance the clock over a buffer and the gaps in it; return it and their number."""
        end, count, seen = clock + size, 0, len(self.gaps)
        for gap in ring.gaps[seen:]:
            if gap.frame >= end:
                break
            end += gap.lost
            count += 1
        self.gaps = tuple(ring.gaps[: seen + count])
        return end, count


def _wait(ring: Ring, size: int, arrived: threading.Event, patience: float) -> bool:
    """Wait until a buffer is ready; tell whether a whole one came in time.

    Blocks that bring nothing, or next to nothing, earn no more time.
    """
    end = time.monotonic() + patience
    while ring.ready < size:
        arrived.clear()
        if ring.ready < size and not arrived.wait(max(end - time.monotonic(), 0.0)):
            return ring.ready >= size
    return True
