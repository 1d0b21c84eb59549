"""Existing recordings sealed as a session: whole or absent, the sources are read and nothing else.

    ID/take-0000.wav   the bytes of a WAV or FLAC of PCM or float32; anything else as FLAC, 24 bit,
                       or as WAV where it has more than eight channels
    ID/session.json    the session
    ID/import.json     what was stated, which recording each take was made of, and what stood out as
                       recordings were cut

What decides a session is the statement: what is said of rig and object, and the digests of the
recordings in their order. Where a session of the same statement is there, nothing is written; where
another one has its name, nothing is written either.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones.interface import Rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.recordings import audio_files, manifests, media_files, sessions
from ricochet.tasks.recordings.audio_files import Audio
from ricochet.tasks.recordings.sessions import Session, Take
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.files import (
    digest_of,
    sha256,
    what_lies_at,
    write_bytes,
    write_json,
)

SCHEMA, REPORT = "ricochet.import/1", "import.json"
SUFFIXES = (".wav", ".flac", ".aif", ".aiff", ".ogg", ".mp3", *media_files.SUFFIXES)
AS_THEY_ARE = (".wav", ".flac")
MOST_FILES = 1000


@dataclass(frozen=True)
class Cuts:
    """Where a recording is cut into takes.

    Attributes:
        takes: First frame and end of each.
        notes: What stands out, a sentence each.
    """

    takes: tuple[tuple[int, int], ...]
    notes: tuple[str, ...] = ()


Cut = Callable[[Path, Float[ndarray, "channel frame"], int], Cuts]
"""Cuts a recording, from its file, samples and rate, Hz."""


@dataclass(frozen=True)
class Level:
    """How loud a channel is over all takes: largest sample and root mean square, full scale 1."""

    peak: float
    rms: float


@dataclass(frozen=True)
class Origin:
    """What a take was made of: the recording's name, its digest, and the frames of it."""

    take: str
    file: str
    sha256: str
    first: int
    end: int


