"""The deployments of prefect.yaml: each loads, takes its parameters, and runs where nothing is yet.

Those of `nightly`, by its verb, and of `capture` and `calibrate` run in test_nightly_twice, where
there are recordings.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ricochet.flows.servers import work_pools
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import training_data
from ricochet.tasks.training.steps import TrainingRequest
from tests.checkouts import DEPLOYED, ROOT, copy_program, python_path
from tests.stores import copied
from tests.tasks.systems.air_hockey import shooters

FOUND = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]
ASKED = {
    "capture": {"session"},
    "infer-pendulum": {"files", "register_as"},
    "infer-model": {"files", "register_as"},
}
"""What a person is asked for when starting a run by hand."""
QUICK = {
    "simulate": ["simulate.drops=20"],
    "train-energy": [
        "energy.states=60",
        "energy.candidates=20",
        "energy.epochs=2",
        "energy.held_out=20",
        "energy.hidden=8",
        "hockey.episodes=20",
    ],
    "train-density": ["density.simulations=1500", "density.epochs=3", "density.hidden=16"],
}
LONG = {"train-energy": pytest.mark.proof}


@pytest.mark.parametrize("deployment", FOUND, ids=lambda each: each["name"])
def test_a_deployment_gives_its_flow_all_that_nobody_is_asked_for(deployment) -> None:
    from prefect.flows import load_flow_from_entrypoint

    flow = load_flow_from_entrypoint(deployment["entrypoint"])
    given = set(deployment.get("parameters", {}))
    assert given <= set(flow.parameters.properties)
    assert set(flow.parameters.required) - given == ASKED.get(deployment["name"], set())


def test_names_differ_and_only_what_records_runs_in_the_pool_of_the_rig() -> None:
    names = [each["name"] for each in FOUND]
    assert len(set(names)) == len(names)
    pools = {each["name"]: each["work_pool"]["name"] for each in FOUND}
    assert set(pools.values()) == set(work_pools.POOLS)
    assert {name for name, pool in pools.items() if pool == work_pools.RIG} == {
        "capture",
        "nightly",
    }


def test_a_deployment_runs_once_at_a_time_and_only_what_records_does_not_wait() -> None:
    """Fifty runs of one that a person asks for would begin at once."""
    limits = {each["name"]: each["concurrency_limit"] for each in FOUND}
    assert {limit["limit"] for limit in limits.values()} == {1}
    cancelled = {n for n, limit in limits.items() if limit["collision_strategy"] == "CANCEL_NEW"}
    assert cancelled == {"capture", "nightly"}


def place_strokes(root: Path) -> None:
    """Put there what the arm can do, which takes a minute and has tests of its own."""
    place = root / "artifacts" / "train" / "energy"
    request = TrainingRequest(catalogue.load_settings(), place, seed=0)
    key, made = training_data.strokes_key(request), shooters.strokes().to_arrays()
    training_data._cached(request, "strokes", key, lambda: made)


@pytest.mark.proof
@pytest.mark.parametrize("name", [pytest.param(each, marks=LONG.get(each, ())) for each in QUICK])
def test_a_deployment_runs_where_there_are_no_results_yet(
    name, tmp_path, migrated_store, prefect_api
) -> None:
    root = tmp_path / "checkout"
    copy_program(root)
    copied(migrated_store, root / "artifacts" / "mlflow")
    place_strokes(root)
    (deployment,) = (each for each in FOUND if each["name"] == name)
    parameters = deployment.get("parameters", {}) | {"overrides": QUICK[name]}
    kept = {"RICOCHET_ARTIFACTS": str(root / "artifacts"), "PYTHONPATH": python_path(root)}
    kept |= {"PREFECT_API_URL": prefect_api, "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [sys.executable, "-c", DEPLOYED, deployment["entrypoint"], json.dumps(parameters)],
        cwd=root,
        env={**os.environ, **kept},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[-1])["schema"].startswith("ricochet.")
    assert [path.name for path in (root / "artifacts").rglob("result.json")] == ["result.json"]
