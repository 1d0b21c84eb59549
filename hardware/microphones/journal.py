"""A journal of the audio while it is recorded: callback, preallocated ring, writer thread, file.

The callback of a sound card must not allocate, wait or touch a disk: it copies its block into a
ring. A thread empties the ring into a file and forces it to the disk twice a second, so that a
kill -9 loses less than a second. A block that does not fit into the ring is dropped, counted and
located: a disk that cannot keep up degrades the take and never the sound card.

The file is one line of JSON (channels, sample_rate) and then float32 frames, channels interleaved.
"""

import errno
import json
import os
import stat
import threading
import time
from pathlib import Path

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from ricochet.hardware.microphones.ring import Ring
from ricochet.models.core.bad_input import BadInput

SYNC_PERIOD = 0.5  # s between two syncs
LARGEST = 2**28  # bytes of a journal
_HEADER = 4096  # bytes in which the line of JSON ends
POLL_PERIOD = 0.02  # s the writer sleeps when the ring is empty


class Journal:
    """An open journal: one thread pushes, one thread of its own writes."""

    def __init__(
        self, path: Path, *, channels: int, sample_rate: int, seconds_ahead: float = 2.0
    ) -> None:
        """Open the file, allocate a ring of so many seconds and start the writer."""
        self._ring = Ring(round(seconds_ahead * sample_rate), channels)
        self._failure: OSError | None = None
        self._closing = threading.Event()
        self._file = path.open("wb", buffering=0)
        header = json.dumps({"channels": channels, "sample_rate": sample_rate})
        try:
            self._file.write(header.encode() + b"\n")
        except OSError:
            self._file.close()
            raise
        self._writer = threading.Thread(target=self._write, name="journal", daemon=True)
        self._writer.start()

    @property
    def gaps(self) -> list[int]:
        """Frames at which something was lost, counted over all frames offered."""
        return [gap.frame for gap in self._ring.gaps]

    def push(self, block: Float32[ndarray, "frame channel"]) -> None:
        """Copy a block into the ring, or note its frame as a gap where there is no room."""
        self._ring.push(block)

    def note_gap(self) -> None:
        """Note that the device itself lost something before the next block."""
        self._ring.note_gap()

    def close(self) -> None:
        """Write what is left, force it to the disk and end the writer.

        Raises:
            OSError: The writer could not write; what it wrote before is intact.
        """
        self._closing.set()
        self._writer.join()
        self._file.close()
        if self._failure is not None:
            raise self._failure

    def _write(self) -> None:
        """Empty the ring until the journal is closed and the ring is empty."""
        synced = time.monotonic()
        try:
            while True:
                ending = self._closing.is_set()
                empty = self._drain() == 0
                if ending or time.monotonic() - synced > SYNC_PERIOD:
                    os.fsync(self._file.fileno())
                    synced = time.monotonic()
                if ending and empty:
                    return
                if empty:
                    self._closing.wait(POLL_PERIOD)
        except OSError as error:
            self._failure = error

    def _drain(self) -> int:
        """Write what was pushed so far; return the number of frames."""
        frames = self._ring.take(self._ring.ready)
        content = memoryview(frames.tobytes())
        while content:
            content = content[self._file.write(content) or 0 :]
        return len(frames)


def read(path: Path) -> tuple[Float32[ndarray, "channel frame"], int]:
    """Return samples and sample rate, Hz, of a journal; a frame cut short at its end is left out.

    Raises:
        BadInput: The file cannot be read, is no regular file or too large, or is no journal.
    """
    try:
        content = _content(path)
        header, _, _ = content[:_HEADER].partition(b"\n")
        meta = json.loads(header)
        channels, rate = int(meta["channels"]), int(meta["sample_rate"])
    except OSError as error:
        raise BadInput(str(path), error.strerror or str(error), "a journal") from error
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise BadInput(str(path), "no header", "a journal of a recording") from error
    start = len(header) + 1
    frames = (len(content) - start) // (4 * channels) if channels > 0 else 0
    if rate < 1 or frames < 1:
        raise BadInput(str(path), "no frames", "a journal of a recording")
    samples = np.frombuffer(content, np.float32, frames * channels, start)
    return samples.reshape(frames, channels).T.copy(), rate


def _content(path: Path) -> bytes:
    """Return the bytes of a regular file, no link, of bounded size; it is never waited for."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST:
            raise OSError(errno.EINVAL, "no regular file, or one that is too large")
        with open(handle, "rb", closefd=False) as file:
            return file.read(LARGEST)
    finally:
        os.close(handle)
