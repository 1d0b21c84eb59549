"""What is to be calibrated: the targets among the recordings that were named, and their keys.

A target is a ball on a surface, whose sessions are taken together, or a bare recording. What
decides its result is digested to a key.
"""

import difflib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS, Size
from ricochet.tasks.recordings import manifests, media_files
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.registry.packages import MANIFEST
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import digest_of, sha256, what_lies_at
from ricochet.tasks.storage.provenance import code_digest, git_commit, workplace
from ricochet.tasks.systems.bouncing_ball.calibration import folders
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate, Density

MAKER = "ricochet.tasks.systems.bouncing_ball.calibration"
SCHEMA = "ricochet.calibration/1"
DATA = workplace() / "data"
SOUNDS = (".wav", ".flac", ".aif", ".aiff", ".ogg", ".mp3", *media_files.SUFFIXES)


@dataclass(frozen=True)
class CalibrationRequest:
    """What is asked of a calibration.

    Attributes:
        density: Package of the density network; None finds or trains one under `artifacts/`.
        model: Name of that package in `result.json`; None names it by its digest.
        ball: Of bare recordings: a name in `air.COMMON_BALLS`, or `DIAMETER,MASS` in m and kg;
            None if it is not known.
        anyway: Whether to register what rests on half of its takes or fewer.
    """

    settings: Settings
    out: Path
    seed: int = 0
    density: Path | None = None
    model: str | None = None
    ball: str | None = None
    anyway: bool = False

    @property
    def size(self) -> Size | None:
        """Return the size of the ball that is named; `BadInput` if there is no such ball."""
        if self.ball is None:
            return None
        return COMMON_BALLS.get(self.ball) or _stated_size(self.ball)


@dataclass(frozen=True)
class CalibrationTarget:
    """A ball on a surface with the sessions that recorded it, or a bare recording.

    Attributes:
        name: `<ball>-<surface>`, or the name of the bare recording.
        sources: The session folders, or the one recording.
        folder: Where its results go.
        digest: Of the recordings.
    """

    name: str
    sources: tuple[Path, ...]
    folder: Path
    digest: str
    bare: bool = False


