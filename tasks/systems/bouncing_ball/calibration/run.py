"""Recordings to posteriors: the steps of `ricochet calibrate`, free of any server.

    sessions -> targets -> detected drops -> posterior -> files under DIR

One target writes into DIR itself, several into DIR/<ball>-<surface>, with an index in DIR. A folder
that holds the result of the same key is left as it is. `result.json` comes last.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.progress import bar
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    CalibrationRequest,
    CalibrationTarget,
    key,
    targets,
)

INDEX = "ricochet.calibration-index/1"


def cached_result(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any] | None:
    """Return the `result.json` of an earlier run of the same key, or None where there is none."""
    try:
        details = json.loads((target.folder / "details.json").read_text())
        result = json.loads((target.folder / "result.json").read_text())
    except (OSError, ValueError):
        return None
    return dict(result) if details.get("key") == key(target, request) else None


def calibrate_target(
    target: CalibrationTarget, request: CalibrationRequest, *, progress: Progress = no_progress
) -> dict[str, Any]:
    """Calibrate one target; write all files but `result.json`, whose content is returned."""
    output_folder(target.folder)
    _clear(target.folder)
    if target.bare:
        from ricochet.tasks.systems.bouncing_ball.calibration import times_only

        return times_only.calibrate(target, request)
    from ricochet.tasks.systems.bouncing_ball.calibration import posterior

    return posterior.calibrate(target, request, progress=progress)


def unchanged(
    sessions: Sequence[str], request: CalibrationRequest, *, published: bool
) -> dict[str, dict[str, Any]] | None:
    """Return the earlier results by name if every target has one, else None.

    Where results are to be published, only registered ones count.
    """
    found = targets(sessions, request.out)
    before = [(target, _settled(target, request, published)) for target in found]
    entries = {
        target.name: _entry(target, result, unchanged=True)
        for target, result in before
        if result is not None
    }
    if len(entries) < len(before):
        return None
    _write_index(found, request.out)
    return entries


def run(
    sessions: Sequence[str],
    request: CalibrationRequest,
    *,
    do: Callable[[CalibrationTarget, CalibrationRequest], Mapping[str, Any]] | None = None,
    published: bool = False,
) -> dict[str, Any]:
    """Calibrate every target and write every `result.json`.

    Returns by name: `result`, `folder`, and whether it was there `unchanged`. `do` does one
    target and returns its result; by default nothing is published. Where results are to be
    published, an earlier one counts only if it is registered.
    """
    work = do or _alone
    results: dict[str, Any] = {}
    found = targets(sessions, request.out)
    for target in found:
        before = _settled(target, request, published)
        result = dict(before or work(target, request))
        if before is None:
            write_json(target.folder / "result.json", result)
        results[target.name] = _entry(target, result, unchanged=before is not None)
    _write_index(found, request.out)
    return results


def _write_index(found: Sequence[CalibrationTarget], out: Path) -> None:
    """Say where the results of several targets are; that of one lies in the folder itself."""
    if len(found) > 1:
        index = {target.name: f"{target.name}/result.json" for target in found}
        write_json(out / "result.json", {"schema": INDEX, "pairs": index})


def _clear(folder: Path) -> None:
    """Remove what an earlier run left, the result first."""
    for name in ("result.json", "details.json", "samples.npz"):
        (folder / name).unlink(missing_ok=True)
    for name in ("package", "figures"):
        shutil.rmtree(folder / name, ignore_errors=True)


def _alone(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any]:
    with bar(target.name) as progress:
        return calibrate_target(target, request, progress=progress)


def _settled(
    target: CalibrationTarget, request: CalibrationRequest, published: bool
) -> dict[str, Any] | None:
    before = cached_result(target, request)
    lacking = published and before is not None and before["registered"] is None
    return None if lacking and (target.folder / "package").is_dir() else before


def _entry(
    target: CalibrationTarget, result: Mapping[str, Any], *, unchanged: bool
) -> dict[str, Any]:
    return {"result": dict(result), "unchanged": unchanged, "folder": str(target.folder)}
