"""The flow that records and seals a session; hardware never repeats by itself.

No retries and no cache: a second run of the same id returns what is there. A deployment's run that
starts too long after its scheduled time ends as skipped, so that late captures do not fire hours
later.
"""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.runtime import flow_run

from ricochet.flows import session_captures
from ricochet.flows.prefect_options import FLOW, ONCE, RETRIED
from ricochet.flows.prefect_runs import CARRIED
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage import free_space
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import workplace
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import capture as capturing
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.upkeep_settings import CaptureSpace


@flow(name="capture", flow_run_name="capture {session}", **FLOW)
def capture(
    session: str,
    rig: str | None = None,
    what: str | None = None,
    out: str = "artifacts/capture",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
    publishing: bool = True,
) -> dict[str, Any]:
    """Record a session, seal it and publish it.

    Args:
        rig: Name of the rig; None takes that of the settings.
        what: What is recorded, by its name in `ricochet capture --help`; None: drops.
        seed: Seed of a simulated rig.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
        publishing: Whether to publish it; a night does that itself.
    """
    if publishing:
        dvc_publish.check_repository()
    settings = catalogue.load_settings(params, overrides)
    if what is None:
        catalogue.refuse_foreign([capturing.package_name(settings)], POSTERIOR.made_by)
    refuse_full(settings, Path(out), publishing=publishing)
    folder = output_folder(Path(out))
    late = lateness()
    if late > settings[Capture].max_lateness:
        return skipped(folder, session, late)
    result = record(settings, folder, rig or settings[Capture].rig, session, seed, what)
    if publishing:
        result |= {"published": publish(Path(result["folder"]), settings[Capture].remote)}
    write_json(folder / "result.json", result)
    return result


@task(name="record and seal", task_run_name="record {session}", **ONCE)
def record(
    settings: Settings, folder: Path, rig: str, session: str, seed: int, what: str | None = None
) -> dict[str, Any]:
    """Record and seal a session, or return the one that is there."""
    if what is not None:
        return session_captures.run(what, settings, folder, rig=rig, session=session, seed=seed)
    return capturing.run(settings, folder, rig=rig, session=session, seed=seed)


@task(name="publish", task_run_name="publish {session.name}", **RETRIED)
def publish(session: Path, remote: str) -> str:
    """Put a sealed session under `data/` and into the DVC remote; returns its digest."""
    return dvc_publish.publish(session, remote=remote)


def refuse_full(settings: Settings, folder: Path, *, publishing: bool) -> None:
    """Refuse to record where less than `capture.free_space` is free."""
    places = (folder, workplace()) if publishing else (folder,)
    free_space.refuse_below(settings[CaptureSpace].free_space, "capture.free_space", *places)


def lateness() -> float:
    """Return how late after its scheduled start this run began, s.

    It is 0 if that is unknown, and for what no worker started: a person begins now, whatever a
    server says.
    """
    planned = flow_run.scheduled_start_time
    if CARRIED not in os.environ or not isinstance(planned, datetime):
        return 0.0
    return max(0.0, (datetime.now(UTC) - planned).total_seconds())


def skipped(folder: Path, session: str, late: float) -> dict[str, Any]:
    """Write `result.json` of a capture that was too late to start by so many seconds."""
    result = {
        "schema": "ricochet.capture/1",
        "session": session,
        "state": f"skipped, {late:.0f} s after its scheduled start",
        "takes": 0,
        "published": None,
    }
    write_json(folder / "result.json", result)
    return result
