"""A validation that records nothing and moves nothing: the same steps, without any server.

It reads the candidate, the champion and, of a posterior, the recordings; what it finds is in
`result.json`.
"""

from pathlib import Path
from typing import Any

from ricochet.flows import on_trial, validate, validate_shooting
from ricochet.flows.on_trial import Trial
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.validation import gate as shooting_gate
from ricochet.tasks.systems.bouncing_ball.tracking import laboratory
from ricochet.tasks.systems.bouncing_ball.validation import gate
from ricochet.tasks.systems.bouncing_ball.validation.results import CANDIDATE


def rehearse(name: str, *, wanted: Settings, out: Path, seed: int) -> dict[str, Any]:
    """Try the candidate in simulation and judge it.

    Args:
        name: `<ball>-<surface>` or `shooting-<setting>`.
        wanted: The settings.
        out: Folder of the results.
        seed: Seed of all randomness.

    Returns:
        What `result.json` holds; its `run` is None.

    Raises:
        BadInput: If something is missing or not as it should be.
    """
    shoots = POLICY.matches(name)
    if not shoots:
        laboratory.ball_of(name)
    tracker, folder = runs.connect(), output_folder(out)
    trial = on_trial.load.fn(tracker, name)
    if trial is None:
        result = on_trial.unchanged(tracker, name)
    elif shoots:
        result = _shots(trial, wanted, seed) | {"promoted": False}
    else:
        result = _tosses(tracker, trial, wanted, folder, seed) | {"promoted": False}
    write_json(folder / "result.json", result)
    return result


def _tosses(
    tracker: Tracker, trial: Trial, wanted: Settings, folder: Path, seed: int
) -> dict[str, Any]:
    evidence = validate.audit.fn(tracker, trial, wanted, seed)
    left = output_folder(folder / "-".join((trial.name, *trial.versions.values())))
    twin, met = validate.try_on_rig.fn(trial, wanted, seed, left)
    return validate.result_of(trial, twin, met, gate.judge(evidence, twin), None)


def _shots(trial: Trial, wanted: Settings, seed: int) -> dict[str, Any]:
    shooters = validate_shooting.shooters_of(trial)
    evidence = validate_shooting.audit.fn(shooters[CANDIDATE], wanted, seed)
    shots = validate_shooting.shoot.fn(trial, shooters, wanted, seed)
    return validate_shooting.result_of(shots, evidence, shooting_gate.judge(evidence, shots), None)
