"""Sessions of a drawer on the disk, in the format `ricochet.drawer-session/1`.

    SESSION/session.json       as `ricochet.session/1`, the object a drawer, and for each take
                               {"file", "sha256", "frames", "vision", "motion", "light_off_at"}
    SESSION/take-0000.flac     16 kHz, a channel a microphone
    SESSION/vision-0000.csv    time,position while there is light: what a robot's camera sees
    SESSION/motion-0000.csv    time,position throughout: for training and evaluation alone

`vision` and `light_off_at` come together or not at all; `motion` may be absent. What is wrong with
one take sets that take aside with its reason, and the rest goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Interval, Len
from jaxtyping import Float, Float32, Float64
from numpy import ndarray

from ricochet.hardware.microphones.interface import Rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import channel_faults
from ricochet.models.systems.drawers import tracks
from ricochet.models.systems.drawers.labels import MOST_MICROPHONES, SAMPLE_RATE
from ricochet.models.systems.drawers.tracks import Track
from ricochet.tasks.recordings import audio_files, manifests
from ricochet.tasks.recordings.manifests import (
    MANIFEST,
    Digest,
    Frames,
    Losses,
    Rejected,
    StatedRig,
)
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.checked_json import EXACT, Moment, Name, expecting
from ricochet.tasks.storage.files import digest_of, read_bytes, sha256
from ricochet.tasks.systems.drawers import track_files

SCHEMA = "ricochet.drawer-session/1"
LEAST_SECONDS = 5.0
STUCK = 0.5  # s for which a microphone that works does not give one value
FARTHEST = 10.0
"""m, of a microphone from the closed front: what is more was written in other units."""
LATEST = 0.1  # s by which the light may go off after a take's end: clocks
NEVER_LIT = "never lit: the place is unknown until it is heard, and intervals may be too narrow"
CLIPPED = 1e-3  # share of frames at full scale: peaks of impacts, of which the time alone is used


@dataclass(frozen=True)
class StatedTake:
    """A take as the manifest states it.

    Attributes:
        xruns: How often the recorder lost something; what came after is late against the track.
        vision, motion: Files of tracks.
        light_off_at: When the light went off, s.
        not_finite: Where the recorder gave what is no number.
    """

    __pydantic_config__ = EXACT
    file: Name
    sha256: Digest
    frames: Frames
    xruns: Losses = 0
    vision: Name | None = None
    motion: Name | None = None
    light_off_at: Annotated[float, Interval(gt=0.0, le=86_400.0)] | None = None
    not_finite: manifests.NoNumbers = ()


@dataclass(frozen=True)
class Take:
    """A take that can be used.

    Attributes:
        kept: Its sound at `labels.SAMPLE_RATE`, full scale 1; nothing is lost of 24 bit.
        vision: What the camera saw while there was light; None: never lit.
        motion: The drawer's motion throughout; None: not measured.
        light_off_at: s; None: never lit.
        notes: What is to be known of it.
    """

    file: str
    kept: Float32[ndarray, "channel sample"]
    vision: Track | None
    motion: Track | None
    light_off_at: float | None
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> Float64[ndarray, "channel sample"]:
        """Its sound, to be computed with."""
        return self.kept.astype(np.float64)

    @property
    def seconds(self) -> float:
        """Length, s."""
        return self.kept.shape[1] / SAMPLE_RATE


@dataclass(frozen=True)
class Session:
    """A sealed session of a drawer.

    Attributes:
        rig: The microphones, in the order of their channels, m from where the closed front is.
        takes: Those that can be used, as they are stated; `load` reads one.
    """

    folder: Path
    identity: str
    started_at: datetime
    rig: Rig
    drawer: str
    takes: tuple[StatedTake, ...] = ()
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True)
class _Object:
    __pydantic_config__ = EXACT
    drawer: Name


@dataclass(frozen=True)
class _Manifest:
    """What `session.json` holds."""

    __pydantic_config__ = EXACT
    schema: Annotated[Literal["ricochet.drawer-session/1"], expecting(SCHEMA)]
    id: Name
    started_at: Moment
    rig: StatedRig
    object: _Object
    takes: Annotated[tuple[StatedTake, ...], Len(0, limits.TAKES)] = field(default=())


def read(folder: Path) -> tuple[Session, list[Take]]:
    """Read a session and all of its takes; bad ones are under `rejected`.

    Raises:
        BadInput: `session.json` is missing, malformed or describes a rig that cannot be.
    """
    session = read_manifest(folder / MANIFEST)
    good: dict[str, StatedTake] = {}
    taken: list[Take] = []
    bad: list[Rejected] = []
    held = 0
    for stated in session.takes:
        try:
            _check_room(session, stated, good, held)
            taken.append(load(session, stated))
        except BadInput as error:
            bad.append(Rejected(stated.file, str(error).removeprefix(f"{folder}/")))
        else:
            good[stated.sha256] = stated
            held += taken[-1].kept.size
    return replace(session, takes=tuple(good.values()), rejected=tuple(bad)), taken


def _check_room(
    session: Session, stated: StatedTake, good: Mapping[str, StatedTake], held: int
) -> None:
    """Refuse a sound that is there already, or beyond what is kept of all, before it is read."""
    path = str(session.folder / stated.file)
    if (before := good.get(stated.sha256)) is not None:
        raise BadInput(path, f"the recording of {before.file}", "each once")
    if held + stated.frames * len(session.rig.microphones) > limits.KEPT:
        raise BadInput(path, "more sound", f"at most {limits.KEPT} samples of all takes")


def read_manifest(path: Path) -> Session:
    """Read a `session.json` without its takes' sound; see `parse`."""
    return parse(read_bytes(path, "a session's file"), path)


