"""A search for a density: trials are nested runs, and what was trained is what is written down."""

import json
from dataclasses import replace

import pytest

from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import density, density_search, publish
from ricochet.tasks.systems.bouncing_ball.settings import Density

TRIALS = 2


@pytest.fixture
def wanted():
    small = {"simulations": 300, "hidden": 16, "components": 2, "epochs": 1, "batch": 128}
    return replace(catalogue.load_settings()[Density], **small, trials=TRIALS)


def test_a_finished_search_is_not_repeated(wanted, tmp_path, monkeypatch):
    first = density_search.search(wanted, tmp_path, seed=0)
    assert len(first.attempts) == TRIALS
    assert first.attempts[0].settings == replace(wanted, trials=0)
    monkeypatch.setattr(density, "train", None)
    assert density_search.search(wanted, tmp_path, seed=0) == first


@pytest.mark.slow
def test_trials_are_runs_below_that_of_the_density_which_states_the_best(wanted, tmp_path):
    density.run(wanted, tmp_path, seed=0)
    best = density_search.search(wanted, tmp_path, seed=0).best
    chosen = {name: getattr(best, name) for name in density.SEARCHED}
    manifest = json.loads((tmp_path / "package" / "posterior.json").read_text())
    assert manifest["settings"]["chosen"] == chosen
    tracker = tracking.connect(store=tmp_path / "store")
    _, run = publish.publish_density(tracker, tmp_path)
    found = tracker.client.get_run(run.run_id).data.params
    assert {name: float(found[name]) for name in chosen} == chosen
    runs = tracker.client.search_runs([run.experiment_id])
    parents = [row.data.tags.get("mlflow.parentRunId") for row in runs]
    assert parents.count(run.run_id) == TRIALS
