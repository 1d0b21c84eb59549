"""Sessions on the disk, in the format `ricochet.session/1`: read, and checked to the last sample.

A session is a folder with `session.json` and one sound file a take. What is wrong with the session
as a whole (a key, a microphone) is refused; what is wrong with one take sets that take aside with
its reason, and the rest goes on.
"""

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones.interface import Microphone, Rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound.arrays import check_layout
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.storage.json_fields import Fields

SCHEMA = "ricochet.session/1"
MANIFEST = "session.json"
DATA_FILE = Path("data.dvc")
LOCATABLE = 3  # microphones from which a bounce has a place
LEAST_RATE = 8000  # Hz; below it clicks are not heard apart


@dataclass(frozen=True)
class Take:
    """One drop.

    Attributes:
        file: Name of the file in the session's folder.
        sha256: Digest of the file's bytes.
        frames: Length, frames.
        xruns: How often the recorder lost something; above 0 the take is degraded.
    """

    file: str
    sha256: str
    frames: int
    xruns: int


@dataclass(frozen=True)
class Rejected:
    """A take that cannot be used, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class Truth:
    """What a simulated session was made with; only an evaluation may read it."""

    restitution: float
    log10_concentration: float


@dataclass(frozen=True)
class Session:
    """A sealed session.

    Attributes:
        folder: Where it lies.
        identity: Its id.
        started_at: When it began.
        rig: The microphones, in the order of their channels.
        ball: What was dropped.
        surface: On what.
        drop_height: Height of the release, m.
        takes: The takes that can be used.
        rejected: Those that cannot.
        truth: What it was simulated with; None for a real one.
    """

    folder: Path
    identity: str
    started_at: datetime
    rig: Rig
    ball: str
    surface: str
    drop_height: float
    takes: tuple[Take, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    truth: Truth | None = None


def read_session(folder: Path) -> Session:
    """Read a session and check every take.

    Args:
        folder: The session's folder.

    Returns:
        The session; bad takes are under `rejected`.

    Raises:
        BadInput: `session.json` is missing, malformed or describes a rig that cannot be.
    """
    path = folder / MANIFEST
    session, takes = parse(load_json(path), path)
    good: list[Take] = []
    bad: list[Rejected] = []
    for take in takes:
        try:
            _check_take(folder, take, session.rig)
        except BadInput as error:
            bad.append(Rejected(take.file, str(error).removeprefix(f"{folder / take.file}: ")))
        else:
            good.append(take)
    return replace(session, takes=tuple(good), rejected=tuple(bad))


def load_take(path: Path) -> Float[ndarray, "channel frame"]:
    """Read the samples of one take.

    Args:
        path: The sound file.

    Returns:
        Samples in double precision, full scale 1.

    Raises:
        BadInput: The file is unreadable, cut short, empty, not finite or silent.
    """
    return audio_files.read(path).samples


def load_clip(path: Path) -> tuple[Float[ndarray, "channel frame"], int]:
    """Read a bare recording, of any device.

    Args:
        path: The sound file.

    Returns:
        Samples, and the sample rate in Hz.

    Raises:
        BadInput: The file is unreadable, cut short, empty, not finite or silent, or too coarse.
    """
    found = audio_files.read(path)
    if found.sample_rate < LEAST_RATE:
        raise BadInput(str(path), f"{found.sample_rate} Hz", f"at least {LEAST_RATE} Hz")
    return found.samples, found.sample_rate


def data_digest(file: Path = DATA_FILE) -> str | None:
    """Return the digest by which DVC names all recordings.

    Args:
        file: `data.dvc`.

    Returns:
        `32hex.dir`, or None where nothing is tracked.
    """
    try:
        return str(yaml.safe_load(file.read_text())["outs"][0]["md5"])
    except (OSError, KeyError, IndexError, TypeError, yaml.YAMLError):
        return None


def to_json(session: Session, takes: tuple[Take, ...]) -> dict[str, Any]:
    """Return the content of `session.json`.

    Args:
        session: All but the takes.
        takes: The takes.
    """
    microphones = [
        {"channel": microphone.channel, "position": list(microphone.position)}
        for microphone in session.rig.microphones
    ]
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "id": session.identity,
        "started_at": session.started_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "rig": {
            "name": session.rig.name,
            "sample_rate": session.rig.sample_rate,
            "temperature": session.rig.temperature,
            "microphones": microphones,
        },
        "object": {
            "ball": session.ball,
            "surface": session.surface,
            "drop_height": session.drop_height,
        },
        "takes": [vars(take) for take in takes],
    }
    return content if session.truth is None else content | {"truth": vars(session.truth)}


def parse(content: Any, path: Path) -> tuple[Session, tuple[Take, ...]]:
    """Check the content of a `session.json` against the format.

    Args:
        content: What the JSON holds.
        path: Where it lies.

    Returns:
        The session without its takes, and the takes as they are listed.

    Raises:
        BadInput: A key is missing, unknown or holds something else than it should.
    """
    top = Fields(content, str(path), "schema id started_at rig object takes", optional="truth")
    if top.text("schema") != SCHEMA:
        raise BadInput(f"{path}: schema", repr(content["schema"]), SCHEMA)
    target = Fields(content["object"], f"{path}: object", "ball surface drop_height")
    session = Session(
        folder=path.parent,
        identity=top.name("id"),
        started_at=top.moment("started_at"),
        rig=_rig(content["rig"], f"{path}: rig"),
        ball=target.name("ball"),
        surface=target.name("surface"),
        drop_height=target.number("drop_height", above=0.0),
        truth=_truth(content["truth"], f"{path}: truth") if "truth" in content else None,
    )
    takes = tuple(
        _take(entry, f"{path}: takes[{index}]") for index, entry in enumerate(top.rows("takes"))
    )
    if len({take.file for take in takes}) < len(takes):
        raise BadInput(f"{path}: takes", "one file twice", "each file once")
    return session, takes


def load_json(path: Path) -> Any:
    """Read a JSON file.

    Args:
        path: The file.

    Raises:
        BadInput: It cannot be read or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(str(path), error.strerror or str(error), "a session's file") from error
    except ValueError as error:
        raise BadInput(str(path), f"no JSON: {error}", "a session's file") from error


