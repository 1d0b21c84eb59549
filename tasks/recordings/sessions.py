"""Sessions on the disk, in the format `ricochet.session/1`: read, and checked to the last sample.

A session is a folder with `session.json` and one sound file a take. What is wrong with the session
as a whole (a key, a microphone) is refused; what is wrong with one take sets that take aside with
its reason, and the rest goes on.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Interval, Len
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones.interface import Rig
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files, manifests, media_files
from ricochet.tasks.recordings.manifests import (
    LEAST_RATE,
    MANIFEST,
    Digest,
    Frames,
    Losses,
    NoNumbers,
    Rejected,
    StatedRig,
)
from ricochet.tasks.storage import checked_json, checked_yaml, limits
from ricochet.tasks.storage.checked_json import EXACT, Moment, Name, expecting
from ricochet.tasks.storage.files import read_bytes

SCHEMA = "ricochet.session/1"
DATA_FILE = Path("data.dvc")
Share = Annotated[float, Interval(ge=0.0, le=1.0)]
Signed = Annotated[float, Interval(ge=-1.0, le=1.0)]
LARGEST, HEAVIEST = 1.0, 20.0  # m and kg, of a ball
LIGHTEST, DENSEST = 2.0, 23_000.0  # kg/m^3: a beach ball, and more than any metal


@dataclass(frozen=True)
class Take:
    """One file of sound.

    Attributes:
        xruns: How often the recorder lost something, or gave it twice; above 0 the take is
            degraded.
        not_finite: Where it gave what is no number; left out of the file where there is none.
    """

    __pydantic_config__ = EXACT
    file: Name
    sha256: Digest
    frames: Frames
    xruns: Losses
    not_finite: NoNumbers = ()


@dataclass(frozen=True)
class Truth:
    """What a simulated session was made with; only an evaluation may read it.

    Attributes:
        restitution: Constant, or at the reference speed of `models.systems.bouncing_ball.contact`,
            whose words the others are; those of the paper's ball are left out of the file.
        take_scatter: Relative standard deviation of restitution from take to take.
        drag: Of the air, 1/m.
    """

    __pydantic_config__ = EXACT
    restitution: Share
    log10_concentration: Annotated[float, Interval(ge=-10.0, le=10.0)]
    viscoelastic: bool = False
    slope: Signed = 0.0
    tangential_loss: Signed = 0.0
    tail_share: Share = 0.0
    tail_ratio: Share = 1.0
    scatter: Share = 0.0
    take_scatter: Share = 0.0
    drag: Annotated[float, Interval(ge=0.0, le=10.0)] = 0.0


@dataclass(frozen=True)
class Session:
    """A sealed session.

    Attributes:
        rig: The microphones, in the order of their channels.
        drop_height: Height of the release, m; None where it is not stated.
        diameter, mass: Of the ball, m and kg; None where they are not stated.
        takes: The takes that can be used.
        truth: What it was simulated with; None for a real one.
    """

    folder: Path
    identity: str
    started_at: datetime
    rig: Rig
    ball: str
    surface: str
    drop_height: float | None
    diameter: float | None = None
    mass: float | None = None
    takes: tuple[Take, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    truth: Truth | None = None


@dataclass(frozen=True)
class _Object:
    __pydantic_config__ = EXACT
    ball: Name
    surface: Name
    drop_height: Annotated[float, Interval(gt=0.0, le=1000.0)] | None = None
    diameter: Annotated[float, Interval(gt=0.0, le=LARGEST)] | None = None
    mass: Annotated[float, Interval(gt=0.0, le=HEAVIEST)] | None = None


@dataclass(frozen=True)
class _Manifest:
    """What `session.json` holds."""

    __pydantic_config__ = EXACT
    schema: Annotated[Literal["ricochet.session/1"], expecting(SCHEMA)]
    id: Name
    started_at: Moment
    rig: StatedRig
    object: _Object
    takes: Annotated[tuple[Take, ...], Len(0, limits.TAKES)]
    truth: Truth = None  # type: ignore[assignment]  # absent, or an object: never null


def read_session(folder: Path) -> Session:
    """Read a session and check every take; bad ones are under `rejected`.

    Raises:
        BadInput: `session.json` is missing, malformed or describes a rig that cannot be.
    """
    path = folder / MANIFEST
    session, takes = read_manifest(path)
    good: list[Take] = []
    bad: list[Rejected] = []
    known: dict[str, str] = {}
    for take in takes:
        if (before := known.setdefault(take.sha256, take.file)) != take.file:
            bad.append(Rejected(take.file, again(before)))  # evidence counts once
            continue
        try:
            manifests.check_sound(folder, take, session.rig)
        except BadInput as error:
            bad.append(Rejected(take.file, str(error).removeprefix(f"{folder / take.file}: ")))
        else:
            good.append(take)
    return replace(session, takes=tuple(good), rejected=tuple(bad))


def again(before: str) -> str:
    """Return why a take is left out whose recording is that of another.

    >>> again("take-0000.flac")
    'found the recording of take-0000.flac, expected each once'
    """
    return f"found the recording of {before}, expected each once"


def once(sessions: Sequence[Session]) -> tuple[Session, ...]:
    """Leave out takes whose recordings are in an earlier one of several sessions."""
    known: dict[str, str] = {}
    found = []
    for session in sessions:
        kept, repeated = list[Take](), list(session.rejected)
        for take in session.takes:
            name = f"{session.identity}/{take.file}"
            if (before := known.setdefault(take.sha256, name)) == name:
                kept.append(take)
            else:
                repeated.append(Rejected(take.file, again(before)))
        found.append(replace(session, takes=tuple(kept), rejected=tuple(repeated)))
    return tuple(found)


def load_take(path: Path) -> Float[ndarray, "channel frame"]:
    """Read the samples of one take, in double precision, full scale 1."""
    return audio_files.read(path).samples


def load_clip(path: Path) -> tuple[Float[ndarray, "channel frame"], int]:
    """Read the samples and the sample rate, Hz, of a bare recording of any device."""
    reader = media_files if path.suffix.lower() in media_files.SUFFIXES else audio_files
    found = reader.read(path)
    if found.sample_rate < LEAST_RATE:
        raise BadInput(str(path), f"{found.sample_rate} Hz", f"at least {LEAST_RATE} Hz")
    return found.samples, found.sample_rate


def data_digest(file: Path = DATA_FILE) -> str | None:
    """Return the digest by which DVC names all recordings, None where nothing is tracked."""
    try:
        return str(checked_yaml.read(file, "what DVC tracks")["outs"][0]["md5"])
    except (BadInput, KeyError, IndexError, TypeError):
        return None


def to_json(session: Session, takes: tuple[Take, ...]) -> dict[str, Any]:
    """Return the content of `session.json`; the takes are given apart."""
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "id": session.identity,
        "started_at": session.started_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "rig": asdict(session.rig),
        "object": {
            "ball": session.ball,
            "surface": session.surface,
            "drop_height": session.drop_height,
            **{name: size for name, size in _size(session).items() if size is not None},
        },
        "takes": [stated_take(take) for take in takes],
    }
    return content if session.truth is None else content | {"truth": stated(session.truth)}


def stated_take(take: Take) -> dict[str, Any]:
    """Return what is written of a take."""
    return {name: value for name, value in asdict(take).items() if value != ()}


def stated(truth: Truth) -> dict[str, Any]:
    """Return what is written of a truth: all of it that differs from the paper's ball."""
    return {
        field.name: getattr(truth, field.name)
        for field in fields(Truth)
        if getattr(truth, field.name) != field.default
    }


