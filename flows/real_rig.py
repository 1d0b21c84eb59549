"""What a validation on a real rig adds: a place that answers and a person; an end before the end.

Nothing here moves anything. The question to the person and all motion are in
`tasks.systems.bouncing_ball.validation.real_trials`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from ricochet.flows.calibrate import link
from ricochet.flows.on_trial import SCHEMA
from ricochet.hardware.locks import BusyError
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console import operator
from ricochet.tasks.console.operator import EndedError
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.systems.bouncing_ball.tracking import real_rig
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import StreamClosedError
from ricochet.tasks.systems.bouncing_ball.validation.real_trials import Place
from ricochet.tasks.systems.bouncing_ball.validation.results import REAL, SIMULATED
from ricochet.tasks.validation import aborted

ENDED = (EndedError, StreamClosedError, BadInput, BusyError, KeyboardInterrupt)
"""What ends the trials on a rig; a real arm then stands."""


def open_place(rig: str, wanted: Settings, *, arm: bool) -> Place | None:
    """Find the real rig and the person at it, without any motion.

    Args:
        rig: `simulated` or `real`.
        wanted: The settings.
        arm: Whether a real robot may move.

    Returns:
        Both, or None for the simulated rig.

    Raises:
        BadInput: If there is no such rig, or anything that the real one needs is missing.
    """
    if rig not in (SIMULATED, REAL):
        raise BadInput("--rig", repr(rig), f"{SIMULATED} or {REAL}")
    if rig == REAL:
        there = operator.at_terminal()
        return Place(real_rig.open_rig(wanted, armed=arm), there)
    if arm:
        raise BadInput("--arm", "the simulated rig", "--rig real")
    return None


@contextmanager
def kept(
    tracker: Tracker,
    name: str,
    versions: Mapping[str, str],
    place: Place | None,
    *,
    out: Path,
    left: Path,
) -> Iterator[None]:
    """Record why the trials ended, if they end before their time.

    Args:
        tracker: The store.
        name: Name in the registry.
        versions: Who is on trial, by role.
        place: The real rig; None is the simulated one.
        out: Folder of `result.json`.
        left: Folder of what the rig leaves.
    """
    try:
        yield
    except ENDED as error:
        rig = SIMULATED if place is None else REAL
        reason = " ".join(str(error).split()) or "interrupted"
        run = give_up(tracker, name, dict(versions), reason, left)
        result = {"schema": SCHEMA, "name": name, "rig": rig, "ended": reason, "run": run}
        write_json(out / "result.json", result | {"unchanged": False, "promoted": False})
        raise


@task(name="give up", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def give_up(tracker: Tracker, name: str, versions: dict[str, str], reason: str, left: Path) -> str:
    """Record that the trials ended before their time, and why.

    Args:
        tracker: The store.
        name: Name in the registry.
        versions: Who was on trial, by role.
        reason: Why, in one line.
        left: Folder of what the rig left.

    Returns:
        The run.
    """
    run = aborted.publish(
        tracker, name, versions, reason=reason, files=left, flow_run=str(flow_run.id or "")
    )
    link(run, f"{name}: validation that ended, in MLflow", key="mlflow-validation-ended")
    return run.run_id
