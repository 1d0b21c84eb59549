"""A real rig: a sound card with several microphones, through PortAudio (sounddevice).

The card's callback copies each block into a journal's ring and returns; a thread writes. What the
card or the disk lost is counted and located, and so is what the card lost or gave twice without a
word (`frame_clock`), for which it is listened to a little before a take and after it. Needs the
extra `capture` and Debian's libportaudio2.
"""

import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.hardware.microphones import journal as journals
from ricochet.hardware.microphones.frame_clock import BIN, SPAN, FrameClock
from ricochet.hardware.microphones.interface import Recording, Rig, now
from ricochet.models.core.bad_input import BadInput

BESIDE = (SPAN + 1) * BIN  # s before and after a take, so that a loss at either end shows
PATIENCE = 5.0  # s beyond the take's length after which a silent card is given up


class SoundCard:
    """A recorder on one input device."""

    exclusive = True

    def __init__(
        self,
        rig: Rig,
        *,
        device: str | int | None = None,
        driver: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Choose the device; it is opened at each take.

        Args:
            rig: The microphones and the rate at which to sample them.
            device: Name or number of the input device; the system's default when absent.
            driver: A module like sounddevice, which it is when absent.
            clock: The machine's, s.

        Raises:
            BadInput: sounddevice or PortAudio is missing.
        """
        self.rig = rig
        self._device, self._clock = device, clock
        self._driver = driver if driver is not None else sounddevice()

    def record(self, duration: float, *, journal: Path | None = None) -> Recording:
        """Record one take; see `interface.Recorder`. Without a journal a temporary one is used.

        Raises:
            BadInput: The device does not exist, has too few channels or not the rate.
            RuntimeError: The card stopped giving blocks, or gives them at another rate.
            OSError: The journal cannot be written.
        """
        if journal is not None:
            return self._record(duration, journal)
        handle, name = tempfile.mkstemp(suffix=".journal")
        os.close(handle)
        try:
            return self._record(duration, Path(name))
        finally:
            os.unlink(name)

    def _record(self, duration: float, path: Path) -> Recording:
        """Run the stream until the take is full, then read the journal."""
        channels = 1 + max(microphone.channel for microphone in self.rig.microphones)
        wanted = round(duration * self.rig.sample_rate)
        sink = journals.Journal(path, channels=channels, sample_rate=self.rig.sample_rate)
        frames = FrameClock(self.rig.sample_rate, clock=self._clock)
        before = round(BESIDE * self.rig.sample_rate)
        try:
            started = self._stream(sink, frames, before=before, wanted=wanted)
        finally:
            sink.close()
        if odd := frames.odd_rate():
            raise RuntimeError(f"{self.rig.name}: {odd}")
        samples, _ = journals.read(path)
        order = [microphone.channel for microphone in self.rig.microphones]
        near = BIN * self.rig.sample_rate
        slips = (slip.frame - before for slip in frames.slips())
        unflagged = {
            frame
            for frame in slips
            if 0 <= frame < wanted and all(abs(frame - gap) > near for gap in sink.gaps)
        }
        gaps = tuple(sorted({*sink.gaps, *unflagged}))
        return Recording(samples[order, :wanted], started, gaps)

    def _stream(
        self, sink: journals.Journal, frames: FrameClock, *, before: int, wanted: int
    ) -> datetime:
        """Feed the journal from the card after some frames, and listen on for as many.

        Returns:
            When the first frame of the take came.
        """
        over, seen, began = threading.Event(), [0], [now()]
        end, total = before + wanted, before + wanted + before

        def callback(block: Any, size: int, stated: Any, status: Any) -> None:
            first = max(before - seen[0], 0)
            if first < size and seen[0] < end:
                if seen[0] <= before:
                    began[0] = now()
                if status and status.input_overflow:
                    sink.note_gap()
                sink.push(np.asarray(block[first:], np.float32))
            frames.note(block, stated)
            seen[0] += size
            if seen[0] >= total:
                over.set()

        patience = total / self.rig.sample_rate + PATIENCE
        with open_input(self.rig, callback, driver=self._driver, device=self._device):
            if not over.wait(patience):
                raise RuntimeError(f"{self.rig.name}: {seen[0]} of {total} frames came, then none")
        return began[0]


def open_input(
    rig: Rig, callback: Any, *, driver: Any, device: str | int | None, frames: int = 0
) -> Any:
    """Return an input stream, to be entered; the driver's refusals are bad input.

    Args:
        rig: The microphones and the rate at which to sample them.
        callback: Called with each block, as PortAudio does.
        driver: A module like sounddevice.
        device: Name or number of the input device; the system's default when absent.
        frames: Frames of a block; 0 leaves them to the driver.

    Raises:
        BadInput: The device does not exist, has too few channels or not the rate.
    """
    channels = 1 + max(microphone.channel for microphone in rig.microphones)
    try:
        return driver.InputStream(
            device=device,
            channels=channels,
            samplerate=rig.sample_rate,
            blocksize=frames,
            dtype="float32",
            callback=callback,
        )
    except (ValueError, driver.PortAudioError) as error:
        expected = f"an input device with {channels} channels at {rig.sample_rate} Hz"
        raise BadInput(f"sound card {device!r}", str(error), expected) from error


def sounddevice() -> Any:
    """Import the driver late: it loads PortAudio.

    Raises:
        BadInput: sounddevice or PortAudio is missing.
    """
    try:
        with contextlib.chdir("/"):  # the linker that looks for PortAudio reads the current folder
            import sounddevice as driver
    except (ImportError, OSError) as error:
        expected = "the extra `capture` (pip install sounddevice) and Debian's libportaudio2"
        raise BadInput("sounddevice", str(error), expected) from error
    return driver
