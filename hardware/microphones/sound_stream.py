"""A sound card read while it records (sounddevice).

The card's callback copies each block into a preallocated ring, wakes the listener and returns. What
the ring had no room for is counted, located and skipped by the clock; of what the card itself lost
only the place is known, so the clock then runs late by the loss. Needs the extra `capture` and
Debian's libportaudio2.
"""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ricochet.hardware.microphones import sound_device
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
    ) -> None:
        """Choose the device as `SoundCard` does; it is opened when the buffers are asked for.

        Args:
            ahead: Seconds by which the listener may fall behind.
            patience: Seconds without sound after which the card is said to have stopped.

        Raises:
            BadInput: sounddevice or PortAudio is missing.
        """
        self.rig = rig
        self.fault: str | None = None
        self.gaps: tuple[Gap, ...] = ()
        self._device = device
        self._driver = driver if driver is not None else sound_device.sounddevice()
        self._ahead, self._patience = ahead, patience

    def buffers(self) -> Iterator[Buffer]:
        """Open the card; see `stream.Listener.buffers`.

        Raises:
            BadInput: The device does not exist, has too few channels or not the rate.
        """
        self.fault, self.gaps = None, ()
        order = [microphone.channel for microphone in self.rig.microphones]
        ring, arrived = (
            Ring(round(self._ahead * self.rig.sample_rate), 1 + max(order)),
            threading.Event(),
        )
        size, clock = frames(self.rig), 0

        def callback(block: Any, _frames: int, _time: Any, status: Any) -> None:
            if status and status.input_overflow:
                ring.note_gap()
            ring.push(np.asarray(block, np.float32))
            arrived.set()

        with sound_device.open_input(
            self.rig, callback, driver=self._driver, device=self._device, frames=size
        ):
            while _wait(ring, size, arrived, self._patience):
                samples = ring.take(size)[:, order].T
                clock, lost = self._tick(ring, clock, size)
                yield Buffer(clock / self.rig.sample_rate, samples, lost)
        self.fault = stopped(self.rig, clock / self.rig.sample_rate, patience=self._patience)

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
    """Wait until a buffer is ready; tell whether one came in time."""
    while ring.ready < size:
        arrived.clear()
        if ring.ready < size and not arrived.wait(patience):
            return ring.ready >= size
    return True
