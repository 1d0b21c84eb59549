"""A version on trial: its package, its recordings, its last validation, and what the gate says.

A shooting policy has no recordings: it is measured on states drawn anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mlflow.exceptions import MlflowException

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import Progress, silent
from ricochet.tasks.registry import promotion, versions
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies import packages
from ricochet.tasks.systems.air_hockey.settings import Energies
from ricochet.tasks.systems.air_hockey.validation import audit as shooting_audit
from ricochet.tasks.systems.air_hockey.validation import gate as shooting_gate
from ricochet.tasks.systems.air_hockey.validation import report as shooting_validation
from ricochet.tasks.systems.bouncing_ball.calibration.run import DATA
from ricochet.tasks.systems.bouncing_ball.validation import audit as auditing
from ricochet.tasks.systems.bouncing_ball.validation import gate
from ricochet.tasks.validation import report as validation
from ricochet.tasks.validation.checks import Verdict


@dataclass(frozen=True)
class Judged:
    """What the gate says of a version, and the run of the validation it looked at."""

    verdict: Verdict
    validation: str


def judge(
    tracker: Tracker,
    registered: Registered,
    sessions: Sequence[Path] = (),
    *,
    settings: Settings,
    seed: int = 0,
    progress: Progress = silent,
) -> Judged:
    """Measure a version again and look up how it fared beside the present champion.

    Args:
        tracker: The store.
        registered: The version.
        sessions: Folders of its recordings; none takes those under `data/` that its run names.
        settings: How well the rig is known, and the size of the checks.
        seed: Seed of all randomness.
        progress: Told of each take and simulated session, or of each shot rolled out.

    Returns:
        The verdict.

    Raises:
        BadInput: If the version is not there or not whole, or its recordings are not at hand.
    """
    where = f"{registered.name} version {registered.version}"
    if not versions.exists(tracker, registered):
        raise BadInput(where, "nothing in the registry", "a version")
    kind = catalogue.kind_of(registered.name)
    package = versions.load(tracker, registered, kind=kind)
    champion = promotion.present(tracker, registered.name).champion
    if kind is POLICY:
        policy = packages.from_package(package, where=where)
        measured = shooting_audit.audit(policy, settings[Energies], seed=seed, progress=progress)
        shot = shooting_validation.find(tracker, registered.name, registered.version, champion)
        run, shots = shot or ("", None)
        return Judged(shooting_gate.judge(measured, shots), run)
    found = validation.find_validation(tracker, registered.name, registered.version, champion)
    evidence = auditing.audit(
        package,
        list(sessions) or recordings_of(tracker, registered),
        settings=settings,
        seed=seed,
        progress=progress,
    )
    run, twin = found or ("", None)
    return Judged(gate.judge(evidence, twin), run)


def recordings_of(tracker: Tracker, registered: Registered) -> list[Path]:
    """Find the recordings that a version was learnt from.

    Args:
        tracker: The store.
        registered: The version.

    Returns:
        The sessions under `data/` that the version's run names.

    Raises:
        BadInput: If one of them is not at hand.
    """
    where = f"{registered.name} version {registered.version}"
    run_id = tracker.client.get_model_version(registered.name, registered.version).run_id
    try:
        named = validation.load_json(tracker, str(run_id), "result.json")["sessions"]
    except (MlflowException, OSError, KeyError) as error:
        found = "a run that names no sessions"
        raise BadInput(where, found, "the folders of its recordings after VERSION") from error
    folders = [DATA / Path(str(name)).name for name in named]
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(str(folder), "nothing", f"a recording of {where}; `make pull`")
    return folders
