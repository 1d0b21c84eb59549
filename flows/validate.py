"""The flow that lets a posterior become `champion`: measured again, tried on the rig, judged.

    load the candidate -> audit -> tosses and cups, candidate and champion alike -> gate -> aliases

Everything is recorded whether it passes or not. Only a candidate that passes every check moves an
alias; one that is the champion already is left as it is. On a real rig a person is asked before
anything moves, and what ends the trials before their time is the reason in a run that failed.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from ricochet.flows.calibrate import link
from ricochet.flows.on_trial import SCHEMA, Trial, load, move, unchanged
from ricochet.flows.real_rig import kept, open_place
from ricochet.tasks.console.progress import bar
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.runs import OpenRun, Tracker
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.settings import Real, Validate
from ricochet.tasks.systems.bouncing_ball.tracking import controllers, laboratory
from ricochet.tasks.systems.bouncing_ball.validation import audit as auditing
from ricochet.tasks.systems.bouncing_ball.validation import (
    gate,
    real_trials,
    results,
    simulated_trials,
)
from ricochet.tasks.systems.bouncing_ball.validation.gate import Evidence
from ricochet.tasks.systems.bouncing_ball.validation.real_trials import Bench, Place
from ricochet.tasks.systems.bouncing_ball.validation.results import (
    CANDIDATE,
    CHAMPION,
    REAL,
    SIMULATED,
    STAY,
    Paired,
    TwinResult,
)
from ricochet.tasks.systems.bouncing_ball.validation.simulated_trials import Met
from ricochet.tasks.validation import judge, report
from ricochet.tasks.validation.checks import Verdict


@flow(
    name="validate",
    flow_run_name="validate {name}",
    retries=0,
    persist_result=False,
    result_serializer="json",
)
def validate(
    name: str,
    out: str = "artifacts/validate",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
    rig: str = SIMULATED,
    arm: bool = False,
) -> dict[str, Any]:
    """Validate the candidate of a ball-surface pair and, if it passes, make it the champion.

    Args:
        name: `<ball>-<surface>`.
        out: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
        rig: `simulated` or `real`.
        arm: Whether a real robot may move, once a person at the terminal has confirmed it.

    Returns:
        What `result.json` holds.

    Raises:
        BadInput: If something is missing or not as it should be.
        EndedError: If the trials on a real rig ended before their time.
    """
    wanted = catalogue.load_settings(params, overrides)
    laboratory.ball_of(name)
    place = open_place(rig, wanted, arm=arm)
    tracker, folder = runs.connect(), output_folder(Path(out))
    trial = load(tracker, name)
    if trial is None:
        result = unchanged(tracker, name)
    else:
        evidence = audit(tracker, trial, wanted, seed)
        left = output_folder(folder / "-".join((name, *trial.versions.values())))
        with kept(tracker, name, trial.versions, place, out=folder, left=left):
            real_trials.refuse_motion(evidence, place)
            twin, met = try_on_rig(trial, wanted, seed, left, place)
        verdict = gate.judge(evidence, twin)
        run = record(tracker, trial, twin, met, verdict, left)
        moved = verdict.passed and move(tracker, trial, verdict, run)
        result = result_of(trial, twin, met, verdict, run) | {"promoted": bool(moved)}
    write_json(folder / "result.json", result)
    return result


@task(name="measure again", cache_policy=NO_CACHE, retries=0)
def audit(tracker: Tracker, trial: Trial, wanted: Settings, seed: int) -> Evidence:
    """Measure the candidate again from its recordings.

    Args:
        tracker: The store.
        trial: Who is on trial.
        wanted: The settings.
        seed: Seed of all randomness.

    Returns:
        What was measured.
    """
    registered = Registered(trial.name, trial.versions[CANDIDATE])
    sessions = judge.recordings_of(tracker, registered)
    with bar(f"{trial.name} audit") as progress:
        return auditing.audit(
            trial.packages[CANDIDATE], sessions, settings=wanted, seed=seed, progress=progress
        )


@task(name="try on the rig", cache_policy=NO_CACHE, retries=0)
def try_on_rig(
    trial: Trial, wanted: Settings, seed: int, folder: Path, place: Place | None = None
) -> tuple[TwinResult, Met]:
    """Meet tosses and predict cups, with candidate and champion alike.

    Args:
        trial: Who is on trial.
        wanted: The settings.
        seed: Seed of all randomness.
        folder: Where telemetry and pictures go.
        place: The real rig and the person at it; None is the simulated one, on the same seeds.

    Returns:
        The trials, and how the tosses were met.

    Raises:
        EndedError: If the trials on a real rig ended before their time.
    """
    torch.set_num_threads(1)
    ball, rules = laboratory.ball_of(trial.name), wanted[Validate]
    theta = {role: _samples(package) for role, package in trial.packages.items()}
    learning = torch.Generator().manual_seed(seed)
    known = {role: controllers.fit_ball_model(rows, draw=learning) for role, rows in theta.items()}
    if place is not None:
        bench = Bench(ball, known, wanted, place)
        met = real_trials.meet_tosses(bench, seed=seed, folder=folder)
        return _tried(trial, REAL, real_trials.block_seeds(seed, wanted[Real].tosses), met), met
    seeds = real_trials.block_seeds(seed, rules.tosses)
    if CHAMPION not in known:
        known[STAY] = known[CANDIDATE]
    with bar(f"{trial.name} rig") as progress:
        met = simulated_trials.meet_tosses(
            ball, known, settings=wanted, seeds=seeds, folder=folder, progress=progress
        )
    places = simulated_trials.cup_positions(rules.positions)
    inside = simulated_trials.predict_cups(ball, theta, places, seed=seed)
    return replace(
        _tried(trial, SIMULATED, seeds, met),
        positions=tuple((float(x), float(y)) for x, y in places),
        inside_90=Paired(inside[CANDIDATE], inside.get(CHAMPION)),
    ), met


@task(name="record", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def record(
    tracker: Tracker, trial: Trial, twin: TwinResult, met: Met, verdict: Verdict, folder: Path
) -> OpenRun:
    """Record the validation in MLflow, passed or not, and link the two runs.

    Args:
        tracker: The store.
        trial: Who was on trial.
        twin: The trials.
        met: How the tosses were met.
        verdict: What the gate says.
        folder: What the rig left.

    Returns:
        The run.
    """
    numbers = {
        role: {
            "energy": met.energy[role],
            "latency_p99": met.latency[role],
            "refused": float(len(met.refused[role])),
        }
        for role in trial.versions
    }
    refused = {role: list(lines) for role, lines in met.refused.items()}
    write_json(folder / "refused.json", refused)
    run = report.publish_validation(
        tracker,
        twin,
        packages=trial.packages,
        verdict=verdict,
        numbers=numbers,
        files=folder,
        flow_run=str(flow_run.id or ""),
    )
    link(run, f"{trial.name}: validation in MLflow", key="mlflow-validation")
    return run


def _tried(trial: Trial, rig: str, seeds: tuple[int, ...], met: Met) -> TwinResult:
    """Return how the tosses were met; no cup was tried."""
    champion = trial.versions.get(CHAMPION)
    return TwinResult(
        name=trial.name,
        candidate=trial.versions[CANDIDATE],
        champion=champion,
        rig=rig,
        seeds=seeds,
        success=Paired(met.success[CANDIDATE], met.success.get(CHAMPION)),
        positions=(),
        inside_90=Paired((), None if champion is None else ()),
        stay=met.success.get(STAY),
    )


def _samples(package: Package) -> np.ndarray:
    return np.asarray(package.arrays["samples"], dtype=np.float64)


def result_of(
    trial: Trial, twin: TwinResult, met: Met, verdict: Verdict, run: OpenRun | None
) -> dict[str, Any]:
    """Return the result of a trial.

    Args:
        trial: Who was on trial.
        twin: The trials.
        met: How the tosses were met.
        verdict: What the gate says.
        run: Where it is recorded; None where it is not.
    """
    return {
        "schema": SCHEMA,
        "name": trial.name,
        "rig": twin.rig,
        "unchanged": False,
        "versions": trial.versions,
        "run": None if run is None else run.run_id,
        "gate": verdict.to_json(),
        "success": twin.success.shares(),
        "inside_90": twin.inside_90.shares(),
        "energy": dict(met.energy),
        "latency_p99": dict(met.latency),
        "refused": {role: list(lines) for role, lines in met.refused.items()},
        "trials": results.to_json(twin),
    }
