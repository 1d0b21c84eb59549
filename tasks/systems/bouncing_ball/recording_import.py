"""Existing recordings of drops, from any recorder, sealed as a session.

    recordings, microphones, object -> takes, a drop each -> checked as by a calibration -> named

A recording of several drops is cut between them. What spoils one take sets it aside, by name, as it
will in a calibration; what spoils the session (a channel that is dead, copied or swapped in most
takes) is refused before anything is there.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.microphones.interface import Rig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress
from ricochet.models.sound import alike_onsets, onsets
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS, Size
from ricochet.models.systems.bouncing_ball.calibration import drop_choice
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import NoBallError
from ricochet.models.systems.bouncing_ball.listening import bounce_chains
from ricochet.tasks.console.progress import bar, part
from ricochet.tasks.figures import style
from ricochet.tasks.recordings import importing, manifests, microphones_file, recorder, sessions
from ricochet.tasks.recordings.importing import Cuts
from ricochet.tasks.recordings.microphones_file import StatedMicrophones
from ricochet.tasks.recordings.sessions import Session
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import sha256, whole_folder, write_json
from ricochet.tasks.systems.bouncing_ball import import_notes
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections
from ricochet.tasks.systems.bouncing_ball.calibration.targets import DATA
from ricochet.tasks.systems.bouncing_ball.figures import calibration as figures
from ricochet.tasks.systems.bouncing_ball.settings import HIGHEST, LOWEST, Calibrate

QUIET = 0.01
"""Largest sample of a channel, full scale 1, below which its gain is said to be low."""
OPTIONS = {
    "id": "--session",
    "object.ball": "--ball",
    "object.surface": "--surface",
    "object.diameter": "--diameter",
    "object.mass": "--mass",
    "rig.temperature": "--temperature",
}
"""Keys of a session by the options that state them."""


@dataclass(frozen=True)
class ImportRequest:
    """What is stated of some recordings.

    Attributes:
        files: Recordings and folders of them.
        microphones: File of `microphones_file`.
        release_height: m; None where it was not measured.
        session: Name of the session; None names it by what it holds.
        temperature: Degrees Celsius; None takes that of the file of microphones.
        diameter, mass: m and kg; None takes those of a ball that the sports' rules fix.
    """

    files: tuple[Path, ...]
    microphones: Path
    ball: str
    surface: str
    release_height: float | None = None
    session: str | None = None
    temperature: float | None = None
    diameter: float | None = None
    mass: float | None = None

    @property
    def size(self) -> Size | None:
        """Diameter and mass; BadInput if one is missing."""
        if self.diameter is not None and self.mass is not None:
            sessions.check_density(self.diameter, self.mass, "--mass")
            return Size(self.diameter, self.mass)
        if self.diameter is None and self.mass is None:
            return COMMON_BALLS.get(self.ball)
        lacking = "--diameter" if self.diameter is None else "--mass"
        raise BadInput(lacking, "none", "diameter and mass, or neither")


def run(request: ImportRequest, settings: Settings, out: Path) -> dict[str, Any]:
    """Seal recordings as `out/<session>`, draw one take, and write `result.json`.

    Raises:
        BadInput: A recording, the file of microphones or what is stated cannot be used, channels
            are not what is stated, or another session has the name. Nothing is then there.
    """
    files, microphones, plan = check(request, out)
    stated = importing.statement(plan, files, microphones.survey_sd)
    identity = request.session or importing.name_of(package_name(request), stated)
    plan = replace(plan, identity=identity, folder=out / identity)
    _check_plan(plan)
    known = _tolerances(microphones, settings[Calibrate])
    before = [place / identity for place in (DATA, out)]
    there = next((folder for folder in before if importing.is_there(folder, stated)), None)
    with bar(identity) as progress:
        if there is not None:
            found = _check(there, request, known, progress)
        else:
            with whole_folder(plan.folder) as partial:
                reading, checking = (part(progress, half, 2) for half in (0, 1))
                importing.write(partial, plan, files, stated, cut=cut, progress=reading)
                found = _check(partial, request, known, checking)
    folder, state = (plan.folder, "imported") if there is None else (there, "unchanged")
    picture = _draw(found, folder, out)
    result = {**_result(folder, found, state), "picture": str(picture), "published": None}
    noted = importing.notes(there or plan.folder)
    result |= {"notes": [*noted, *import_notes.notes(found, settings[Calibrate])]}
    result |= {"next": _next(folder, microphones, settings[Calibrate])}
    write_json(out / "result.json", result)
    return result


def check(request: ImportRequest, out: Path) -> tuple[tuple[Path, ...], StatedMicrophones, Session]:
    """Return recordings, microphones and the session without takes; `BadInput` if they are none."""
    files = importing.find(request.files)
    _refuse_copies(files)
    microphones = microphones_file.read(request.microphones)
    places = [each.position for each in microphones.microphones]
    manifests.check_span(places, f"{request.microphones}: microphones")
    plan = _plan(request, microphones, out)
    _check_plan(plan)
    return files, microphones, plan


def _refuse_copies(files: Sequence[Path]) -> None:
    """Refuse a recording that is there twice under two names: it would count twice."""
    found: dict[str, Path] = {}
    for path in files:
        other = found.setdefault(sha256(path, largest=limits.SOUND), path)
        if other is not path:
            raise BadInput(str(path), f"the same sound as {other.name}", "each recording once")


def package_name(request: ImportRequest) -> str:
    """Return the name in the registry that the recordings lead to."""
    return f"{request.ball}-{request.surface}"


def cut(path: Path, samples: Float[ndarray, "channel frame"], sample_rate: int) -> Cuts:
    """Cut midway between bounces of two drops; note drops that may be another ball's.

    What holds one drop, or nothing that is surely several, stays whole.

    Raises:
        BadInput: Drops overlap.
    """
    heard, end = onsets.detect(samples, float(sample_rate)), samples.shape[1]
    chains = len(bounce_chains.find_chains(heard))
    if chains < 2:
        return Cuts(((0, end),))
    try:
        alike = alike_onsets.detect(samples, float(sample_rate), heard)
        found = drop_choice.choose(heard, alike)
    except NoBallError:
        return Cuts(((0, end),))
    drops = sorted((*found.drops, *found.copies), key=lambda drop: float(drop.times[0]))
    pairs = list(itertools.pairwise(drops))
    if any(after.times[0] <= before.times[-1] for before, after in pairs):
        raise BadInput(str(path), "drops that overlap", "one ball at a time, or one drop a file")
    middles = [0.5 * float(before.times[-1] + after.times[0]) for before, after in pairs]
    edges = [0, *(round(middle * sample_rate) for middle in middles), end]
    said = f"of {chains} drops {len(drops)} are taken for the ball's: one ball at a time"
    notes = (said,) if len(drops) < chains else ()
    return Cuts(tuple(itertools.pairwise(edges)), notes)


def lines(result: Mapping[str, Any]) -> list[str]:
    """Describe an import at the terminal."""
    size = result["size"]
    takes = f"{result['takes']} take{'' if result['takes'] == 1 else 's'}"
    said = [f"{result['session']}: {takes}, {result['state']}"]
    said += [f"  ball of {1e3 * size[0]:g} mm and {1e3 * size[1]:g} g"] if size else []
    for channel, level in enumerate(result["levels"]):
        peak, rms = (_decibels(level[name]) for name in ("peak", "rms"))
        low = "; quiet: raise its gain" if level["peak"] < QUIET else ""
        said.append(f"  channel {channel}: peak {peak:.1f} dB, mean {rms:.1f} dB{low}")
    said.append(f"  usable {result['used']}, set aside {len(result['rejected'])}")
    said += [f"    {each['recording']}: {each['reason']}" for each in result["rejected"]]
    said += [f"  note: {sentence}" for sentence in result["notes"]]
    return [*said, f"  picture of one take: {result['picture']}"]


def _plan(request: ImportRequest, stated: StatedMicrophones, out: Path) -> Session:
    """Return the session without takes, its rate and time not yet known."""
    temperature = stated.temperature if request.temperature is None else request.temperature
    if temperature is None:
        expected = "temperature, degrees Celsius, or --temperature"
        raise BadInput(str(request.microphones), "no temperature", expected)
    height, size = request.release_height, request.size
    if height is not None and not LOWEST <= height <= HIGHEST:
        raise BadInput("--release-height", f"{height:g}", f"metres, from {LOWEST:g} to {HIGHEST:g}")
    return Session(
        folder=out,
        identity="unnamed",
        started_at=datetime.now(UTC),
        rig=Rig("imported", manifests.LEAST_RATE, temperature, stated.microphones),
        ball=request.ball,
        surface=request.surface,
        drop_height=height,
        diameter=None if size is None else size.diameter,
        mass=None if size is None else size.mass,
    )


def _check_plan(plan: Session) -> None:
    """Refuse what a session could not state, by the option that stated it."""
    try:
        recorder.check(plan)
    except BadInput as error:
        key = error.where.rpartition(": ")[2]
        raise BadInput(OPTIONS.get(key, error.where), error.found, error.expected) from error


def _tolerances(stated: StatedMicrophones, rules: Calibrate) -> Tolerances:
    return Tolerances(
        place_sd=rules.survey_sd if stated.survey_sd is None else stated.survey_sd,
        contact_sd=rules.contact_sd,
    )


def _check(
    folder: Path, request: ImportRequest, known: Tolerances, progress: Progress
) -> Detections:
    """Detect the bounces as a calibration does; name recordings and options, not hidden folders."""
    try:
        found = detections.detect([folder], tolerances=known, progress=progress)
    except BadInput as error:
        where = str(request.microphones) if "microphones" in error.where else "recordings"
        raise BadInput(where, error.found, error.expected) from error
    if not found.takes:
        names, first = importing.origins(folder), found.rejected[0]
        said = f"no take that can be used ({names[Path(first.file).name]}: {first.reason})"
        raise BadInput("recordings", said, "three bounces of one drop in each, in every channel")
    return found


def _draw(found: Detections, folder: Path, out: Path) -> Path:
    """Draw the first take that can be used, beside the session, not in it; return the picture."""
    take, identity = found.takes[0], found.sessions[0].identity
    recording = importing.origins(folder)[Path(take.file).name]
    figure = figures.waveform(
        sessions.load_take(folder / Path(take.file).name),
        float(found.sessions[0].rig.sample_rate),
        take.detected.times,
        title=f"{take.file} ({recording})",
    )
    style.write(out / "figures", {identity: figure})
    return out / "figures" / f"{identity}.png"


def _next(folder: Path, stated: StatedMicrophones, rules: Calibrate) -> str:
    """Return the command that calibrates; a session has no place for the survey's error."""
    known = stated.survey_sd in (None, rules.survey_sd)
    option = "" if known else f" --set calibrate.survey_sd={stated.survey_sd:g}"
    return f"ricochet calibrate {folder}{option}"


def _result(folder: Path, found: Detections, state: str) -> dict[str, Any]:
    session, names = replace(found.sessions[0], folder=folder), importing.origins(folder)
    rejected = [(Path(each.file).name, each.reason) for each in found.rejected]
    return {
        "schema": importing.SCHEMA,
        "session": session.identity,
        "folder": str(folder),
        "state": state,
        "takes": len(session.takes) + len(session.rejected),
        "used": len(found.takes),
        "rejected": [
            {"file": file, "recording": names[file], "reason": reason} for file, reason in rejected
        ],
        "levels": [asdict(level) for level in importing.levels(session)],
        "size": None if session.diameter is None else [session.diameter, session.mass],
    }


def _decibels(value: float) -> float:
    """Return a level in dB of full scale."""
    return 20.0 * math.log10(max(value, 1e-9))
