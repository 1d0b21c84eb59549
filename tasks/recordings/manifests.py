"""What the manifest of every recorded session states: its rig, and the sound files of its takes.

A session is a folder with `session.json` and one sound file a take; `sessions.py` has the
usual form, and each system that records otherwise its own.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np
from annotated_types import Interval, Len
from pydantic import BeforeValidator, StringConstraints

from ricochet.hardware.microphones import finite
from ricochet.hardware.microphones.interface import Microphone, Rig
from ricochet.models.core.bad_input import BadInput, shown
from ricochet.models.sound.arrays import check_layout
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.checked_json import EXACT, LONGEST_NAME, NAME, Name, Whole, expecting
from ricochet.tasks.storage.files import sha256

MANIFEST = "session.json"
FILES = (".json", ".csv", ".flac", ".wav", ".aif", ".aiff", ".ogg", ".mp3")
"""Ends of the names of what a session holds."""
LOCATABLE = 3  # microphones from which a sound has a place
LEAST_RATE = limits.RATES[0]  # Hz
Coordinate = Annotated[float, Interval(ge=-limits.FARTHEST, le=limits.FARTHEST)]
Frames = Annotated[int, Interval(ge=0, le=limits.SAMPLES)]
Losses = Annotated[int, Interval(ge=0, le=limits.LOSSES)]
Digest = Annotated[
    str, StringConstraints(pattern="^[0-9a-f]{64}$"), expecting("64 hexadecimal digits")
]


@dataclass(frozen=True)
class StatedNotFinite:
    """Samples of a channel that were NaN or infinite: the first frame, and how many."""

    __pydantic_config__ = EXACT
    channel: Whole
    first: Whole
    samples: Annotated[int, Interval(ge=1, le=2**53)]


NoNumbers = Annotated[tuple[StatedNotFinite, ...], Len(0, limits.CHANNELS)]
"""At most one of each channel."""


class SoundFile(Protocol):
    """A take's file as a manifest lists it."""

    @property
    def file(self) -> str:
        """Its name in the session's folder."""
        ...

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        ...

    @property
    def frames(self) -> int:
        """How many it has."""
        ...

    @property
    def not_finite(self) -> tuple[StatedNotFinite, ...]:
        """Where samples were recorded that are not numbers; they are 0 in the file."""
        ...


@dataclass(frozen=True)
class Rejected:
    """A take that cannot be used, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class StatedMicrophone:
    """A microphone as a manifest states it, m."""

    __pydantic_config__ = EXACT
    channel: Whole
    position: Annotated[
        tuple[Coordinate, Coordinate, Coordinate],
        BeforeValidator(tuple),
        expecting(f"3 numbers, metres, each at most {limits.FARTHEST:g} from zero"),
    ]


@dataclass(frozen=True)
class StatedRig:
    """A rig as a manifest states it, Hz and degrees Celsius."""

    __pydantic_config__ = EXACT
    name: Name
    sample_rate: Annotated[int, Interval(ge=LEAST_RATE, le=limits.RATES[1])]
    temperature: Annotated[float, Interval(ge=limits.COLDEST, le=limits.HOTTEST)]
    microphones: Annotated[tuple[StatedMicrophone, ...], Len(0, limits.CHANNELS)]


def identity(folder: Path) -> str:
    """Return the id of a session of any kind.

    Raises:
        BadInput: If the folder has no manifest, or one without an id that can name a folder.
    """
    path = folder / MANIFEST
    try:
        stated = checked_json.load(path, "a session's file")["id"]
    except (BadInput, KeyError) as error:
        raise BadInput(str(path), "no id of a session", "a session's manifest") from error
    named = isinstance(stated, str) and len(stated) <= LONGEST_NAME
    if not named or not re.fullmatch(NAME, stated):
        raise BadInput(f"{path}: id", shown(stated), "what can name a folder")
    return str(stated)


def schema_of(path: Path) -> str | None:
    """Return the schema that a manifest states; None for one that cannot be read."""
    try:
        return str(checked_json.load(path, "a session's file")["schema"])
    except (BadInput, KeyError):
        return None


def states(path: Path, schema: str) -> bool:
    """Return whether a manifest is of a schema; one that cannot be read is taken for it."""
    return schema_of(path) in (schema, None)


def rig(stated: StatedRig, where: str) -> Rig:
    """Return the rig: one microphone a channel, in their order, and a layout that can locate.

    Raises:
        BadInput: If a channel is absent or stated twice, or microphones stand in a line or too far
            apart.
    """
    microphones = sorted(
        (Microphone(**vars(each)) for each in stated.microphones),
        key=lambda microphone: microphone.channel,
    )
    channels = [microphone.channel for microphone in microphones]
    if not channels or channels != list(range(len(channels))):
        raise BadInput(where, f"channels {channels}", "each from 0 on, once")
    check_span([each.position for each in microphones], where)
    if len(channels) >= LOCATABLE:
        try:
            check_layout(np.array([microphone.position for microphone in microphones]))
        except ValueError as error:
            raise BadInput(where, str(error), "a triangle at least") from error
    return Rig(stated.name, stated.sample_rate, stated.temperature, tuple(microphones))


def check_span(places: Sequence[Sequence[float]], where: str) -> None:
    """Refuse an array wider than any that hears an impact: its places, m, are no metres.

    Raises:
        BadInput: So it is.
    """
    for (a, one), (b, other) in itertools.combinations(enumerate(places), 2):
        if (apart := math.dist(one, other)) > limits.APART:
            expected = f"at most {limits.APART:g} m: metres, not centimetres?"
            raise BadInput(where, f"{apart:.3g} m between {a} and {b}", expected)


def check_sound(folder: Path, take: SoundFile, recorded: Rig, *, clipped: float = 0.0) -> None:
    """Refuse a take whose bytes or samples are not what the session states.

    Args:
        clipped: Share of a channel's frames that may be cut off at full scale.

    Raises:
        BadInput: If they are not.
    """
    path = folder / take.file
    if take.not_finite:
        stored = "; ".join(str(finite.NotFinite(**vars(each))) for each in take.not_finite)
        raise BadInput(str(path), stored, "numbers throughout: they were stored as 0")
    content = audio_files.content_of(path)
    digest, found = sha256(content), audio_files.decode(path, content)
    del content
    channels, rate = len(recorded.microphones), recorded.sample_rate
    audio_files.check_rig(path, found, channels=channels, sample_rate=rate, clipped=clipped)
    if found.samples.shape[1] != take.frames:
        raise BadInput(str(path), f"{found.samples.shape[1]} frames", f"{take.frames}")
    if digest != take.sha256:
        raise BadInput(str(path), f"sha256 {digest[:12]}", f"sha256 {take.sha256[:12]}")
