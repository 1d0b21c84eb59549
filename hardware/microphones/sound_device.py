"""A real rig: a sound card with several microphones, through PortAudio (sounddevice).

The card's callback copies each block into a journal's ring and returns; a thread writes. What the
card or the disk lost is counted and located. Needs the extra `capture` and Debian's libportaudio2.
"""

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

from hardware.microphones import journal as journals
from hardware.microphones.interface import Recording, Rig, now
from models.core.bad_input import BadInput

PATIENCE = 5.0  # s beyond the take's length after which a silent card is given up


class SoundCard:
    """A recorder on one input device."""

    exclusive = True

    def __init__(self, rig: Rig, *, device: str | int | None = None, driver: Any = None) -> None:
        """Choose the device; it is opened at each take.

        Args:
            rig: The microphones and the rate at which to sample them.
            device: Name or number of the input device; the system's default when absent.
            driver: A module like sounddevice; that one when absent.

        Raises:
            BadInput: sounddevice or PortAudio is missing.
        """
        self.rig = rig
        self._device = device
        self._driver = driver if driver is not None else _sounddevice()

    def record(self, duration: float, *, journal: Path | None = None) -> Recording:
        """Record one take; see `interface.Recorder`.

        Args:
            duration: Length of the take, s.
            journal: File that receives the audio; a temporary one when absent.

        Raises:
            BadInput: The device does not exist, has too few channels or not the rate.
            RuntimeError: The card stopped giving blocks.
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
        started = now()
        try:
            self._stream(sink, channels=channels, wanted=wanted)
        finally:
            sink.close()
        samples, _ = journals.read(path)
        order = [microphone.channel for microphone in self.rig.microphones]
        return Recording(samples[order, :wanted], started, tuple(sorted(set(sink.gaps))))

    def _stream(self, sink: journals.Journal, *, channels: int, wanted: int) -> None:
        """Feed the journal from the card until enough frames came."""
        full, seen = threading.Event(), [0]

        def callback(block: Any, frames: int, _time: Any, status: Any) -> None:
            if status and status.input_overflow:
                sink.note_gap()
            sink.push(np.asarray(block, np.float32))
            seen[0] += frames
            if seen[0] >= wanted:
                full.set()

        patience = wanted / self.rig.sample_rate + PATIENCE
        with self._open(channels, callback):
            if not full.wait(patience):
                raise RuntimeError(f"{self.rig.name}: {seen[0]} of {wanted} frames came, then none")

    def _open(self, channels: int, callback: Any) -> Any:
        """Open the input stream; the driver's refusals are bad input."""
        try:
            return self._driver.InputStream(
                device=self._device,
                channels=channels,
                samplerate=self.rig.sample_rate,
                dtype="float32",
                callback=callback,
            )
        except (ValueError, self._driver.PortAudioError) as error:
            expected = f"an input device with {channels} channels at {self.rig.sample_rate} Hz"
            raise BadInput(f"sound card {self._device!r}", str(error), expected) from error


def _sounddevice() -> Any:
    """Import the driver late: it loads PortAudio."""
    try:
        import sounddevice
    except (ImportError, OSError) as error:
        expected = "the extra `capture` and the system library PortAudio (libportaudio2)"
        raise BadInput("sounddevice", str(error), expected) from error
    return sounddevice
