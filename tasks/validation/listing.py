"""What is registered: names with their aliases, numbers, last validation and age.

The store is read and never written to, with or without a server beside it. What is shown of a name
is its champion, or its candidate where it has none.
"""

import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from mlflow.entities.model_registry import ModelVersion, RegisteredModel
from mlflow.exceptions import MlflowException

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import (
    page_places,
    pages,
    promotion,
    promotion_log,
    quantities,
    runs,
    versions,
)
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.quantities import Quantity
from ricochet.tasks.registry.retention import RUN
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.checked_json import LONGEST_NAME
from ricochet.tasks.storage.provenance import artifacts
from ricochet.tasks.validation import record
from ricochet.tasks.validation.record import Sealed

DAY = 86400.0
MOST = 100
"""Validations that are counted."""


@dataclass(frozen=True)
class LastValidation:
    """The last finished validation of a name: its run, what the gate said, and when, s since 1970.

    Attributes:
        versions: Of candidate and champion; `none` without a champion.
    """

    run: str
    experiment: str
    gate: str
    when: float
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """A registered name.

    Attributes:
        version: The one that is shown; None where no alias points at one.
        registered: When that was registered, s since 1970; None where nothing says it.
        fault: Why its package cannot be read; None if it can.
    """

    name: str
    aliases: Mapping[str, str]
    version: str | None
    registered: float | None
    numbers: tuple[Quantity, ...]
    validation: LastValidation | None
    fault: str | None = None

    def age(self, now: float | None = None) -> float | None:
        """Return the age of the version that is shown, days."""
        if self.registered is None:
            return None
        return ((time.time() if now is None else now) - self.registered) / DAY


@dataclass(frozen=True)
class Detail:
    """An entry with what its package and its runs say.

    Attributes:
        data: Digest of the recordings, as the package states it.
        tracked: Digest by which DVC names all recordings, where the version has it.
        sessions: Names of the recordings, where the run that made it says so.
        used: Where it is used, as far as that is recorded, a line each.
        place: Its page in MLflow, to be put behind the address of a server.
    """

    entry: Entry
    data: str
    tracked: str
    sessions: tuple[str, ...]
    used: tuple[str, ...]
    place: str


def tracker() -> Tracker | None:
    """Open the registry; None where nothing was ever recorded, so that nothing is made."""
    elsewhere = os.environ.get("MLFLOW_TRACKING_URI")
    if not elsewhere and not (artifacts() / "mlflow" / "mlflow.db").is_file():
        return None
    return runs.connect()


def names(tracker: Tracker) -> tuple[str, ...]:
    """Return all registered names in their order."""
    return tuple(sorted(versions.names(tracker)))


def entry(tracker: Tracker, name: str, kind: PackageKind) -> Entry:
    """Describe a name; BadInput if it is not registered."""
    return _described(tracker, _model(tracker, name), kind)[0]


def detail(tracker: Tracker, name: str, kind: PackageKind) -> Detail:
    """Describe a name in detail; BadInput if it is not registered."""
    found, version, package = _described(tracker, _model(tracker, name), kind)
    where = f"#/models/{name}" + ("" if version is None else f"/versions/{found.version}")
    return Detail(
        entry=found,
        data="" if package is None else package.data_digest,
        tracked="" if version is None else version.tags.get("data.digest", ""),
        sessions=() if version is None else _sessions(tracker, version),
        used=_used(tracker, found),
        place=f"{where}?{page_places.TRAINING}",
    )


def _model(tracker: Tracker, name: str) -> RegisteredModel:
    try:
        return tracker.client.get_registered_model(name)
    except MlflowException as error:
        if error.error_code not in versions.ABSENT:
            raise
        there = ", ".join(names(tracker)) or "none yet"
        raise BadInput(name, "no such name in the registry", f"one of {there}") from error


def _described(
    tracker: Tracker, model: RegisteredModel, kind: PackageKind
) -> tuple[Entry, ModelVersion | None, Package | None]:
    aliases = {alias: str(number) for alias, number in sorted(model.aliases.items())}
    number = aliases.get(CHAMPION) or aliases.get(CANDIDATE)
    version = None if number is None else tracker.client.get_model_version(model.name, number)
    package, fault = _package(tracker, model.name, number, kind)
    since = model.creation_timestamp if version is None else version.creation_timestamp
    registered = since / 1000.0 if since else None
    describe = kind.load_reader().describe or quantities.of_package
    numbers = () if package is None else tuple(describe(package))
    last = _last_validation(tracker, model.name)
    found = Entry(model.name, aliases, number, registered, numbers, last, fault)
    return found, version, package


def _package(
    tracker: Tracker, name: str, version: str | None, kind: PackageKind
) -> tuple[Package | None, str | None]:
    if version is None:
        return None, "no alias points at a version"
    try:
        return versions.load(tracker, Registered(name, version), kind=kind), None
    except (BadInput, OSError, MlflowException) as error:
        return None, " ".join(str(error).split())


def _validations(tracker: Tracker, name: str) -> list[tuple[str, Sealed]]:
    """Return what the last versions of a name say of their validations: anybody's run may name one.

    The administrator alone writes there.
    """
    known = sorted(
        pages.versions(tracker.client, f"name = '{name}'"), key=lambda version: int(version.version)
    )
    return [
        (str(version.version), each)
        for version in known[-MOST:]
        for each in record.sealed(version.tags)
        if RUN.fullmatch(each.run)
    ][-MOST:]


def _last_validation(tracker: Tracker, name: str) -> LastValidation | None:
    """Return the last one that is finished; its run says when it began, and nothing else."""
    named = {each.run: (candidate, each) for candidate, each in _validations(tracker, name)}
    experiment = tracker.client.get_experiment_by_name(record.EXPERIMENT)
    if experiment is None or not named:
        return None
    those = ", ".join(f"'{run}'" for run in named)
    found = tracker.client.search_runs(
        [experiment.experiment_id],
        f"attributes.run_id IN ({those}) and attributes.status = 'FINISHED'",
        order_by=["attributes.start_time DESC"],
        max_results=1,
    )
    if not found:
        return None
    candidate, sealed = named[found[0].info.run_id]
    return LastValidation(
        run=sealed.run,
        experiment=experiment.experiment_id,
        gate=sealed.gate,
        when=found[0].info.start_time / 1000.0,
        versions={CANDIDATE: candidate, CHAMPION: sealed.champion},
    )


def _sessions(tracker: Tracker, version: ModelVersion) -> tuple[str, ...]:
    """Return the sessions that the run names; packages that are trained have none."""
    try:
        named = record.load_json(tracker, str(version.run_id), "result.json")["sessions"]
        listed = named[: limits.TAKES] if isinstance(named, list) else ()
        return tuple(" ".join(str(name)[:LONGEST_NAME].split()) for name in listed)
    except (MlflowException, OSError, KeyError, ValueError, TypeError):
        return ()


def _used(tracker: Tracker, found: Entry) -> tuple[str, ...]:
    """Say what resolves the name: validations and promotions are recorded, controllers are not."""
    done = promotion_log.last_done(promotion.entries(tracker, found.name))
    lines = [] if done is None else [f"alias champion: {done.line}"]
    played: Counter[str] = Counter()
    for candidate, sealed in _validations(tracker, found.name):
        played[CANDIDATE] += candidate == found.version
        played[CHAMPION] += sealed.champion == found.version
    lines += [f"validations as {role}: {count}" for role, count in played.items() if count]
    reads = "" if CHAMPION in found.aliases else ", which there is not"
    return (*lines, f"controllers read the alias champion{reads}; which do is not recorded")
