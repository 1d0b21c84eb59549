"""The scheduled flow: each system's parts in turn, such as to record, calibrate, train, validate.

Each part finds its own earlier result, so a second run of the same night adds nothing. Whatever
fails in one part, the others still run: the failure is a line of `failures` in result.json and of
the run's log, and the flow fails at its end, when all is done. A DVC remote that is away is no
failure: the sealed session stays, what is at hand is calibrated, `reason` says why nothing was
published, and the next night publishes what was left over. Before all that a night makes room: runs
that a crash left open are closed, old ones that nothing needs are removed; and it does not begin
where too little space is free.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from prefect import flow, task
from prefect.context import FlowRunContext
from prefect.exceptions import CancelledRun, MissingContextError
from prefect.logging import get_logger, get_run_logger
from prefect.runtime import flow_run

from ricochet.flows import calibrate as calibration
from ricochet.flows import capture as capturing
from ricochet.flows import dead_runs
from ricochet.flows import infer as inference
from ricochet.flows import train as training
from ricochet.flows import validate as validation
from ricochet.flows.job_places import jobs_by_settings
from ricochet.flows.prefect_options import FLOW, RETRIED
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.general_settings import Capture, Nightly
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.recordings.dvc_commands import LateError, PublicationError
from ricochet.tasks.registry import retention
from ricochet.tasks.registry.promotion import RolledBackError
from ricochet.tasks.registry.runs import connect
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage import free_space
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import artifacts, workplace
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import NightlyStep
from ricochet.tasks.upkeep_settings import Keep, NightSpace

T = TypeVar("T")

PLAIN = (BadInput, RuntimeError, ValueError)
"""Errors whose text says enough without the name of their type."""


class IncompleteNightError(RuntimeError):
    """A part of the night failed; all others ran, and `result` is what result.json holds."""

    def __init__(self, result: dict[str, Any]) -> None:
        """Name the failures."""
        super().__init__("; ".join(result["failures"]))
        self.result = result


@flow(name="nightly", flow_run_name=lambda: tonight(), **FLOW)
@jobs_by_settings
def nightly(
    session: str | None = None,
    out: str = "artifacts/nightly",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Run the parts of all systems.

    Args:
        session: Id of tonight's session; None names it after the scheduled start.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Raises:
        BadInput: Less space is free than `nightly.free_space`; nothing was done.
        IncompleteNightError: If a part failed, after all others ran.
    """
    settings = catalogue.load_settings(params, overrides)
    needed, places = settings[NightSpace].free_space, (Path(out), artifacts(), workplace())
    free_space.refuse_below(needed, "nightly.free_space", *places)
    night = Night(
        settings=settings,
        session=session or tonight(),
        folder=output_folder(Path(out)),
        given={"seed": seed, "params": params, "overrides": overrides},
    )
    result: dict[str, Any] = {"schema": "ricochet.nightly/1", "session": night.session}
    result |= {"state": None, "published": None, "reason": None, "pairs": {}, "validated": {}}
    night.attempt("dead runs", settle, lambda _: None)
    night.attempt("old runs", partial(retire, settings[Keep].runs), lambda _: None)
    for step in night.steps():
        result |= night.take(step)
    result["failures"] = night.failures
    write_json(night.folder / "result.json", result)
    if night.failures:
        raise IncompleteNightError(result)
    return result


