"""From impacts to a controller's package: what `ricochet train batting` does.

    impacts     the recording that is named, or captured on the simulated board: `impacts.csv`
    law         what `ricochet infer impacts` does, every second row held out
    filter      flights on the board of which the truth is known
    package     what a controller needs, with what was measured

`train.json` is written last and has the key of all that decides the package.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.batting.belief import flights
from ricochet.tasks.registry.packages import read_package
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.storage import checked_json
from ricochet.tasks.storage.files import (
    digest_of,
    output_folder,
    read_bytes,
    sha256,
    write_bytes,
    write_json,
)
from ricochet.tasks.storage.provenance import code_digest
from ricochet.tasks.systems.batting import (
    capture_impacts,
    impact_files,
    infer_impacts,
    packages,
)
from ricochet.tasks.systems.batting.infer_impacts import HOLD_OUT, PACKAGE
from ricochet.tasks.systems.batting.kinds import BATTER, PREFIX
from ricochet.tasks.systems.batting.packages import READER
from ricochet.tasks.systems.batting.settings import Batting, LearntImpacts
from ricochet.tasks.systems.batting.validation import play
from ricochet.tasks.systems.interface import InferenceRequest
from ricochet.tasks.training.steps import Step, TrainingRequest

SCHEMA = "ricochet.batting-training/1"
TABLE, CAPTURED, LAW, DONE = "impacts.csv", "capture.json", "law.json", "train.json"
SHARE = 0.5
"""Of the rows that is held out."""


def is_complete(request: TrainingRequest) -> bool:
    """Return whether the package of a training is there and whole."""
    name_of(request)
    return _held(request, DONE) is not None and _is_whole(request) and _has_its_table(request)


def steps(request: TrainingRequest) -> tuple[Step, ...]:
    """Return the steps of a training in their order."""
    return (
        Step("impacts", partial(impacts, request)),
        Step("law", partial(law, request)),
        Step("filter", partial(tried, request)),
    )


def describe(request: TrainingRequest) -> dict[str, Any]:
    """Return what `result.json` holds of a training."""
    return {"schema": SCHEMA, "name": name_of(request), **_read(request, DONE)["result"]}


def folders(request: TrainingRequest) -> dict[str, Path]:
    """Return the folder of the package by its name."""
    return {name_of(request): request.out / PACKAGE}


def name_of(request: TrainingRequest) -> str:
    """Return the name of the package; `BadInput` for one that there cannot be."""
    name = f"{PREFIX}{request.settings[Batting].set}"
    BATTER.refuse(name)
    return name


def lines(result: Mapping[str, Any], out: Path) -> Sequence[str]:
    """Return the result in lines for the terminal."""
    found = result["filter"]
    return (
        *infer_impacts.lines(result),
        f"filter, {found['flights']} flights of {play.FLIGHT:g} s: off by"
        f" {found['position_m']['median']:.2f} m (median), {found['coverage_90']:.0%} in their 90 %"
        f" regions, shape right in {found['shape']:.0%}, {found['lost']:.0%} lost",
    )


def metrics(result: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the numbers by which controllers are compared, by name."""
    return {str(result["name"]): infer_impacts.metrics(result)}


def impacts(request: TrainingRequest, progress: Progress = no_progress) -> None:
    """Have the table: the named recording, or one captured anew."""
    settings, folder = request.settings[Batting], output_folder(request.out)
    if settings.recording:
        write_bytes(folder / TABLE, _recorded(settings.recording))
        return
    key, file = _captured_key(request), folder / TABLE
    held = _held(request, CAPTURED, key)
    if held is None or not file.is_file() or held.get("sha256") != sha256(file):
        capture_impacts.make(folder, count=settings.impacts, seed=request.seed, progress=progress)
        write_json(folder / CAPTURED, {"key": key, "sha256": sha256(file)})


def law(request: TrainingRequest, progress: Progress = no_progress) -> None:
    """Learn the law of impact, unless it was, and write the package without the filter's checks."""
    if _held(request, LAW) is None or not _is_whole(request):
        result = infer_impacts.run(_inference(request, progress))
        if "withheld" in result:
            raise BadInput(str(request.out / TABLE), result["withheld"], "impacts of the law")
        write_json(request.out / LAW, {"key": key_of(request), "result": result})


def tried(request: TrainingRequest, progress: Progress = no_progress) -> None:
    """Follow flights with the package's filter, and write the package with what came of them."""
    settings, result = request.settings[Batting], dict(_read(request, LAW)["result"])
    batter = packages.read(request.out / PACKAGE, key=UNSIGNED)
    flown = play.follow_flights(batter, settings.flights, request.seed + 1, progress)
    columns = np.array([[each.error, each.shape, each.inside] for each in flown]).T
    result["filter"] = flights.accuracy(*columns)
    further = {"filter": result["filter"]}
    infer_impacts.write_package(_inference(request, no_progress), batter, result, further)
    write_json(request.out / DONE, {"key": key_of(request), "result": result})


def key_of(request: TrainingRequest) -> str:
    """Return the digest of everything that decides the package."""
    settings = request.settings
    file = request.out / TABLE
    decided = {
        "table": sha256(file) if file.is_file() else "",
        "particles": settings[LearntImpacts].particles,
        "friction_limit": settings[LearntImpacts].friction_limit,
        "flights": settings[Batting].flights,
        "seed": request.seed,
        "code": code_digest(__name__),
        "asked": _captured_key(request),
    }
    return digest_of(decided)


def _captured_key(request: TrainingRequest) -> str:
    """Return the digest of what is recorded: of a file, or of what captures."""
    settings = request.settings[Batting]
    if settings.recording:
        return sha256(read_bytes(Path(settings.recording), "a table of impacts"))
    return digest_of([settings.impacts, request.seed, code_digest(capture_impacts.__name__)])


def _recorded(file: str) -> bytes:
    impact_files.read(Path(file))  # BadInput for what is no table
    return read_bytes(Path(file), "a table of impacts")


def _inference(request: TrainingRequest, progress: Progress) -> InferenceRequest:
    return InferenceRequest(
        files=(request.out / TABLE,),
        rate=None,
        predicted=(),
        settings=request.settings,
        out=request.out,
        seed=request.seed,
        progress=progress,
        numbers={HOLD_OUT: SHARE},
        name=name_of(request),
    )


def _is_whole(request: TrainingRequest) -> bool:
    try:
        package = read_package(request.out / PACKAGE, reader=READER, name=name_of(request))
    except BadInput:
        return False
    return package.data_digest == sha256(request.out / TABLE)


def _has_its_table(request: TrainingRequest) -> bool:
    """Return whether the table is the one that was captured, or the recording that is named."""
    file, recording = request.out / TABLE, request.settings[Batting].recording
    if recording:
        return sha256(file) == sha256(_recorded(recording))
    held = _held(request, CAPTURED, _captured_key(request))
    return held is not None and held.get("sha256") == sha256(file)


def _held(request: TrainingRequest, name: str, key: str | None = None) -> dict[str, Any] | None:
    """Return what an earlier run wrote under the same key."""
    try:
        found = _read(request, name)
        return found if found["key"] == (key or key_of(request)) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _read(request: TrainingRequest, name: str) -> dict[str, Any]:
    return checked_json.load(request.out / name, "what a training wrote")
