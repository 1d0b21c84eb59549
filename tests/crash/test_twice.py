"""Running anything twice changes nothing; killed and run again, it ends as if nothing had been.

The night and `calibrate` with their servers are run twice in tests/flows, promotion and rollback in
tests/crash/test_registry_killed.py.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ricochet.tasks.registry import runs as tracking
from tests.checkouts import copy_program, python_path
from tests.stores import copied

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["density.simulations=1500", "density.epochs=3", "density.hidden=16"]
SMALL += ["calibrate.check_sessions=1", "calibrate.fewest_takes=2"]
TRIED = ["validate.tosses=3", "validate.positions=4", "gate.sessions=2", "gate.draws=50"]
CAPTURE = ["capture", "--session", "s", "--set", "capture.drops=3", "--set", "capture.duration=1.3"]
SIMULATE = ["simulate", "--set", "simulate.drops=200"]


def start(place, *words, root=ROOT, publish=False):
    kept = {"RICOCHET_ARTIFACTS": str(place / "artifacts"), "PYTHONPATH": python_path(root)}
    kept |= {"PREFECT_HOME": str(place / "artifacts" / "prefect")}
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_H", "MLFLOW_"))}
    command = [sys.executable, "-m", "ricochet.flows.cli", *map(str, words)]
    return subprocess.Popen(
        command + ["--no-publish"] * (not publish and words[0] != "simulate"),  # which never does
        cwd=place,
        env=inherited | kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def run(place, *words, **how):
    process = start(place, *words, **how)
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    return said.decode()


def options(settings):
    return [word for setting in settings for word in ("--set", setting)]


def tree(folder):
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("result.json", "metrics.json")
    }


def content(folder, kind="npz"):
    """Return the files of a kind, into which no times and commits are written."""
    return {name: data for name, (data, _) in tree(folder).items() if name.endswith(kind)}


@pytest.mark.proof
@pytest.mark.parametrize("words", [CAPTURE, SIMULATE], ids=["capture", "simulate"])
def test_a_second_run_writes_the_same(tmp_path, words):
    run(tmp_path, *words, "--out", "out")
    before = {name: data for name, (data, _) in tree(tmp_path / "out").items()}
    result = (tmp_path / "out" / "result.json").read_text()
    run(tmp_path, *words, "--out", "out")
    assert {name: data for name, (data, _) in tree(tmp_path / "out").items()} == before
    again = (tmp_path / "out" / "result.json").read_text()
    assert again == result or (words is CAPTURE and "unchanged" in again)


@pytest.mark.proof
def test_calibrate_twice_touches_no_file_and_killed_and_again_gives_the_same(tmp_path):
    run(tmp_path, *CAPTURE, "--out", "new")
    words = ["calibrate", "new/s", *options(SMALL), "--out"]
    run(tmp_path, *words, "whole")
    before = tree(tmp_path / "whole")
    assert "unchanged, skipped" in run(tmp_path, *words, "whole")
    assert tree(tmp_path / "whole") == before
    for delay in (4.0, 8.0):
        process = start(tmp_path, *words, "cut")
        time.sleep(delay)
        process.kill()
        process.communicate()
        if (tmp_path / "cut" / "result.json").exists():
            break  # it was faster than the kill
    run(tmp_path, *words, "cut")
    assert content(tmp_path / "cut") == content(tmp_path / "whole")
    names = {path.relative_to(tmp_path / "cut") for path in (tmp_path / "cut").rglob("*.*")}
    assert not [name for name in names if name.name.startswith(".")]


def census(place):
    """Return how the runs ended, by experiment and name, and count the versions."""
    client = tracking.connect(store=place / "artifacts" / "mlflow").client
    experiments = {found.experiment_id: found.name for found in client.search_experiments()}
    runs = sorted(
        (experiments[run.info.experiment_id], run.info.run_name, run.info.status)
        for run in client.search_runs(list(experiments))
    )
    names = [model.name for model in client.search_registered_models()]
    return runs, {name: len(client.search_model_versions(f"name = '{name}'")) for name in names}


def cut(place, *words, seconds, **how):
    """Start a verb and kill it with the server that Prefect gave it, unless it was faster."""
    process = start(place, *words, **how)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.proof
def test_a_density_is_registered_once_and_killed_and_again_it_is_the_same(
    tmp_path, migrated_store, prefect_api, monkeypatch
):
    monkeypatch.setenv("PREFECT_API_URL", prefect_api)
    copied(migrated_store, tmp_path / "artifacts" / "mlflow")
    words, out = ["train", "density", *options(SMALL), "--out"], tmp_path / "out"
    cut(tmp_path, *words, out, seconds=8.0, publish=True)
    found = []
    for _ in range(2):
        run(tmp_path, *words, out, publish=True)
        found.append((json.loads((out / "result.json").read_text()), tree(out), census(tmp_path)))
    (first, *before), (second, *after) = found
    assert before == after and second == first | {"trained": False}
    assert before[1] == ([("density", "ball-density", "FINISHED")], {"ball-density": 1})
    run(tmp_path, *words, "apart")
    assert content(tmp_path / "apart", "safetensors") == content(out, "safetensors")


@pytest.fixture
def checkout(tmp_path, migrated_store, prefect_api, monkeypatch):
    """The program with a recording of its own under data/, calibrated and registered."""
    root = tmp_path / "checkout"
    copy_program(root)
    copied(migrated_store, root / "artifacts" / "mlflow")
    monkeypatch.setenv("PREFECT_API_URL", prefect_api)
    run(root, *CAPTURE, "--out", "data", root=root)
    run(root, "calibrate", "data/s", *options(SMALL), root=root, publish=True)
    return root


@pytest.mark.proof
def test_a_validation_is_recorded_once_and_killed_and_again_it_is_the_same(checkout):
    """The trials are too few to pass, so that a second one is not of a champion."""
    words = ["validate", "ping-pong-table", *options(TRIED + SMALL)]
    runs, versions = census(checkout)
    rehearsed = run(checkout, *words, root=checkout)
    assert "refused: number of tosses: found 3" in rehearsed and "not recorded" in rehearsed
    assert census(checkout) == (runs, versions)
    cut(checkout, *words, seconds=14.0, root=checkout, publish=True)
    said = run(checkout, *words, root=checkout, publish=True)
    assert "refused: number of tosses: found 3" in said and "not promoted" in said
    result = json.loads((checkout / "artifacts" / "validate" / "result.json").read_text())
    before = census(checkout)
    run(checkout, *words, root=checkout, publish=True)
    again = json.loads((checkout / "artifacts" / "validate" / "result.json").read_text())
    assert census(checkout) == before and before[1] == versions
    assert len(before[0]) == len(runs) + 2  # the validation and its only role
    assert all(status == "FINISHED" for *_, status in before[0])
    assert measured(again) == measured(result)


def measured(result):
    """Return a validation but for how long it took."""
    return {key: value for key, value in result.items() if key != "latency_p99"}
