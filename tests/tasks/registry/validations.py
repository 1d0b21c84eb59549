"""Finished runs of validations, as the gate leaves them."""

from ricochet.tasks.registry import runs, verdicts
from ricochet.tasks.registry.runs import Tracker

EXPERIMENT = "validate"


def make(
    tracker: Tracker,
    name: str,
    candidate: str,
    champion: str | None,
    *,
    gate: str = verdicts.PASSED,
    finished: bool = True,
) -> str:
    """Make the run of a validation; returns its id."""
    tags = verdicts.compared(name, candidate, champion) | {verdicts.GATE: gate}
    run = runs.open_run(tracker, EXPERIMENT, f"{name}-{candidate}", name=name, tags=tags)
    if finished:
        runs.finish(tracker, run.run_id)
    return run.run_id


def of(tracker: Tracker, name: str, candidate: str) -> str:
    """Return the id of the run that was made for a candidate."""
    found = runs.find_run(tracker, EXPERIMENT, f"{name}-{candidate}")
    assert found is not None
    return str(found.info.run_id)
