"""A density is trained once; a search tries its settings first, and publishing never trains."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from ricochet.tasks.registry import packages
from ricochet.tasks.registry import runs as tracking
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import (
    density,
    density_packages,
    density_publish,
    density_search,
    density_training,
)
from ricochet.tasks.systems.bouncing_ball.settings import Density
from ricochet.tasks.training import search as searches
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import TrainingRequest

TRIALS = 2
SMALL = {"simulations": 300, "hidden": 16, "components": 2, "epochs": 1, "batch": 128}


@pytest.fixture
def asked_for(tmp_path):
    settings = catalogue.load_settings().changed(Density, **SMALL, trials=TRIALS)
    return TrainingRequest(settings, tmp_path, seed=0)


def search(asked_for):
    return density_search.search(asked_for.settings[Density], asked_for.out, seed=0)


def completed(asked_for):
    name = density_search.study_name(asked_for.settings[Density], 0)
    return searches.completed(name, asked_for.out)


def train(asked_for, take=lambda step: step.run(lambda done, total: None)):
    procedure = catalogue.training("density").load()
    return steps.run(procedure, asked_for, take)


def test_a_finished_search_is_not_repeated(asked_for, monkeypatch):
    first = search(asked_for)
    tried = completed(asked_for)
    training = asked_for.settings[Density]
    assert len(tried) == TRIALS and first.trials == 0
    assert tried[0].chosen == {name: getattr(training, name) for name in density.SEARCHED}
    monkeypatch.setattr(density, "train", None)
    assert search(asked_for) == first


def test_reading_the_trials_of_a_search_that_is_not_there_writes_nothing(asked_for):
    assert completed(asked_for) == ()
    assert list(asked_for.out.iterdir()) == []
    search(asked_for)
    journal = (asked_for.out / searches.JOURNAL).read_bytes()
    assert searches.completed("another", asked_for.out) == ()
    assert (asked_for.out / searches.JOURNAL).read_bytes() == journal


def test_a_training_without_a_search_reports_its_progress_to_the_end(asked_for):
    plain = replace(asked_for, settings=asked_for.settings.changed(Density, trials=0, epochs=9))
    reports = {}

    def take(step):
        reports[step.label] = []
        step.run(lambda done, total: reports[step.label].append(done / total))

    assert train(plain, take)["trained"]
    assert list(reports) == ["density"]
    shares = reports["density"]
    assert len(shares) > 9 and shares == sorted(shares) and shares[-1] == 1.0
    assert not train(plain, take)["trained"]
    (plain.out / "package" / "posterior.json").unlink()
    assert not density_training.is_complete(plain)


@pytest.mark.slow
def test_trials_are_runs_below_that_of_the_density_which_states_the_best(asked_for, tmp_path):
    train(asked_for)
    best = search(asked_for)
    chosen = {name: getattr(best, name) for name in density.SEARCHED}
    manifest = json.loads((tmp_path / "package" / "posterior.json").read_text())
    assert manifest["settings"]["chosen"] == chosen
    tracker = tracking.connect(store=tmp_path / "store")
    _, run = density_publish.publish_density(tracker, tmp_path)
    found = tracker.client.get_run(run.run_id).data.params
    assert {name: float(found[name]) for name in chosen} == chosen
    below = children(tracker, run)
    assert len(below) == TRIALS
    for trial in completed(asked_for):
        (row,) = [one for one in below if one.info.run_name == f"trial {trial.number}"]
        assert row.data.metrics["held_out_nats"] == trial.value
        assert {k: float(row.data.params[k]) for k in trial.chosen} == trial.chosen


@pytest.mark.slow
def test_publishing_with_an_incomplete_journal_trains_nothing(asked_for, tmp_path, monkeypatch):
    train(asked_for)
    (tmp_path / searches.JOURNAL).unlink()
    fewer = asked_for.settings.changed(Density, trials=1)
    search(replace(asked_for, settings=fewer))
    journal = (tmp_path / searches.JOURNAL).read_bytes()
    settings = packages.read_package(tmp_path / "package", reader=density_packages.READER)
    monkeypatch.setattr(density, "train", None)
    tracker = tracking.connect(store=tmp_path / "store")
    _, run = density_publish.publish_density(tracker, tmp_path)
    assert len(children(tracker, run)) == 1
    assert (tmp_path / searches.JOURNAL).read_bytes() == journal
    assert dict(settings.settings)["seed"] == 0 and "chosen" in settings.settings


def children(tracker, run):
    runs = tracker.client.search_runs([run.experiment_id])
    return [row for row in runs if row.data.tags.get("mlflow.parentRunId") == run.run_id]


def test_a_list_shows_what_a_density_thinks_of_held_out_pairs() -> None:
    (shown,) = density_packages.describe(SimpleNamespace(checks={"held_out": -3.2552}))
    assert f"{shown.name} {shown.text}" == "held-out negative log density -3.26 nats"
    assert density_packages.describe(SimpleNamespace(checks={})) == ()
