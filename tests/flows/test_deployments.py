"""The deployments of prefect.yaml: each loads, takes its parameters, and runs where nothing is yet.

The flows of `nightly`, `capture` and `calibrate` run in test_nightly_twice, by the verb; that of
`train-energy`, minutes long, is run by hand.
"""

import json
import os
import subprocess
import sys

import pytest
import yaml

from tests.checkouts import ROOT, copy_program, python_path
from tests.stores import copied

FOUND = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]
ASKED = {"capture": {"session"}}
"""What a person is asked for when starting a run by hand."""
QUICK = {
    "simulate": ["simulate.drops=20"],
    "train-density": ["density.simulations=1500", "density.epochs=3", "density.hidden=16"],
}
PROGRAM = """
import json, sys
from prefect.flows import load_flow_from_entrypoint
entrypoint, parameters = sys.argv[1], json.loads(sys.argv[2])
result = load_flow_from_entrypoint(entrypoint)(**parameters)
print(json.dumps(result["schema"]))
"""


@pytest.mark.parametrize("deployment", FOUND, ids=lambda each: each["name"])
def test_a_deployment_gives_its_flow_all_that_nobody_is_asked_for(deployment) -> None:
    from prefect.flows import load_flow_from_entrypoint

    flow = load_flow_from_entrypoint(deployment["entrypoint"])
    given = set(deployment.get("parameters", {}))
    assert given <= set(flow.parameters.properties)
    assert set(flow.parameters.required) - given == ASKED.get(deployment["name"], set())


def test_names_differ_and_all_run_in_the_pool_that_up_starts() -> None:
    names = [each["name"] for each in FOUND]
    assert len(set(names)) == len(names)
    assert {each["work_pool"]["name"] for each in FOUND} == {"ricochet"}


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_deployment_runs_where_there_are_no_results_yet(
    name, tmp_path, migrated_store, prefect_api
) -> None:
    root = tmp_path / "checkout"
    copy_program(root)
    copied(migrated_store, root / "artifacts" / "mlflow")
    (deployment,) = (each for each in FOUND if each["name"] == name)
    parameters = deployment.get("parameters", {}) | {"overrides": QUICK[name]}
    kept = {"RICOCHET_ARTIFACTS": str(root / "artifacts"), "PYTHONPATH": python_path(root)}
    kept |= {"PREFECT_API_URL": prefect_api, "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, deployment["entrypoint"], json.dumps(parameters)],
        cwd=root,
        env={**os.environ, **kept},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout.splitlines()[-1]).startswith("ricochet.")
    assert [path.name for path in (root / "artifacts").rglob("result.json")] == ["result.json"]
