"""A night run twice, through the command line: nothing is recorded or registered again.

The deployments of capture and calibrate run in the same checkout.
"""

import json
import os
import subprocess
import sys

import pytest
import yaml

from ricochet.tasks.recordings import dvc_commands
from ricochet.tasks.registry import runs
from tests.checkouts import DEPLOYED, ROOT, copy_program, python_path
from tests.stores import copied

SETTINGS = [
    "capture.remote=published",
    "nightly.drops=3",
    "density.simulations=1500",
    "density.epochs=3",
    "density.hidden=16",
    "calibrate.check_sessions=1",
    "calibrate.fewest_takes=2",
    "nightly.validate=false",
    "nightly.shooting=false",
]
REMOTE = """[core]
    analytics = false
    remote = published
['remote "published"']
    url = ../artifacts/published
"""


def run(root, *command, folder=None):
    """Run a command as a user would in a checkout, everything it keeps under its folder.

    It is called from the checkout, or from another folder.
    """
    kept = {"RICOCHET_ARTIFACTS": str(root / "artifacts"), "PYTHONPATH": python_path(root)}
    kept |= {"PREFECT_HOME": str(root / "artifacts" / "prefect")} | dvc_commands.QUIET
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_H", "MLFLOW_"))}
    found = subprocess.run(
        [*map(str, command)],
        cwd=folder or root,
        capture_output=True,
        text=True,
        env=inherited | kept,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def commit(root, *paths):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run(root, "git", "add", *paths)
    run(root, "git", *who, "commit", "-q", "-m", "Data")


@pytest.fixture
def checkout(tmp_path, migrated_store, prefect_api, monkeypatch):
    """The program under Git and DVC, with one session to which the night's is added."""
    root = tmp_path / "checkout"
    copy_program(root)
    copied(migrated_store, root / "artifacts" / "mlflow")
    monkeypatch.setenv("PREFECT_API_URL", prefect_api)
    (root / ".gitignore").write_text("/artifacts/\n/data\n__pycache__/\n")
    run(root, "git", "init", "-q")
    (root / ".dvc").mkdir()
    (root / ".dvc" / "config").write_text(REMOTE)
    words = ["--no-publish", "--out", "data", "--set", "capture.drops=2"]
    run(root, sys.executable, "-m", "ricochet.flows.cli", "capture", "--session", "sample", *words)
    (root / "data" / "result.json").unlink()  # of the verb, beside the session
    run(root, sys.executable, "-m", "dvc", "add", "-q", "data")
    commit(root, ".")
    return root


def census(root):
    """Count runs and versions; name sessions."""
    client = runs.connect(store=root / "artifacts" / "mlflow").client
    places = [found.experiment_id for found in client.search_experiments()]
    names = [model.name for model in client.search_registered_models()]
    versions = {name: len(client.search_model_versions(f"name = '{name}'")) for name in names}
    return len(client.search_runs(places)), versions, _files(root / "data")


@pytest.mark.proof
def test_a_second_run_of_a_night_adds_no_run_no_version_and_no_session(checkout):
    words = [word for setting in SETTINGS for word in ("--set", setting)]
    night = [sys.executable, "-m", "ricochet.flows.cli", "nightly", "--session", "tonight", *words]
    first = run(checkout, *night)
    assert "nightly: tonight recorded, 1 pairs" in first
    assert "data.dvc has changed, to be committed by hand" in first
    before = census(checkout)
    assert before[1].items() >= {"ball-density": 1, "ping-pong-table": 1}.items()
    assert {path.parts[0] for path in before[2]} == {"sample", "tonight"}
    commit(checkout, "data.dvc")
    outside = checkout.parent / "outside"
    outside.mkdir()
    second = run(checkout, *night, "--out", checkout / "artifacts" / "nightly", folder=outside)
    assert list(outside.iterdir()) == []
    assert "nightly: tonight unchanged, 1 pairs" in second
    assert "published as" in second and "has changed" not in second
    result = json.loads((checkout / "artifacts" / "nightly" / "result.json").read_text())
    assert result["pairs"] == {"ping-pong-table": True}
    assert census(checkout) == before


@pytest.mark.proof
def test_what_a_person_deploys_by_hand_records_publishes_and_registers(checkout):
    settings = [each for each in SETTINGS if not each.startswith("nightly")]
    given = {
        "capture": {"session": "by-hand", "overrides": [*settings, "capture.drops=3"]},
        "calibrate": {"sessions": ["data/by-hand"], "overrides": settings},
    }
    deployments = yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]
    said = {}
    for name, own in given.items():
        (found,) = (each for each in deployments if each["name"] == name)
        words = json.dumps(found.get("parameters", {}) | own)
        shown = run(checkout, sys.executable, "-c", DEPLOYED, found["entrypoint"], words)
        said[name] = json.loads(shown.splitlines()[-1])
    assert said["capture"]["schema"] == "ricochet.capture/1"
    assert list(said["calibrate"]) == ["ping-pong-table"]
    assert {path.parts[0] for path in _files(checkout / "data")} == {"sample", "by-hand"}
    _, versions, _ = census(checkout)
    assert versions == {"ball-density": 1, "ping-pong-table": 1}


def _files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