def find(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the recordings among files and folders, those of a folder by name.

    Raises:
        BadInput: There is none, one is no recording by its name, is too large or is named twice.
    """
    found = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    for file in found:
        if not file.exists():
            raise BadInput(str(file), what_lies_at(file), "a recording, or a folder of them")
        if file.suffix.lower() not in SUFFIXES:
            raise BadInput(str(file), f"a name that ends in {file.suffix!r}", ", ".join(SUFFIXES))
        if not file.is_file():
            raise BadInput(str(file), what_lies_at(file), "a recording")
        if file.stat().st_size > limits.SOUND:
            raise BadInput(str(file), f"{file.stat().st_size} bytes", f"at most {limits.SOUND}")
    if not 1 <= len(found) <= MOST_FILES:
        raise BadInput(str(paths[0]), f"{len(found)} recordings", f"1 to {MOST_FILES}")
    if len({file.resolve() for file in found}) < len(found):
        raise BadInput(str(paths[0]), "a recording named twice", "each once")
    return tuple(found)


def statement(plan: Session, files: Sequence[Path], survey_sd: float | None) -> dict[str, Any]:
    """Return what decides a session; neither its name nor the time or rate of the recordings."""
    said = sessions.to_json(plan, ())
    stated = {
        "object": said["object"],
        "microphones": said["rig"]["microphones"],
        "temperature": plan.rig.temperature,
        "survey_sd": survey_sd,
        "recordings": [sha256(file, largest=limits.SOUND) for file in files],
    }
    return dict(json.loads(json.dumps(stated)))  # as it is read again


def is_there(folder: Path, stated: dict[str, Any]) -> bool:
    """Tell whether a session of the same statement is in a folder; BadInput if another one is."""
    if not folder.exists():
        return False
    try:
        before = _report(folder)["stated"]
    except (BadInput, KeyError):
        before = None
    if before != stated:
        raise BadInput(str(folder), "another session of this name", "a new --session ID, or none")
    return True


def name_of(beginning: str, stated: dict[str, Any]) -> str:
    """Return the name of a session that was given none."""
    return f"{beginning}-{digest_of(stated)[:8]}"


def write(
    folder: Path,
    plan: Session,
    files: Sequence[Path],
    stated: dict[str, Any],
    *,
    cut: Cut,
    progress: Progress = no_progress,
) -> None:
    """Write a session into an empty folder.

    Args:
        plan: The session without takes; its sample rate is that of the recordings.

    Raises:
        BadInput: A recording cannot be read, or is not of the rig or the rate of the others.
    """
    takes, origins, notes, rig = list[Take](), list[Origin](), list[str](), plan.rig
    for number, file in enumerate(files):
        audio = read(file)
        if number == 0:
            rig = replace(plan.rig, sample_rate=audio.sample_rate)
        _check(file, audio, rig, files[0])
        cuts = cut(file, audio.samples, audio.sample_rate)
        notes += [f"{file.name}: {sentence}" for sentence in cuts.notes]
        for first, end in cuts.takes:
            content, suffix = _content(file, audio, first, end)
            name = f"take-{len(takes):04d}{suffix}"
            write_bytes(folder / name, content)
            takes.append(Take(name, sha256(content), end - first, 0))
            origins.append(Origin(name, file.name, stated["recordings"][number], first, end))
        progress(number + 1, len(files))
    made = replace(plan, rig=rig, started_at=_earliest(files))
    report = {"schema": SCHEMA, "stated": stated, "takes": [asdict(each) for each in origins]}
    report |= {"notes": notes}
    write_json(folder / REPORT, report, indent=1)
    write_json(folder / manifests.MANIFEST, sessions.to_json(made, tuple(takes)), indent=1)


def levels(session: Session) -> tuple[Level, ...]:
    """Return the level of each channel over all takes that can be used."""
    peaks, energies, frames = np.zeros(1), np.zeros(1), 0
    for take in session.takes:
        samples = sessions.load_take(session.folder / take.file)
        peaks = np.maximum(peaks, np.abs(samples).max(axis=1))
        energies = energies + np.sum(samples**2, axis=1)
        frames += samples.shape[1]
    return tuple(
        Level(float(peak), float(np.sqrt(energy / frames)))
        for peak, energy in zip(peaks, energies, strict=True)
    )


def origins(folder: Path) -> dict[str, str]:
    """Return the name of the recording that each take was made of."""
    return {row["take"]: row["file"] for row in _report(folder)["takes"]}


def notes(folder: Path) -> list[str]:
    """Return what stood out as recordings were cut."""
    noted = _report(folder).get("notes")
    return [str(sentence) for sentence in noted] if isinstance(noted, list) else []


def _report(folder: Path) -> dict[str, Any]:
    return checked_json.load(folder / REPORT, "what was imported")


def read(file: Path) -> Audio:
    """Decode a recording of any device."""
    reader = media_files if file.suffix.lower() in media_files.SUFFIXES else audio_files
    return reader.read(file)


def _inside(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES]
    return [path for path in found if path.is_file() and not path.name.startswith(".")]


def _check(file: Path, audio: Audio, rig: Rig, first: Path) -> None:
    """Refuse a recording that is not of the rig, or at another rate than the first."""
    channels, stated = len(audio.samples), len(rig.microphones)
    if channels != stated:
        raise BadInput(str(file), f"{channels} channels", f"{stated}, as microphones are stated")
    if audio.sample_rate != rig.sample_rate:
        expected = f"{rig.sample_rate} Hz, as {first.name}"
        raise BadInput(str(file), f"{audio.sample_rate} Hz", expected)
    if audio.sample_rate < manifests.LEAST_RATE:
        expected = f"at least {manifests.LEAST_RATE} Hz"
        raise BadInput(str(file), f"{audio.sample_rate} Hz", expected)


def _content(file: Path, audio: Audio, first: int, end: int) -> tuple[bytes, str]:
    """Return the bytes of a take and their suffix: those of the file if all of it can stay."""
    suffix, lossless = file.suffix.lower(), audio.subtype in audio_files.SUBTYPES
    if (first, end) == (0, audio.samples.shape[1]) and suffix in AS_THEY_ARE and lossless:
        return audio_files.content_of(file), suffix
    bits = 16 if audio.subtype == "PCM_16" else 24
    samples, rate = audio.samples[:, first:end], audio.sample_rate
    form = "flac" if len(samples) <= audio_files.MOST_OF_FLAC else "wav"
    return audio_files.encode(samples, sample_rate=rate, form=form, bits=bits), f".{form}"


def _earliest(files: Sequence[Path]) -> datetime:
    """Return when the first of some files was last written to, to the second, in UTC."""
    earliest = min(file.stat().st_mtime for file in files)
    return datetime.fromtimestamp(earliest, UTC).replace(microsecond=0)
