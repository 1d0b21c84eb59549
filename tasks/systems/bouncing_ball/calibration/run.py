"""Recordings to posteriors: the steps of `ricochet calibrate`, free of any server.

    sessions -> targets -> detected drops -> posterior -> files under DIR

`folders` says which folder a target has. One that holds the result of the same key is left as it
is. `result.json` comes last.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.progress import bar
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems.bouncing_ball.calibration import folders
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    CalibrationRequest,
    CalibrationTarget,
    key,
    targets,
)

Registered = Callable[[CalibrationTarget, CalibrationRequest, Mapping[str, Any]], bool]
"""Tells whether the version that a result names was made of it, in the registry that is asked."""


def cached_result(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any] | None:
    """Return the `result.json` of an earlier run of the same key, or None where there is none."""
    try:
        details = checked_json.load(target.folder / "details.json")
        result = checked_json.load(target.folder / "result.json")
    except (OSError, ValueError):
        return None
    return dict(result) if details.get("key") == key(target, request) else None


def calibrate_target(
    target: CalibrationTarget, request: CalibrationRequest, *, progress: Progress = no_progress
) -> dict[str, Any]:
    """Calibrate one target; write all files but `result.json`, whose content is returned.

    What a bare recording had before stays until there is an answer in its place.
    """
    output_folder(target.folder)
    if target.bare:
        from ricochet.tasks.systems.bouncing_ball.calibration import times_only

        try:
            return times_only.calibrate(target, request)
        except BadInput:
            with suppress(OSError):  # it holds something
                target.folder.rmdir()
            raise
    folders.clear(target.folder)
    from ricochet.tasks.systems.bouncing_ball.calibration import posterior

    return posterior.calibrate(target, request, progress=progress)


def unchanged(
    sessions: Sequence[str], request: CalibrationRequest, *, registered: Registered | None = None
) -> dict[str, dict[str, Any]] | None:
    """Return the earlier results by name if every target has one, else None.

    Args:
        registered: Where results are to be published, says which are; only those count.
    """
    found = targets(sessions, request.out)
    folders.refuse_heavy((target.folder for target in found), request.out)
    before = [(target, _settled(target, request, registered)) for target in found]
    entries = {
        target.name: _entry(target, result, unchanged=True)
        for target, result in before
        if result is not None
    }
    if len(entries) < len(before):
        return None
    folders.write_index({target.name: target.folder for target in found}, request.out)
    return entries


def withheld(result: Mapping[str, Any], request: CalibrationRequest) -> str | None:
    """Say in a line why a result is not registered: half of its takes or more were set aside."""
    used, aside = result["takes"]["used"], len(result["takes"]["rejected"])
    if request.anyway or aside < used:
        return None
    return f"not registered: {aside} of {used + aside} takes were set aside; --anyway registers it"


def run(
    sessions: Sequence[str],
    request: CalibrationRequest,
    *,
    do: Callable[[CalibrationTarget, CalibrationRequest], Mapping[str, Any]] | None = None,
    registered: Registered | None = None,
    refused: list[BadInput] | None = None,
) -> dict[str, Any]:
    """Calibrate every target and write every `result.json`.

    Args:
        do: Does one target and returns its result; by default nothing is published.
        registered: Where results are to be published, says which are: an earlier one counts then.
        refused: Takes up why bare recordings could not be used, so that the others are; where it
            is not given, the first one ends all.

    Returns:
        By name `result`, `folder`, whether it was there `unchanged`, and, of a bare recording
        that had another answer, the ball of the one that it `replaces`.
    """
    work = do or _alone
    results: dict[str, Any] = {}
    folders.move_below(request.out)
    found = targets(sessions, request.out)
    folders.refuse_heavy((target.folder for target in found), request.out)
    pairs = [target.folder for target in found if not target.bare and target.folder != request.out]
    moved = [folder for folder in map(folders.make_room, pairs) if folder is not None]
    for target in found:
        before, replaces = _settled(target, request, registered), _earlier_ball(target)
        try:
            result = dict(before or work(target, request))
        except BadInput as error:
            if refused is None or not target.bare:
                raise
            refused.append(error)
            continue
        if before is None:
            write_json(target.folder / "metrics.json", metrics(result))
            write_json(target.folder / "result.json", result)
        results[target.name] = _entry(target, result, unchanged=before is not None)
        if before is None and replaces is not None:
            results[target.name]["replaces"] = replaces
    found = tuple(target for target in found if target.name in results)
    below = {folder.name: folder for folder in moved}
    folders.write_index(below | {each.name: each.folder for each in found}, request.out)
    return results


def metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the few numbers by which results are compared; a parameter that is unknown has none.

    >>> parameters = {"parameters": ["restitution"], "mean": [0.85], "covariance": [[1e-6]]}
    >>> metrics({**parameters, "takes": {"used": 3, "rejected": []}, "predictive_p_value": None})
    {'restitution_mean': 0.85, 'restitution_sd': 0.001, 'takes_used': 3.0, 'takes_rejected': 0.0}
    """
    found: dict[str, float] = {}
    for number, name in enumerate(result["parameters"]):
        if name not in result.get("unknown", ()):
            found[f"{name}_mean"] = result["mean"][number]
            found[f"{name}_sd"] = result["covariance"][number][number] ** 0.5
    found["takes_used"] = float(result["takes"]["used"])
    found["takes_rejected"] = float(len(result["takes"]["rejected"]))
    if result.get("predictive_p_value") is not None:
        found["predictive_p_value"] = result["predictive_p_value"]
    return found


def _earlier_ball(target: CalibrationTarget) -> str | None:
    """Return the ball that an earlier answer to the same bare recording was for, if it is there."""
    try:
        result = checked_json.load(target.folder / "result.json")
        ball = result["object"]
        named = str(ball["ball"]) if "air_temperature" in ball else "no ball named"
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return named if target.bare else None


def _alone(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any]:
    with bar(target.name) as progress:
        return calibrate_target(target, request, progress=progress)


def _settled(
    target: CalibrationTarget, request: CalibrationRequest, registered: Registered | None
) -> dict[str, Any] | None:
    before = cached_result(target, request)
    if before is None or registered is None:
        return before
    if before["registered"] is not None:
        return before if registered(target, request, before) else None
    lacking = (target.folder / "package").is_dir() and withheld(before, request) is None
    return None if lacking else before


def _entry(
    target: CalibrationTarget, result: Mapping[str, Any], *, unchanged: bool
) -> dict[str, Any]:
    return {"result": dict(result), "unchanged": unchanged, "folder": str(target.folder)}
