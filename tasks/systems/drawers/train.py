"""From sessions to a package of a drawer: what `ricochet train drawer` and `calibrate` do.

    sessions    those that are named, or one recorded on the simulated rig
    hearing     learnt from all takes but every fourth, and tried on those (`calibration.py`)

The package and a picture are written beside the result; `train.json` is written last and has the
key of all that decides them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.registry.packages import read_package
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import digest_of, output_folder, write_json
from ricochet.tasks.storage.provenance import code_digest, git_commit
from ricochet.tasks.systems.drawers import calibration, capture, packages, sessions
from ricochet.tasks.systems.drawers.calibration import Calibrated
from ricochet.tasks.systems.drawers.figures import followed
from ricochet.tasks.systems.drawers.kinds import DRAWER, PREFIX
from ricochet.tasks.systems.drawers.packages import READER, Drawer
from ricochet.tasks.systems.drawers.settings import DrawerSessions, LearntDrawer
from ricochet.tasks.systems.interface import CaptureRequest
from ricochet.tasks.training.steps import Step, TrainingRequest
from ricochet.tasks.validation.outcomes import SIMULATED

PACKAGE, DONE = "package", "train.json"
CHECKED = ("speed_rmse", "speed_coverage_90", "sign", "position_rmse", "dark_coverage_90", "ratios")
"""Entries of the result that a package states."""


def is_complete(request: TrainingRequest) -> bool:
    """Return whether the package of a training is there and whole."""
    if not any((folder / MANIFEST).is_file() for folder in folders_of(request)):
        return False
    return _held(request) is not None and _is_whole(request)


def steps(request: TrainingRequest) -> tuple[Step, ...]:
    """Return the steps of a training in their order."""
    return (
        Step("sessions", partial(recorded, request)),
        Step("hearing", partial(learn, request)),
    )


def describe(request: TrainingRequest) -> dict[str, Any]:
    """Return what `result.json` holds of a training."""
    return dict(_read(request)["result"])


def packages_of(request: TrainingRequest) -> dict[str, Path]:
    """Return the folder of the package by its name."""
    return {str(_read(request)["name"]): request.out / PACKAGE}


def folders_of(request: TrainingRequest) -> list[Path]:
    """Return the folders of the sessions; that of the simulated rig where none is named."""
    named = request.settings[LearntDrawer].recordings
    if named:
        return [Path(each) for each in named]
    asked = [vars(_wanted(request)), request.seed, code_digest(capture.__name__)]
    return [request.out / "sessions" / f"simulated-{digest_of(asked)[:12]}"]


def recorded(request: TrainingRequest, progress: Progress = no_progress) -> None:
    """Have the sessions: named ones must be there, that of the simulated rig is recorded once."""
    folders = folders_of(request)
    if request.settings[LearntDrawer].recordings:
        if not any((folder / MANIFEST).is_file() for folder in folders):
            raise BadInput(str(folders[0] / MANIFEST), "nothing", "a session of a drawer")
        return
    output_folder(folders[0].parent)
    settings = request.settings.changed(DrawerSessions, takes=_wanted(request).takes)
    asked = CaptureRequest(settings, folders[0], SIMULATED, request.seed, progress)
    capture.run(asked)


def learn(request: TrainingRequest, progress: Progress = no_progress) -> None:
    """Learn what the drawer sounds like, unless it was, and write package and picture."""
    if _held(request) is not None and _is_whole(request):
        return
    folders = folders_of(request)
    name = f"{PREFIX}{sessions.drawer_of(folders)}"
    DRAWER.refuse(name)
    found = calibration.run(folders, request.out, seed=request.seed, progress=progress)
    packages.write(
        Drawer(found.learnt.hearing, found.session.rig.array().positions),
        request.out / PACKAGE,
        name=name,
        checks={each: found.result[each] for each in CHECKED if each in found.result},
        key=sessions.digest(folders),
        git_commit=git_commit(),
        settings={"seed": request.seed, "takes": _takes(found)},
    )
    followed.write(found, request.out)
    done = {"key": key_of(request), "name": name, "result": found.result}
    write_json(request.out / DONE, done)


def lines(result: Mapping[str, Any], out: Path) -> Sequence[str]:
    """Return the result in lines for the terminal."""
    takes = result["takes"]
    said = [
        f"{result['drawer']}: learnt from {len(takes['learnt_from'])} takes, tried on"
        f" {len(takes['held_out'])}, {len(takes['predicted'])} predicted"
    ]
    said += [f"  {file} set aside: {reason}" for file, reason in takes["rejected"].items()]
    said += [f"  {note}" for note in result["notes"]]
    return [*said, *_measured_lines(result)]


def metrics(result: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the numbers by which packages are compared, by name."""
    return {f"{PREFIX}{result['drawer']}": numbers(result)}


def numbers(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the few numbers of a result; none where no take was held out."""
    if "speed_rmse" not in result:
        return {}
    dark = result["position_rmse"]["light_off"]
    return {
        "speed_error": result["speed_rmse"]["ours"]["value"],
        "speed_coverage_90": result["speed_coverage_90"]["value"],
        "right_signs": result["sign"]["ours"]["value"],
        "dark_error": dark["ours"]["value"],
        "dark_error_mid_stroke": dark["mid_stroke"]["value"],
        "dark_coverage_90": result["dark_coverage_90"]["value"],
    }


def key_of(request: TrainingRequest) -> str:
    """Return the digest of everything that decides the package."""
    return digest_of([sessions.digest(folders_of(request)), request.seed, code_digest(__name__)])


def _wanted(request: TrainingRequest) -> DrawerSessions:
    """Return what is recorded on the simulated rig."""
    settings = request.settings
    return replace(settings[DrawerSessions], takes=settings[LearntDrawer].recorded)


def _takes(found: Calibrated) -> dict[str, dict[str, str]]:
    """Return the digest of the recording of each take that was learnt from or held out."""
    takes = found.result["takes"]
    return {
        part: {name: found.sounds[name] for name in takes[part]}
        for part in ("learnt_from", "held_out")
    }


def _measured_lines(result: Mapping[str, Any]) -> list[str]:
    found = numbers(result)
    if not found:
        return [
            "  no take was held out: four with a motion, lit at first and then dark, are needed"
        ]
    return [
        f"  speed off by {found['speed_error']:.3f} m/s, {found['speed_coverage_90']:.0%} in their"
        " 90 % intervals",
        f"  in the dark off by {found['dark_error']:.3f} m (the middle of the stroke by"
        f" {found['dark_error_mid_stroke']:.3f}), {found['dark_coverage_90']:.0%} in their 90 %"
        f" intervals, {found['right_signs']:.0%} of signs right",
    ]


def _is_whole(request: TrainingRequest) -> bool:
    try:
        package = read_package(request.out / PACKAGE, reader=READER)
    except BadInput:
        return False
    return package.data_digest == sessions.digest(folders_of(request))


def _held(request: TrainingRequest) -> dict[str, Any] | None:
    """Return what an earlier run wrote under the same key."""
    try:
        found = _read(request)
        return found if found["key"] == key_of(request) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _read(request: TrainingRequest) -> dict[str, Any]:
    return checked_json.load(request.out / DONE, "what a training wrote")
