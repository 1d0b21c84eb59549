"""What every microphone rig is and does, simulated or real.

A rig is a named array of microphones, one a channel of its recorder. A recorder records takes of a
given length; what it could not keep up with is counted and located, never filled in unsaid.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
from jaxtyping import Float32
from numpy import ndarray

from ricochet.models.sound.arrays import Microphones

Position = tuple[float, float, float]


@dataclass(frozen=True)
class Microphone:
    """One microphone: its channel, from 0, and its position, m, where the surface is z = 0."""

    channel: int
    position: Position


@dataclass(frozen=True)
class Rig:
    """A named array of microphones.

    Attributes:
        sample_rate: Hz.
        temperature: Of the air, degrees Celsius.
        microphones: In the order of their channels.
    """

    name: str
    sample_rate: int
    temperature: float
    microphones: tuple[Microphone, ...]

    def array(self) -> Microphones:
        """Return the array as the science knows it."""
        return Microphones(
            positions=np.array([microphone.position for microphone in self.microphones]),
            sample_rate=float(self.sample_rate),
            temperature=self.temperature,
        )


@dataclass(frozen=True)
class Recording:
    """One take as it was recorded.

    Attributes:
        samples: Samples, full scale 1.
        started_at: When the first frame was taken.
        gaps: Frames at which something was lost; empty in a good take.
    """

    samples: Float32[ndarray, "channel frame"]
    started_at: datetime
    gaps: tuple[int, ...] = field(default=())

    @property
    def xruns(self) -> int:
        """How often something was lost."""
        return len(self.gaps)


class Recorder(Protocol):
    """A rig that can record.

    Attributes:
        exclusive: Whether it is one device that two processes must not share.
    """

    rig: Rig
    exclusive: bool

    def record(self, duration: float, *, journal: Path | None = None) -> Recording:
        """Record one take, `round(duration * sample_rate)` frames long.

        Args:
            duration: Length of the take, s.
            journal: File that receives the audio while it is recorded, for salvage.
        """
        ...


TABLE = ((-0.30, -0.25, 0.0762), (0.25, -0.30, 0.0762), (0.0, 0.32, 0.0762))
"""Three microphones round a table of 0.55 m, its centre the origin, clear of the robot, m."""


def default_rig(
    name: str,
    *,
    sample_rate: int = 44100,
    temperature: float = 21.5,
    places: Sequence[Position] = TABLE,
) -> Rig:
    """Return a rig whose channels are numbered in the order of its microphones.

    Args:
        sample_rate: Hz.
        temperature: Degrees Celsius.
        places: Where each microphone stands, m.
    """
    microphones = tuple(Microphone(channel, place) for channel, place in enumerate(places))
    return Rig(name, sample_rate, temperature, microphones)


def now() -> datetime:
    """Return the present moment to the second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0)