def _size(session: Session) -> dict[str, float | None]:
    return {"diameter": session.diameter, "mass": session.mass}


def read_manifest(path: Path) -> tuple[Session, tuple[Take, ...]]:
    """Read a `session.json` without its takes' sound: see `parse`."""
    return parse(read_bytes(path, "a session's file"), path)


def parse(text: str | bytes, path: Path) -> tuple[Session, tuple[Take, ...]]:
    """Check the JSON of a `session.json`; return the session, and the takes as they are listed."""
    content = checked_json.read(_Manifest, text, str(path))
    session = Session(
        folder=path.parent,
        identity=content.id,
        started_at=content.started_at,
        rig=manifests.rig(content.rig, f"{path}: rig.microphones"),
        **vars(content.object),
        truth=content.truth,
    )
    if (session.diameter is None) != (session.mass is None):
        lacking = "diameter" if session.diameter is None else "mass"
        raise BadInput(f"{path}: object.{lacking}", "none", "diameter and mass, or neither")
    if session.diameter is not None and session.mass is not None:
        check_density(session.diameter, session.mass, f"{path}: object.mass")
    if len({take.file for take in content.takes}) < len(content.takes):
        raise BadInput(f"{path}: takes", "one file twice", "each file once")
    return session, content.takes


def check_density(diameter: float, mass: float, where: str) -> None:
    """Refuse a ball, its diameter in m and its mass in kg, that is of no material."""
    if not (0.0 < diameter <= LARGEST and 0.0 < mass <= HEAVIEST):
        expected = f"a ball of at most {LARGEST:g} m and {HEAVIEST:g} kg"
        raise BadInput(where, f"{diameter:g} m and {mass:g} kg", expected)
    density = mass / (np.pi / 6.0 * diameter**3)
    if not LIGHTEST < density < DENSEST:
        expected = f"a ball of {LIGHTEST:g} to {DENSEST:g} kg/m^3: m and kg, not exchanged?"
        raise BadInput(where, f"{density:.3g} kg/m^3", expected)


def load_json(path: Path) -> Any:
    """Read a JSON file of a session; BadInput if it cannot be read or is not JSON."""
    return checked_json.parse(read_bytes(path, "a session's file"), str(path))