def _stated_size(words: str) -> Size:
    """Read `DIAMETER,MASS`; `BadInput` if it is neither that nor a ball's."""
    near = difflib.get_close_matches(words.lower(), COMMON_BALLS, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    known = f"one of {', '.join(COMMON_BALLS)}{hint}, or DIAMETER,MASS in m and kg"
    try:
        diameter, mass = map(float, words.split(","))
        size = Size(diameter, mass)
    except ValueError as error:
        raise BadInput("ball", repr(words), known) from error
    recordings.check_density(diameter, mass, f"ball {words}")
    return size


def is_bare(sessions: Sequence[str]) -> bool:
    """Tell whether something was named, and all of it are recordings without a session."""
    return bool(sessions) and all(_looks_bare(Path(session)) for session in sessions)


def targets(sessions: Sequence[str], out: Path) -> tuple[CalibrationTarget, ...]:
    """Group sessions by ball and surface; `folders` says where below `out` each one writes.

    Args:
        sessions: Session folders and bare recordings; nothing means all sessions under `data/`.

    Raises:
        BadInput: If there is no session, one cannot be read or is named twice, a recording has
            the name of another result, or `out` itself is that of something else.
    """
    found: dict[str, list[_Named]] = {}
    bare = []
    for path in _sources(sessions):
        if _looks_bare(path):
            bare.append(path)
        else:
            _refuse_clips(path)
            session = _named(path)
            others = found.setdefault("-".join(session.pair), [])
            for other in others:
                _refuse_confused(session, other)
            others.append(session)
    names = [*found, *(path.stem for path in bare)]
    for path in bare:
        if names.count(path.stem) > 1:
            raise BadInput(str(path), f"two results named {path.stem!r}", "names that differ")
    folders.refuse_another(out, [*found, *(path.name for path in bare)])
    several = len(names) > 1 or folders.holds_several(out)
    place = (lambda name: out / name) if several else (lambda name: out)
    grouped = [
        CalibrationTarget(
            name,
            tuple(part.folder for part in parts),
            place(name),
            digest_of(sorted(part.digest for part in parts)),
        )
        for name, parts in sorted(found.items())
    ]
    clips = [_bare_target(path, place(path.stem), several=several) for path in bare]
    return (*grouped, *clips)


def check_ball(sessions: Sequence[str], request: CalibrationRequest) -> None:
    """Refuse a ball that is unknown, or that is named for sessions, which state their own."""
    if request.size is not None and not is_bare(sessions):
        expected = "bare recordings alone: a session states object.diameter and object.mass"
        raise BadInput(f"--ball {request.ball}", "session folders", expected)


def check_page(sessions: Sequence[str]) -> None:
    """Refuse the page of a session: it plays one recording, and MLflow has a session's figures."""
    if not is_bare(sessions):
        expected = "bare recordings alone: a session's figures lie beside its result"
        raise BadInput("--page", "session folders", expected)


def registered_names(sessions: Sequence[str], out: Path) -> tuple[str, ...]:
    """Return the names in the registry that the sessions lead to; a bare recording has none."""
    return tuple(target.name for target in targets(sessions, out) if not target.bare)


def key(target: CalibrationTarget, request: CalibrationRequest) -> str:
    """Return the digest of everything that decides the result of a target."""
    facts: dict[str, Any] = {"pair": target.name, "data": target.digest, "seed": request.seed}
    code = code_digest(f"{MAKER}.{'times_only' if target.bare else 'posterior'}")
    facts |= {"code": code, "calibrate": asdict(request.settings[Calibrate])}
    if target.bare:
        facts["ball"] = request.ball
    else:
        named = request.density if request.model is None else None
        facts["density"] = _digest(named) if named else asdict(request.settings[Density])
    return digest_of(facts)


def details_header(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any]:
    """Return what every `details.json` begins with."""
    return {
        "schema": "ricochet.calibration-details/1",
        "key": key(target, request),
        "recordings": target.digest,
        "git_commit": git_commit(),
        "seed": request.seed,
    }


def _sources(sessions: Sequence[str]) -> list[Path]:
    if sessions:
        return [Path(session) for session in sessions]
    found = sorted(
        path.parent
        for path in DATA.glob(f"[!.]*/{manifests.MANIFEST}")
        if manifests.states(path, recordings.SCHEMA)
    )
    if not found:
        raise BadInput(str(DATA), "no session", "session folders; `make pull` fetches the sample")
    return found


def _looks_bare(path: Path) -> bool:
    return path.is_file() or (not path.is_dir() and path.suffix.lower() in SOUNDS)


def _refuse_clips(folder: Path) -> None:
    """Refuse a folder that is no session but holds sound, and say how to name what it holds."""
    if not folder.is_dir() or (folder / manifests.MANIFEST).exists():
        return
    sounds = [path for path in folder.iterdir() if path.suffix.lower() in SOUNDS]
    if sounds:
        expected = (
            f"a session; the clips of a phone are named: ricochet calibrate {folder}/*"
            f"{sounds[0].suffix}, and takes of several microphones are imported: ricochet import"
        )
        raise BadInput(str(folder), f"no {manifests.MANIFEST}", expected)


def _bare_target(path: Path, folder: Path, *, several: bool) -> CalibrationTarget:
    if not path.is_file():
        raise BadInput(str(path), what_lies_at(path), "a recording")
    digest = sha256(path, largest=limits.SOUND)
    if several:
        folder = folders.of_recording(folder, digest)
    return CalibrationTarget(path.stem, (path,), folder, digest, bare=True)


def _digest(package: Path) -> str:
    """Digest a density that was named, by its manifest, which holds the digests of the rest."""
    try:
        return sha256(package / MANIFEST)
    except BadInput as error:
        where = f"--density {package / MANIFEST}"
        raise BadInput(where, error.found, "a density's package") from error


class _Named(NamedTuple):
    """A session: its folder and id, the ball and the surface, and its digest."""

    folder: Path
    identity: str
    pair: tuple[str, str]
    digest: str


def _refuse_confused(session: _Named, other: _Named) -> None:
    """Refuse a session that stands for another of the same name."""
    if session.digest == other.digest:
        raise BadInput(str(session.folder), "a session named already", "each session once")
    if session.pair != other.pair:
        found = f"{' on '.join(session.pair)}, where {other.folder} has {' on '.join(other.pair)}"
        raise BadInput(str(session.folder), found, "names that do not join to one")
    if session.identity == other.identity:
        found = f"the id {session.identity}, which is that of {other.folder} too"
        raise BadInput(str(session.folder), found, "an id of its own")


def _named(folder: Path) -> _Named:
    """Return what names a session; its digest is that of its manifest, which has its takes' own.

    Where a take is not what the manifest says, the digest is another, so that detection runs again.
    """
    manifest = folder / manifests.MANIFEST
    session, takes = recordings.read_manifest(manifest)
    there = {entry.file: _digest_of_sound(folder / entry.file) for entry in takes}
    digest = sha256(manifest)
    if any(there[entry.file] != entry.sha256 for entry in takes):
        digest = digest_of([digest, there])
    return _Named(folder, session.identity, (session.ball, session.surface), digest)


def _digest_of_sound(path: Path) -> str:
    """Return the digest of a take, or a word where none can be read."""
    try:
        return sha256(path, largest=limits.SOUND)
    except BadInput:
        return "missing"
