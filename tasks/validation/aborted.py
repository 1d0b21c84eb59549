"""A validation that ended before its time, in MLflow: a failed run that says why.

It is no evidence: `tasks.validation.report.find_validation` looks at finished runs alone.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.storage.files import digest_of
from ricochet.tasks.validation import report

REASON = "ricochet.ended"


def publish(
    tracker: Tracker,
    name: str,
    versions: Mapping[str, str],
    *,
    reason: str,
    files: Path,
    flow_run: str = "",
) -> OpenRun:
    """Record one; each is a run of its own.

    Args:
        tracker: The store.
        name: Name in the registry.
        versions: Who was on trial, by role.
        reason: Why it ended, in one line.
        files: Folder of what the rig left.
        flow_run: Id of the Prefect flow run, if there is one.

    Returns:
        The run.
    """
    tags = {f"ricochet.{role}": version for role, version in versions.items()}
    tags |= {"ricochet.name": name, REASON: reason, "prefect.flow_run_id": flow_run}
    tags["mlflow.note.content"] = f"Ended before its time: {reason}"
    key = digest_of([name, dict(versions), reason, time.time_ns()])
    run = runs.open_run(tracker, report.EXPERIMENT, key, name=f"{name} ended", tags=tags)
    tracker.client.log_artifacts(run.run_id, str(files), "rig")
    runs.fail(tracker, run.run_id)
    return run
