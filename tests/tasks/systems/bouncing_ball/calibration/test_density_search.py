"""A search for a density: trials are nested runs, and what was trained is what is written down."""

import json

import pytest

from ricochet.tasks.registry import runs
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import (
    density,
    density_publish,
    density_search,
    density_training,
)
from ricochet.tasks.systems.bouncing_ball.settings import Density
from ricochet.tasks.training import search
from ricochet.tasks.training.steps import TrainingRequest

TRIALS = 2
SMALL = {"simulations": 300, "hidden": 16, "components": 2, "epochs": 1, "batch": 128}


@pytest.fixture
def request_of_a_search(tmp_path):
    settings = catalogue.load_settings().changed(Density, **SMALL, trials=TRIALS)
    return TrainingRequest(settings, tmp_path, seed=0)


def test_a_finished_search_is_not_repeated(request_of_a_search, tmp_path, monkeypatch):
    settings = request_of_a_search.settings[Density]
    first = density_search.search(settings, tmp_path, seed=0)
    assert len(search.completed(density_search.study_name(settings, 0), tmp_path)) == TRIALS
    monkeypatch.setattr(density, "train", None)
    assert density_search.search(settings, tmp_path, seed=0) == first


@pytest.mark.slow
def test_trials_are_runs_below_that_of_the_density_which_states_the_best(
    request_of_a_search, tmp_path
):
    package = density_training.find_or_train(request_of_a_search)
    best = density_search.search(request_of_a_search.settings[Density], tmp_path, seed=0)
    chosen = {name: getattr(best, name) for name in density.SEARCHED}
    manifest = json.loads((package / "posterior.json").read_text())
    assert manifest["settings"]["chosen"] == chosen
    tracker = runs.connect(store=tmp_path / "store")
    _, run = density_publish.publish_density(tracker, tmp_path)
    found = tracker.client.get_run(run.run_id).data.params
    assert {name: float(found[name]) for name in chosen} == chosen
    rows = tracker.client.search_runs([run.experiment_id])
    parents = [row.data.tags.get("mlflow.parentRunId") for row in rows]
    assert parents.count(run.run_id) == TRIALS