@dataclass(frozen=True)
class Night:
    """The flows that a step may run (`tasks.systems.interface.Night`), and what failed so far.

    Attributes:
        session: Id of tonight's session.
        given: Seed, settings file and overrides, as every flow takes them.
        failures: A line for each part that failed.
    """

    settings: Settings
    session: str
    folder: Path
    given: dict[str, Any]
    failures: list[str] = field(default_factory=list)

    def steps(self) -> Iterator[NightlyStep]:
        """Yield the steps of each system in turn; a system that cannot be imported has none."""
        for name in catalogue.SYSTEMS:
            find = partial(catalogue.nightly_steps, name)
            yield from self.attempt(f"steps of {name}", find, lambda _: ())

    def take(self, step: NightlyStep) -> dict[str, Any]:
        """Return the entries of a step in result.json, or those that stand for its failure."""

        def run() -> dict[str, Any]:
            return entries(step.run(self)) if step.enabled(self.settings) else {}

        def failed(line: str) -> dict[str, Any]:
            return self.attempt(step.name, lambda: entries(step.failed(line)), lambda _: {})

        return self.attempt(step.name, run, failed)

    def record(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Record tonight's session, publish it and fetch all others; what fails is noted."""
        place = output_folder(self.folder / "capture")
        recorded = self.attempt(
            "capture", partial(self._capture, place, overrides), lambda _: {"state": "failed"}
        )
        remote = self.settings[Capture].remote
        published, reasons = self.attempt(
            "publish", lambda: publish(place, self.session, remote), lambda line: ({}, [line])
        )
        reasons += self.attempt("fetch", fetched, lambda line: [line])
        return {
            "state": recorded["state"],
            "published": published.get(self.session),
            "reason": "; ".join(reasons) or None,
        }

    def calibrate(self) -> dict[str, Any]:
        """Calibrate all recordings; returns the results by name of the package."""
        return calibration.calibrate(out=str(self.folder / "calibrate"), **self.given)

    def train(self, name: str) -> dict[str, Any]:
        """Run a training and return its result."""
        return training.train(name=name, out=str(artifacts() / "train" / name), **self.given)

    def infer(self, name: str, files: Sequence[str], register_as: str) -> dict[str, Any]:
        """Run an inference from files of recorded motion, register it and return its result."""
        out = str(self.folder / "infer" / register_as)
        return inference.infer(name, list(files), register_as, out=out, **self.given)

    def validate(self, name: str) -> str:
        """Validate the candidate of a package; returns the outcome in a line, even if it failed."""
        return self.attempt(f"validate {name}", partial(self._validate, name), str)

    def attempt(self, part: str, run: Callable[[], T], failed: Callable[[str], T]) -> T:
        """Return what a part returns or, where it fails for any reason, what stands for that.

        Only an interruption or a cancellation ends the night: Prefect raises `CancelledRun` for a
        cancelled run, all else that cancels is no `Exception`. `failed` returns what stands for a
        failure, given in a line.
        """
        try:
            return run()
        except CancelledRun:
            raise
        except Exception as error:
            line = reason(error)
            self.failures.append(f"{part}: {line}")
            _logger().error(self.failures[-1])
            return failed(line)

    def _capture(self, place: Path, overrides: Sequence[str]) -> dict[str, Any]:
        late = capturing.lateness()
        if late > self.settings[Nightly].max_lateness:
            return capturing.skipped(place, self.session, late)
        given = {**self.given, "overrides": [*(self.given["overrides"] or ()), *overrides]}
        return capturing.capture(session=self.session, out=str(place), publishing=False, **given)

    def _validate(self, name: str) -> str:
        out = str(self.folder / "validate" / name)
        try:
            result = validation.validate(name=name, out=out, **self.given)
        except RolledBackError as error:  # until a better one comes: refused, no failure
            return reason(error)
        if result["unchanged"]:
            return "champion already"
        return "promoted" if result["promoted"] else "refused by the gate"


def entries(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a step found as JSON holds it; TypeError or ValueError if that is impossible."""
    if not isinstance(found, Mapping):
        raise TypeError(f"{type(found).__name__} in place of entries of result.json")
    held: dict[str, Any] = json.loads(json.dumps(dict(found), allow_nan=False))
    return held


def publish(folder: Path, tonight: str, remote: str) -> tuple[dict[str, str], list[str]]:
    """Publish tonight's session, even if it was before, then what earlier nights could not.

    Returns:
        The digest of all recordings by session that was published now, and why others were not.

    Raises:
        Exception: What keeps tonight's session from being published, other than a remote away.
    """
    done: dict[str, str] = {}
    reasons: list[str] = []
    own = [folder / tonight] if (folder / tonight).is_dir() else []
    for session in [*own, *(left for left in dvc_publish.waiting(folder) if left not in own)]:
        try:
            done[session.name] = capturing.publish(session, remote)
            dvc_publish.remember(session, done[session.name])
        except PublicationError as error:
            reasons.append(str(error))
            if not done or isinstance(error, LateError):
                break  # the remote is away; the others would fail alike, each after its retries
        except CancelledRun:
            raise
        except Exception as error:
            if session in own:
                raise
            reasons.append(reason(error))
    return done, reasons


def fetched() -> list[str]:
    """Fetch all recordings; returns why not all are at hand, if the remote is away."""
    try:
        fetch()
    except PublicationError as error:
        return [str(error)]
    return []


@task(name="fetch recordings", task_run_name="fetch recordings", **RETRIED)
def fetch() -> None:
    """Fetch all recordings that `data.dvc` names, not tonight's alone."""
    dvc_publish.pull()


def settle() -> None:
    """Close what processes that are gone left open, where this is a flow run that sees them."""
    if FlowRunContext.get() is not None:
        for finding in dead_runs.settle():
            _logger().warning(finding.line)


def retire(days: float) -> None:
    """Remove the runs that ended so many days ago and that nothing needs."""
    if FlowRunContext.get() is not None and (count := retention.remove(connect(), days=days)):
        _logger().info(f"{count} old runs that nothing needs, removed")


def tonight() -> str:
    """Name the session after the scheduled start in UTC, so that a retry finds it."""
    planned = flow_run.scheduled_start_time
    if not isinstance(planned, datetime):
        raise RuntimeError("nightly runs as a flow, which has a start time")
    return f"nightly-{planned:%Y%m%dT%H%M%S}"


def reason(error: Exception) -> str:
    """Return the text of an error in one line, after the name of its type where that is needed."""
    text = one_line(" ".join(str(error).split()), longest=1000)
    return text if text and isinstance(error, PLAIN) else f"{type(error).__name__}: {text}"


def _logger() -> Any:
    try:
        return get_run_logger()
    except MissingContextError:  # outside of a flow run
        return get_logger("nightly")
