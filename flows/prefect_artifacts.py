"""What Prefect shows of a run to whoever looks: how far a step is, and links to MLflow's runs.

Nothing rests on these artifacts. One that Prefect's server refuses, or of which it says what nobody
can read, is said in a line; what was computed or registered stays, and the work goes on.
"""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_progress_artifact,
    update_progress_artifact,
)
from prefect.runtime import flow_run

from ricochet.flows.servers import addresses
from ricochet.models.core.printable_text import one_line
from ricochet.models.core.progress import Progress
from ricochet.tasks.console.progress import announce, bar
from ricochet.tasks.registry import page_places
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.training.steps import Publication

T = TypeVar("T")
REPORTED = 5
"""Per cent of a step's work between two reports to Prefect."""


def link(run: OpenRun | Publication, text: str, *, key: str) -> None:
    """Leave a link to an MLflow run in the Prefect run, as an artifact with a key."""

    def create() -> None:
        address, _ = addresses.mlflow()
        place = f"{address}/{page_places.of_run(run.experiment_id, run.run_id)}"
        create_link_artifact(link=place, link_text=text, key=key)

    _attempt(f"link {text}", create)


@contextlib.contextmanager
def reported(label: str) -> Iterator[Progress]:
    """Show progress at the terminal and, inside a flow, in Prefect until it refuses a report."""
    with bar(label) as drawn:
        if flow_run.id is None:
            yield drawn
            return
        report = _reports(label)

        def both(done: int, total: int) -> None:
            drawn(done, total)
            report(done, total)

        yield both


def _reports(label: str) -> Progress:
    """Return what reports a step's progress to Prefect; after a report that fails it is silent."""
    attempt: Callable[..., UUID | None] = partial(_attempt, f"progress of {label}")
    made: Any = partial(create_progress_artifact, progress=0.0, description=label)
    artifact, reported = attempt(made), 0

    def report(done: int, total: int) -> None:
        nonlocal artifact, reported
        share = 100 * done // max(total, 1)
        due = share >= reported + REPORTED or (done == total and reported < 100)
        if artifact is not None and due:
            reported = share
            artifact = attempt(partial(update_progress_artifact, artifact, float(share)))

    return report


def _attempt(what: str, write: Callable[[], T]) -> T | None:
    """Write to Prefect; return what that returns, or say why it failed and return None."""
    try:
        return write()
    except Exception as error:
        said = one_line(f"{type(error).__name__}: {error}")
        announce(f"{what}: not shown in Prefect, {said}")
        return None