def parse(text: str | bytes, path: Path) -> Session:
    """Check the JSON of a `session.json`.

    Raises:
        BadInput: A key is missing, unknown or has a value that cannot be.
    """
    content = checked_json.read(_Manifest, text, str(path))
    rig = manifests.rig(content.rig, f"{path}: rig.microphones")
    if rig.sample_rate != SAMPLE_RATE:
        raise BadInput(f"{path}: rig.sample_rate", f"{rig.sample_rate} Hz", f"{SAMPLE_RATE} Hz")
    if not manifests.LOCATABLE <= len(rig.microphones) <= MOST_MICROPHONES:
        found = f"{len(rig.microphones)} microphones"
        few, most = manifests.LOCATABLE, MOST_MICROPHONES
        expected = f"{few} at least, a ring hears where the drawer is, and at most {most}"
        raise BadInput(f"{path}: rig.microphones", found, expected)
    farthest = max(abs(each) for one in rig.microphones for each in one.position)
    if farthest > FARTHEST:
        found = f"a microphone {farthest:g} m from the front"
        raise BadInput(f"{path}: rig.microphones", found, f"{FARTHEST:g} m at most, in metres")
    if len({take.file for take in content.takes}) < len(content.takes):
        raise BadInput(f"{path}: takes", "one file twice", "each file once")
    named = [name for take in content.takes for name in (take.vision, take.motion) if name]
    if len(set(named)) < len(named):
        raise BadInput(f"{path}: takes", "one track twice", "each file once")
    return Session(
        path.parent, content.id, content.started_at, rig, content.object.drawer, content.takes
    )


