"""The scheduled flow: capture, train if needed, calibrate every pair, publish.

Each part finds its own earlier result, so a second run of the same night adds nothing.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from flows import calibrate as calibration
from flows import capture as capturing
from tasks import publication, settings
from tasks.artefacts import output_folder, write_json


@flow(name="nightly", retries=0, persist_result=False, result_serializer="json")
def nightly(
    session: str | None = None,
    out: str = "artifacts/nightly",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Record tonight's session and calibrate all recordings.

    Args:
        session: Id of the session; None names it after the scheduled start.
        out: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Returns:
        What `result.json` holds.
    """
    wanted = settings.load(None if params is None else Path(params), overrides or ())
    folder, name = output_folder(Path(out)), session or tonight()
    late, most = capturing.lateness(), wanted.nightly.max_lateness
    if late > most:
        recorded = capturing.skipped(output_folder(folder / "capture"), name, late)
    else:
        recorded = capturing.capture(
            session=name,
            out=str(folder / "capture"),
            seed=seed,
            params=params,
            overrides=[*(overrides or ()), f"capture.drops={wanted.nightly.drops}"],
        )
    fetch()
    results = calibration.calibrate(
        out=str(folder / "calibrate"), seed=seed, params=params, overrides=overrides
    )
    result = {
        "schema": "ricochet.nightly/1",
        "state": recorded["state"],
        "session": name,
        "published": recorded["published"],
        "pairs": {pair: entry["unchanged"] for pair, entry in results.items()},
    }
    write_json(folder / "result.json", result)
    return result


@task(name="fetch recordings", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def fetch() -> None:
    """Have all recordings at hand that `data.dvc` names, not tonight's alone."""
    publication.pull()


def tonight() -> str:
    """Name the session after the scheduled start, so that a retry finds it.

    Returns:
        `nightly-` and the date and time in UTC.
    """
    planned = flow_run.scheduled_start_time
    if not isinstance(planned, datetime):
        raise RuntimeError("nightly runs as a flow, which has a start time")
    return f"nightly-{planned:%Y%m%dT%H%M%S}"
