"""A preallocated ring between a sound card's callback and the thread that takes the frames out.

One thread pushes, one takes. Pushing never waits: it copies the block, or drops it whole where
there is no room, counts it and says where.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32
from numpy import ndarray


@dataclass(frozen=True)
class Gap:
    """Something that was lost.

    Attributes:
        frame: Frame at which it was lost, counted over all frames offered.
        lost: Frames lost there of those offered; 0 where the device lost an unknown number.
    """

    frame: int
    lost: int


class Ring:
    """Frames on their way from one thread to another."""

    def __init__(self, frames: int, channels: int) -> None:
        """Allocate the ring."""
        self.gaps: list[Gap] = []
        self._frames = np.zeros((max(1, frames), channels), np.float32)
        self._pushed = 0  # frames put in since the start; written by the pusher alone
        self._taken = 0  # frames taken out; written by the taker alone
        self._offered = 0

    @property
    def ready(self) -> int:
        """How many frames wait to be taken."""
        return self._pushed - self._taken

    def push(self, block: Float32[ndarray, "frame channel"]) -> None:
        """Copy a block in; without room, or of other channels, drop it and note the gap."""
        size, start = len(block), self._pushed % len(self._frames)
        other = block.shape[1:] != self._frames.shape[1:]
        if other or size > len(self._frames) - self.ready:
            self.gaps.append(Gap(self._offered, size))
        else:
            first = min(size, len(self._frames) - start)
            self._frames[start : start + first] = block[:first]
            self._frames[: size - first] = block[first:]
            self._pushed += size
        self._offered += size

    def note_gap(self) -> None:
        """Note that the device itself lost something before the next block."""
        self.gaps.append(Gap(self._offered, 0))

    def take(self, count: int) -> Float32[ndarray, "frame channel"]:
        """Return a copy of the oldest frames and take them out; fewer where fewer are ready."""
        start = self._taken % len(self._frames)
        count = min(count, self.ready)
        first = min(count, len(self._frames) - start)
        frames = np.concatenate(
            (self._frames[start : start + first], self._frames[: count - first])
        )
        self._taken += count
        return frames
