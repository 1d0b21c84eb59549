"""The flow that lets a shooting policy become `champion`: measured again, made to shoot, judged.

    load -> regret on fresh states -> shots, candidate and champion from the same starts -> gate
         -> aliases

It is that of a posterior (`flows.validate`) with other evidence: everything is recorded whether it
passes or not, and only a candidate that passes every check moves an alias.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from ricochet.flows.calibrate import link
from ricochet.flows.on_trial import SCHEMA, Trial, load, move, unchanged
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import bar
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey import disturbance as hockey
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies import agents, packages
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.validation import audit as shooting_audit
from ricochet.tasks.systems.air_hockey.validation import gate, report, trials
from ricochet.tasks.systems.air_hockey.validation.gate import Evidence
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult
from ricochet.tasks.systems.bouncing_ball.validation.results import CANDIDATE, CHAMPION
from ricochet.tasks.validation.checks import Verdict


@flow(
    name="validate-shooting",
    flow_run_name="validate {name}",
    retries=0,
    persist_result=False,
    result_serializer="json",
)
def validate_shooting(
    name: str,
    out: str = "artifacts/validate",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Validate the candidate of a setting and, if it passes, make it the champion.

    Args:
        name: `shooting-<setting>`.
        out: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Returns:
        What `result.json` holds.

    Raises:
        BadInput: If something is missing or not as it should be.
    """
    wanted = catalogue.load_settings(params, overrides)
    if not POLICY.matches(name):
        raise BadInput(name, "no name of a shooting policy", POLICY.pattern)
    tracker, folder = runs.connect(), output_folder(Path(out))
    trial = load(tracker, name)
    if trial is None:
        result = unchanged(tracker, name)
    else:
        shooters = shooters_of(trial)
        evidence = audit(shooters[CANDIDATE], wanted, seed)
        shots = shoot(trial, shooters, wanted, seed)
        verdict = gate.judge(evidence, shots)
        run = record(tracker, shots, evidence, verdict)
        moved = verdict.passed and move(tracker, trial, verdict, run)
        result = result_of(shots, evidence, verdict, run) | {"promoted": bool(moved)}
    write_json(folder / "result.json", result)
    return result


@task(name="measure the regret", cache_policy=NO_CACHE, retries=0)
def audit(shooter: Shooter, wanted: Settings, seed: int) -> Evidence:
    """Hold the candidate's search against the exhaustive one on fresh states.

    Args:
        shooter: The candidate.
        wanted: The settings.
        seed: Seed of all randomness.

    Returns:
        What was measured.
    """
    torch.set_num_threads(1)
    with bar(f"{shooter.name} regret") as progress:
        return shooting_audit.audit(shooter, wanted[Energies], seed=seed, progress=progress)


@task(name="shoot", cache_policy=NO_CACHE, retries=0)
def shoot(
    trial: Trial, shooters: Mapping[str, Shooter], wanted: Settings, seed: int
) -> ShootingResult:
    """Let candidate and champion shoot from the same starts.

    Args:
        trial: Who is on trial.
        shooters: The policies by role.
        wanted: The settings.
        seed: Seed of the starts.

    Returns:
        The shots.
    """
    torch.set_num_threads(1)
    shots, disturbance = {}, hockey.disturbance(wanted[Hockey])
    for role, shooter in shooters.items():
        with bar(f"{trial.name} {role}") as progress:
            played = trials.play_all(
                partial(agents.make, shooter, noise=wanted[Hockey].position_noise),
                trials.starts(wanted[Hockey].shots, seed=seed),
                disturbance,
                progress=progress,
            )
            shots[role] = tuple(each.shot for each in played)
    return ShootingResult(
        name=trial.name,
        candidate=trial.versions[CANDIDATE],
        champion=trial.versions.get(CHAMPION),
        seed=seed,
        disturbance=asdict(disturbance),
        shots=shots,
    )


@task(name="record the shots", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def record(
    tracker: Tracker, shots: ShootingResult, evidence: Evidence, verdict: Verdict
) -> OpenRun:
    """Record the validation in MLflow, passed or not, and link the two runs.

    Args:
        tracker: The store.
        shots: The shots.
        evidence: What was measured again.
        verdict: What the gate says.

    Returns:
        The run.
    """
    run = report.publish(
        tracker, shots, evidence=evidence, verdict=verdict, flow_run=str(flow_run.id or "")
    )
    link(run, f"{shots.name}: validation in MLflow", key="mlflow-validation")
    return run


def shooters_of(trial: Trial) -> dict[str, Shooter]:
    """Return the policies by role.

    Args:
        trial: Who is on trial.

    Raises:
        BadInput: If a package is of another kind or another table.
    """
    return {
        role: packages.from_package(package, where=f"{trial.name} version {trial.versions[role]}")
        for role, package in trial.packages.items()
    }


def result_of(
    shots: ShootingResult, evidence: Evidence, verdict: Verdict, run: OpenRun | None
) -> dict[str, Any]:
    """Return the result of a validation.

    Args:
        shots: The shots.
        evidence: What was measured again.
        verdict: What the gate says.
        run: Where it is recorded; None where it is not.
    """
    versions = {CANDIDATE: shots.candidate, CHAMPION: shots.champion}
    return {
        "schema": SCHEMA,
        "name": shots.name,
        "unchanged": False,
        "versions": {role: version for role, version in versions.items() if version is not None},
        "run": None if run is None else run.run_id,
        "gate": verdict.to_json(),
        "regret": asdict(evidence),
        "shots": report.summary(shots),
    }