def _check_take(folder: Path, take: Take, rig: Rig) -> None:
    """Refuse a take whose bytes or samples are not what the session says."""
    path = folder / take.file
    digest = audio_files.sha256(audio_files.content_of(path))
    found = audio_files.read(path)
    audio_files.check_rig(path, found, channels=len(rig.microphones), sample_rate=rig.sample_rate)
    if found.samples.shape[1] != take.frames:
        raise BadInput(str(path), f"{found.samples.shape[1]} frames", f"{take.frames}")
    if digest != take.sha256:
        raise BadInput(str(path), f"sha256 {digest[:12]}", f"sha256 {take.sha256[:12]}")


def _rig(content: Any, where: str) -> Rig:
    """Check the rig: one microphone a channel, and a layout that can locate."""
    entries = Fields(content, where, "name sample_rate temperature microphones")
    rows = entries.rows("microphones")
    microphones = sorted(
        (_microphone(row, f"{where}.microphones[{index}]") for index, row in enumerate(rows)),
        key=lambda microphone: microphone.channel,
    )
    channels = [microphone.channel for microphone in microphones]
    if not channels or channels != list(range(len(channels))):
        raise BadInput(f"{where}.microphones", f"channels {channels}", "each from 0 on, once")
    if len(channels) >= LOCATABLE:
        try:
            check_layout(np.array([microphone.position for microphone in microphones]))
        except ValueError as error:
            raise BadInput(f"{where}.microphones", str(error), "a triangle at least") from error
    return Rig(
        name=entries.name("name"),
        sample_rate=entries.count("sample_rate", least=LEAST_RATE),
        temperature=entries.number("temperature", above=-100.0, below=100.0),
        microphones=tuple(microphones),
    )


def _microphone(content: Any, where: str) -> Microphone:
    """Check one microphone."""
    entries = Fields(content, where, "channel position")
    x, y, z = entries.numbers("position", 3)
    return Microphone(entries.count("channel"), (x, y, z))


def _take(content: Any, where: str) -> Take:
    """Check one entry of the list of takes."""
    entries = Fields(content, where, "file sha256 frames xruns")
    digest = entries.text("sha256")
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise BadInput(f"{where}.sha256", repr(digest), "64 hexadecimal digits")
    return Take(entries.name("file"), digest, entries.count("frames"), entries.count("xruns"))


def _truth(content: Any, where: str) -> Truth:
    """Check the truth of a simulated session."""
    entries = Fields(content, where, "restitution log10_concentration")
    return Truth(entries.number("restitution"), entries.number("log10_concentration"))