def load(session: Session, stated: StatedTake) -> Take:
    """Read a take, its sound and its tracks.

    Raises:
        BadInput: If any of it is not what the session states, or cannot be.
    """
    path = session.folder / stated.file
    manifests.check_sound(session.folder, stated, session.rig, clipped=CLIPPED)
    if stated.xruns:
        found = f"{stated.xruns} gaps in the recording"
        raise BadInput(str(path), found, "none: what comes after is late against the track")
    samples = audio_files.read(path).samples
    _check_sound(path, samples)
    seconds, notes = samples.shape[1] / SAMPLE_RATE, list[str]()
    if (stated.vision is None) != (stated.light_off_at is None):
        absent = "vision" if stated.vision is None else "light_off_at"
        raise BadInput(str(path), f"no {absent}", "vision and light_off_at, or neither")
    vision = motion = None
    if stated.light_off_at is not None and stated.light_off_at > seconds + LATEST:
        found = f"light_off_at {stated.light_off_at:g} s"
        raise BadInput(str(path), found, f"at most {seconds:g} s, the length of the take")
    if stated.vision is not None and stated.light_off_at is not None:
        file = session.folder / stated.vision
        vision = track_files.read(file)
        track_files.check_rate(file, vision, seconds)
        track_files.check_lit(file, vision, stated.light_off_at)
        notes.append(_compared(file, vision, samples))
    else:
        notes.append(NEVER_LIT)
    if stated.motion is not None:
        file = session.folder / stated.motion
        motion = track_files.read(file)
        track_files.check_rate(file, motion, seconds)
        track_files.check_throughout(file, motion, seconds)
        notes.append(_compared(file, motion, samples))
    if vision is not None and motion is not None:
        track_files.check_agree(session.folder / str(stated.vision), vision, motion)
    said = tuple(note for note in notes if note)
    kept = samples.astype(np.float32)
    return Take(stated.file, kept, vision, motion, stated.light_off_at, said)


def drawer_of(folders: Sequence[Path]) -> str:
    """Return the drawer of the first session that can be read; BadInput if there is none."""
    for folder in folders[:-1]:
        try:
            return read_manifest(folder / MANIFEST).drawer
        except BadInput:
            continue
    return read_manifest(folders[-1] / MANIFEST).drawer


def digest(folders: Sequence[Path]) -> str:
    """Return the digest of sessions: of their manifests, which have those of sounds, and tracks."""
    found = []
    for folder in folders:
        if not (folder / MANIFEST).is_file():
            continue
        try:
            session = read_manifest(folder / MANIFEST)
        except BadInput:  # a session that is left out
            found.append([sha256(folder / MANIFEST)])
            continue
        names = [name for take in session.takes for name in (take.vision, take.motion) if name]
        tracks_found = [
            sha256(folder / name, largest=limits.TABLE)
            for name in names
            if (folder / name).is_file()
        ]
        found.append([sha256(folder / MANIFEST), *tracks_found])
    return digest_of(sorted(found))


def to_json(session: Session, takes: Sequence[StatedTake] = ()) -> dict[str, Any]:
    """Return the content of `session.json`; the takes are given apart."""
    return {
        "schema": SCHEMA,
        "id": session.identity,
        "started_at": session.started_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "rig": asdict(session.rig),
        "object": {"drawer": session.drawer},
        "takes": [_stated(take) for take in takes],
    }


def _stated(take: StatedTake) -> Mapping[str, Any]:
    return {name: value for name, value in asdict(take).items() if value not in (None, ())}


def _compared(file: Path, track: Track, samples: Float[ndarray, "channel sample"]) -> str:
    seconds = float(track.times[-1] - track.times[0])
    note = track_files.check_on_time(file, tracks.compare(track, samples), seconds=seconds)
    return f"{file.name} {note}" if note else ""


def _check_sound(path: Path, samples: Float[ndarray, "channel sample"]) -> None:
    """Refuse what nothing can be heard in, beyond what any take is refused for."""
    seconds = samples.shape[1] / SAMPLE_RATE
    if seconds < LEAST_SECONDS:
        raise BadInput(str(path), f"{seconds:.2f} s", f"{LEAST_SECONDS:g} s at least")
    if (stuck := _stuck(samples)) is not None:
        found = f"channel {stuck[0]} stuck for {stuck[1]:.1f} s"
        raise BadInput(str(path), found, "sound in every channel throughout")
    try:
        channel_faults.check_flat(samples, sample_rate=SAMPLE_RATE)
    except channel_faults.ChannelFaultError as error:
        raise BadInput(str(path), str(error), "sound in every channel") from error


def _stuck(samples: Float[ndarray, "channel sample"]) -> tuple[int, float] | None:
    """Return a channel that does not change for STUCK seconds, and how long it does not."""
    for channel, values in enumerate(samples):
        changes = np.flatnonzero(np.diff(values) != 0.0)
        ends = np.concatenate([[-1], changes, [len(values) - 1]])
        longest = float(np.diff(ends).max()) / SAMPLE_RATE
        if longest > STUCK:
            return channel, longest
    return None
