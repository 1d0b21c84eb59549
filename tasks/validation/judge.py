"""How packages of one kind are validated, and what the gate says of one version.

A system offers one `Validation` for each kind that can become champion. The flow of `ricochet
validate` and the verb `ricochet promote` know nothing else of a system.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from mlflow.exceptions import MlflowException

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress
from ricochet.tasks.console.operator import OperatorAbortError
from ricochet.tasks.console.progress import bar
from ricochet.tasks.recordings.dvc_publish import DATA
from ricochet.tasks.registry import promotion, versions
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.verdicts import Check, Verdict
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.provenance import workplace
from ricochet.tasks.validation import record
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.outcomes import SIMULATED, ComparedVersions
from ricochet.tasks.validation.recorded_files import FILES, files_at
from ricochet.tasks.validation.report import Report

NO_TRIALS = Check(
    "validation",
    False,
    "none",
    "a finished `ricochet validate` of this version against the present champion",
)

Evidence = TypeVar("Evidence")
Result = TypeVar("Result", bound=ComparedVersions)


@dataclass(frozen=True)
class Candidate:
    """A version that is measured.

    Attributes:
        recordings: Finds the sessions, or the files, that it was learnt from; BadInput where one is
            missing.
    """

    registered: Registered
    package: Package
    recordings: Callable[[], Sequence[Path]]


@dataclass(frozen=True)
class RigRequest:
    """What a rig is opened for.

    Attributes:
        armed: Whether a real robot may move, once an operator has confirmed it.
    """

    name: str
    settings: Settings
    armed: bool


RunTrials = Callable[[Contenders, int, Path], Result]
"""Runs the trials of the contenders from a seed; telemetry and pictures go into a folder."""


@dataclass(frozen=True)
class Validation(Generic[Evidence, Result]):
    """How packages of one kind are validated.

    Attributes:
        refuse: Raises BadInput for a name that no rig can try.
        rigs: Opens a rig, without any motion, by its name; `simulated` is always there. A rig with
            anything missing is refused before any measurement.
        measure: Measures a candidate again; takes the settings, a seed and a progress.
        judge_evidence: The checks of what was measured.
        judge_result: The checks of the trials; the evidence may say what was promised.
        read: Reads the trials of an earlier run from their JSON; takes where they came from too.
        line: Sums up `result.json` in a line.
    """

    kind: PackageKind
    refuse: Callable[[str], None]
    rigs: Mapping[str, Callable[[RigRequest], RunTrials[Result]]]
    measure: Callable[[Candidate, Settings, int, Progress], Evidence]
    judge_evidence: Callable[[Evidence], tuple[Check, ...]]
    judge_result: Callable[[Result, Evidence], tuple[Check, ...]]
    report: Callable[[Contenders, Evidence, Result], Report]
    read: Callable[[Mapping[str, Any], str], Result]
    line: Callable[[Mapping[str, Any]], str]

    def judge(self, evidence: Evidence, result: Result | None) -> Verdict:
        """Judge a candidate by everything; one without trials is refused."""
        trials = (NO_TRIALS,) if result is None else self.judge_result(result, evidence)
        return Verdict((*self.judge_evidence(evidence), *trials))


@dataclass(frozen=True)
class Judgement:
    """What the gate says of a version, and what it is based on.

    Attributes:
        champion: The version that it was compared with; None without one.
        validation: The run of the validation.
    """

    verdict: Verdict
    champion: str | None
    validation: str


def refuse_rig(validation: Validation[Any, Any], rig: str, *, armed: bool) -> None:
    """Refuse with BadInput a rig that there is not, and to arm a simulated robot."""
    if rig not in validation.rigs:
        only = f": {validation.kind.pattern} has no other rig" if len(validation.rigs) == 1 else ""
        raise BadInput("--rig", repr(rig), " or ".join(validation.rigs) + only)
    if armed and rig == SIMULATED:
        other = " or ".join(f"--rig {each}" for each in validation.rigs if each != SIMULATED)
        raise BadInput("--arm", "the simulated rig", other or "no --arm")


def measure(
    tracker: Tracker,
    validation: Validation[Evidence, Any],
    registered: Registered,
    package: Package,
    *,
    settings: Settings,
    seed: int,
    sessions: Sequence[Path] = (),
) -> Evidence:
    """Measure a version again.

    Args:
        sessions: Folders of its recordings; none takes those under `data/` that its run names.

    Raises:
        BadInput: If its recordings are not at hand, or the package is none of this kind.
    """
    candidate = Candidate(
        registered, package, lambda: list(sessions) or recordings_of(tracker, registered)
    )
    with bar(registered.where) as progress:
        return validation.measure(candidate, settings, seed, progress)


def run_trials(
    trials: RunTrials[Result], contenders: Contenders, seed: int, folder: Path
) -> Result:
    """Run the trials on an open rig."""
    return trials(contenders, seed, folder)


def refuse_motion(validation: Validation[Evidence, Any], evidence: Evidence, rig: str) -> None:
    """Abort before any real motion for a candidate that fails a check of what was measured."""
    refusals = Verdict(validation.judge_evidence(evidence)).refusals
    if refusals and rig != SIMULATED:
        raise OperatorAbortError(f"no motion, the gate already refuses: {refusals[0]}")


def judge(
    tracker: Tracker,
    validation: Validation[Any, Any],
    registered: Registered,
    *,
    settings: Settings,
    seed: int = 0,
    sessions: Sequence[Path] = (),
) -> Judgement:
    """Measure a version again and look up its trials against the present champion.

    Raises:
        BadInput: If the version is not there or not whole, or its recordings are not at hand.
    """
    package = versions.load(tracker, registered, kind=validation.kind)
    name, version = registered.name, registered.version
    present = promotion.present(tracker, name).champion
    champion = promotion.comparable(tracker, name, present, validation.kind)
    found = record.find(tracker, name, version, champion, read=validation.read)
    evidence = measure(
        tracker, validation, registered, package, settings=settings, seed=seed, sessions=sessions
    )
    run, result = found or ("", None)
    return Judgement(validation.judge(evidence, result), champion, run)


def recordings_of(tracker: Tracker, registered: Registered) -> list[Path]:
    """Find what the run of a version names: sessions under `data/`, or files wherever they lie.

    BadInput without one.
    """
    run_id = tracker.client.get_model_version(registered.name, registered.version).run_id
    try:
        content = record.load_json(tracker, str(run_id), "result.json")
        if FILES in content:
            return files_at(registered, content[FILES])
        named = [str(name) for name in content["sessions"]]
    except (MlflowException, OSError, KeyError, TypeError) as error:
        found = "a run that names no sessions"
        expected = "the folders of its recordings after VERSION"
        raise BadInput(registered.where, found, expected) from error
    folders = [workplace() / DATA / Path(name).name for name in named]
    for folder in folders:
        if not folder.is_dir():
            expected = (
                f"a recording of {registered.where}: `make pull`, or its folder copied to {DATA}/"
            )
            raise BadInput(str(folder), "nothing", expected)
    return folders
