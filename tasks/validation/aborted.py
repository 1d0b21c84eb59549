"""A validation that was aborted, in MLflow: a failed run that says why.

It is no evidence: `tasks.validation.record.find` returns finished runs alone.
"""

import time
from pathlib import Path

from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.storage.files import digest_of
from ricochet.tasks.validation import record
from ricochet.tasks.validation.contenders import Contenders

REASON = "ricochet.ended"


def publish(
    tracker: Tracker, contenders: Contenders, *, reason: str, files: Path, flow_run: str = ""
) -> OpenRun:
    """Record one and the folder of what the rig left, if there is one; each is a run of its own."""
    name, versions = contenders.name, contenders.versions
    tags = {f"ricochet.{role}": version for role, version in versions.items()}
    tags |= {"ricochet.name": name, REASON: reason, "prefect.flow_run_id": flow_run}
    tags[runs.DESCRIPTION] = f"Ended before its time: {reason}"
    key = digest_of([name, versions, reason, time.time_ns()])
    run = runs.open_run(tracker, record.EXPERIMENT, key, name=f"{name} ended", tags=tags)
    if files.is_dir():
        tracker.client.log_artifacts(run.run_id, str(files), "rig")
    runs.fail(tracker, run.run_id)
    return run
