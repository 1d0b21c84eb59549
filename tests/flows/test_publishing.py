"""Recordings to the registry through the real flow: linked both ways, and again adds nothing."""

import json
import shutil
import sqlite3

import pytest

from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.registry import versions as registry
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests.checkouts import ROOT
from tests.flows.verbs import in_one_process

SMALL = [
    "density.simulations=1500",
    "density.epochs=3",
    "density.hidden=16",
    "calibrate.check_sessions=1",
    "calibrate.fewest_takes=2",
]
BALLS = {"ping-pong": (0.85, 3.5), "tennis": (0.72, 3.0)}


@pytest.fixture
def ricochet(tmp_path):
    """Verbs of one process, which starts a Prefect server of its own for all of its flows."""
    with in_one_process(ROOT, artifacts=tmp_path) as run:
        yield run


def record(ricochet, place, ball):
    restitution, concentration = BALLS[ball]
    settings = [f"capture.ball={ball}", f"capture.restitution={restitution}", "capture.drops=3"]
    settings += ["capture.duration=1.6"]
    settings += [f"capture.log10_concentration={concentration}"]
    words = [word for setting in settings for word in ("--set", setting)]
    ricochet("capture", "--session", ball, "--no-publish", "--out", place / "new", *words)
    return place / "new" / ball


def census(tracker):
    """Count what is in the store."""
    client = tracker.client
    places = [found.experiment_id for found in client.search_experiments()]
    names = sorted(model.name for model in client.search_registered_models())
    versions = {name: len(client.search_model_versions(f"name = '{name}'")) for name in names}
    return len(client.search_runs(places)), versions


@pytest.mark.proof
def test_calibrate_registers_each_pair_once_and_links_runs_both_ways(tmp_path, ricochet):
    """One test, since a process that runs a flow waits for a server."""
    sessions = [record(ricochet, tmp_path, ball) for ball in BALLS]
    words = [word for setting in SMALL for word in ("--set", setting)]
    words = ["calibrate", *sessions, "--out", tmp_path / "out", *words]
    first = ricochet(*words)
    assert all(line.endswith("...") for line in first.stderr.splitlines())
    assert "registered as tennis-table, version 1, alias candidate" in first.stdout
    tracker = tracking.connect(store=tmp_path / "mlflow")
    runs, versions = census(tracker)
    assert versions == {"ball-density": 1, "ping-pong-table": 1, "tennis-table": 1}
    assert runs == 4  # the density, two pairs, and the parent of the pairs
    results = {
        ball: json.loads((tmp_path / "out" / f"{ball}-table" / "result.json").read_text())
        for ball in BALLS
    }
    for ball, (restitution, _) in BALLS.items():
        assert results[ball]["schema"] == "ricochet.calibration/1"
        assert results[ball]["model"] == {"density": "ball-density/1"}
        assert results[ball]["mean"][0] == pytest.approx(restitution, abs=0.01)
        found = registry.resolve(tracker, f"{ball}-table")
        assert vars(found) == results[ball]["registered"]
        assert registry.load(tracker, found, kind=POSTERIOR).kind == "grid"
    check_links(tracker, tmp_path)
    second = ricochet(*words)
    assert second.stdout.count("unchanged, skipped") == 2
    shutil.rmtree(tmp_path / "out")
    third = ricochet(*words)
    assert "unchanged" not in third.stdout
    assert census(tracker) == (runs, versions)
    for ball, result in results.items():
        again = (tmp_path / "out" / f"{ball}-table" / "result.json").read_text()
        assert json.loads(again) == result


def check_links(tracker, place):
    """Each run names its flow run, commit and data; the flow run names each MLflow run."""
    with sqlite3.connect(place / "prefect" / "prefect.db") as database:
        flows = {row[0] for row in database.execute("select id from flow_run")}
        links = "".join(str(row[0]) for row in database.execute("select data from artifact"))
    experiment = tracker.client.get_experiment_by_name("calibrate")
    runs = tracker.client.search_runs([experiment.experiment_id])
    pairs = [run for run in runs if "ricochet.pair" in run.data.tags]
    (parent,) = [run for run in runs if "ricochet.pair" not in run.data.tags]
    assert len(pairs) == 2
    for run in pairs:
        assert run.info.status == "FINISHED"
        assert run.data.tags["prefect.flow_run_id"] in flows
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert run.data.tags["git.commit"]
        (recordings,) = run.inputs.dataset_inputs
        assert recordings.dataset.digest == run.data.tags["data.digest"]
        assert run.info.run_id in links
        pictures = tracker.client.list_artifacts(run.info.run_id, "figures")
        assert len(pictures) >= 5
    names = [set(run.data.metrics) for run in pairs]
    assert names[0] == names[1]
