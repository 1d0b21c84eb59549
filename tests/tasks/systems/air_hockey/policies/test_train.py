"""A training makes three packages once, goes on where it stopped, and registers what it made."""

import contextlib
from dataclasses import asdict, replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.arm import stroke_table as stroke_tables
from ricochet.models.systems.air_hockey.puck import dataset, mode_fitting
from ricochet.models.systems.air_hockey.puck.prediction_checks import Row
from ricochet.tasks.registry import versions as registry
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.figures import training_set
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies import energy as energy_learning
from ricochet.tasks.systems.air_hockey.policies import (
    packages,
    publish,
    regret,
    search,
    training_data,
)
from ricochet.tasks.systems.air_hockey.policies import train as training
from ricochet.tasks.systems.air_hockey.policies.training_data import Order
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from tests.oracles import hockey_modes
from tests.tasks.systems.air_hockey import shooters

SMALL = {"states": 60, "candidates": 40, "hidden": 8, "epochs": 3, "batch": 16, "held_out": 8}


@pytest.fixture
def made(monkeypatch):
    """Contacts and strokes that need no simulation; how often each was asked for."""
    asked = {"collect": 0, "fit": 0, "build": 0}

    def answer(name, value):
        def say(*_, **__):
            asked[name] += 1
            return value

        return say

    monkeypatch.setattr(dataset, "collect", answer("collect", None))
    monkeypatch.setattr(mode_fitting, "fit", answer("fit", hockey_modes.MODES))
    monkeypatch.setattr(stroke_tables, "build", answer("build", shooters.strokes()))
    monkeypatch.setattr(regret, "ANGLES", 40)
    row = Row("floating", 0.02, 9, 0.01, 0.02, (0.5, 0.9))
    monkeypatch.setattr(training_data, "predictions", lambda *_: (row,))
    monkeypatch.setattr(training_set, "draw", lambda *_, folder, **__: draw_one(folder))
    return asked


def draw_one(folder):
    folder.mkdir(exist_ok=True)
    (folder / "landscapes.png").write_bytes(b"")


@pytest.fixture
def order(tmp_path):
    given = catalogue.load_settings()
    return Order(given.changed(Energies, **SMALL), tmp_path, seed=0)


def changed(order, **values):
    return replace(order, settings=order.settings.changed(Energies, **values))


def test_a_training_is_made_once_and_again_where_its_settings_change(order, made) -> None:
    first = training.run(order)
    assert first["trained"] and set(first["energies"]) == set(training.NAMES)
    assert made == {"collect": 1, "fit": 1, "build": 1}
    assert first["prediction"][0]["coverage"] == [0.5, 0.9]
    again = training.run(order)
    assert not again["trained"] and again["energies"] == first["energies"]
    assert training.run(changed(order, epochs=2))["trained"]
    assert made["build"] == 1  # what the energies share was kept
    assert training.run(replace(order, seed=1))["trained"] and made["build"] == 2


def test_contacts_and_strokes_of_a_training_beside_serve_and_labels_of_others_do_not(
    order, made, tmp_path
) -> None:
    training.run(order)
    before = {path: path.read_bytes() for path in order.kept.iterdir()}
    small = replace(changed(order, states=50), out=tmp_path / "small", beside=(tmp_path,))
    training.train(small)
    assert made == {"collect": 1, "fit": 1, "build": 1}
    assert [path.name.partition("-")[0] for path in small.kept.iterdir()] == ["labels"]
    assert {path: path.read_bytes() for path in order.kept.iterdir()} == before
    other = replace(small, out=tmp_path / "other", seed=1)
    training.train(other)
    assert made["build"] == 2


def test_a_damaged_package_is_trained_again_alone(order, made) -> None:
    training.run(order)
    damaged, kept = (training.place(order, name) for name in training.NAMES[:2])
    before = (kept / "shooting.json").stat().st_mtime_ns
    whole = (damaged / "shooting.safetensors").read_bytes()
    (damaged / "shooting.safetensors").write_bytes(whole[:-1])
    assert not training.is_done(order)
    training.run(order)
    assert (damaged / "shooting.safetensors").read_bytes() == whole  # the same seed
    assert (kept / "shooting.json").stat().st_mtime_ns == before


def test_too_few_records_are_bad_input_that_names_the_keys(order, made, monkeypatch) -> None:
    def few(*_):
        raise ValueError("recording: 2 banks are too few, need 5")

    monkeypatch.setattr(mode_fitting, "fit", few)
    with pytest.raises(BadInput, match=r"hockey.episodes, hockey.steps: found 100, 50 \(recording"):
        training.run(order)


def test_a_stale_prediction_is_made_again_without_training(order, made) -> None:
    training.run(order)
    for told in ('{"rows": []}', '{"key": "another", "rows": []}', "half a fi", "[]"):
        (order.out / training.PREDICTION).write_text(told)
        assert training.is_trained(order) and not training.is_done(order)
        assert training.run(order)["prediction"][0]["mode"] == "floating"
    noisy = order.settings.changed(Hockey, position_noise=0.01)  # the filter's, not the training's
    other = replace(order, settings=noisy)
    assert training.is_trained(other) and not training.is_done(other)
    assert made["build"] == 1


def test_the_loss_told_is_that_of_the_weights_kept(order, made) -> None:
    """A rate that throws the weights about: the last look is not the best one."""
    wild = changed(order, learning_rate=0.3, epochs=20)
    energies = training.run(wild)["energies"]
    for name in training.NAMES:
        package = training.read_package(training.place(wild, name), reader=packages.READER)
        looks = package.checks[energy_learning.HELD_OUT]
        assert energies[name]["held_out_loss"] == min(looks) < looks[-1]


def test_each_step_shows_its_progress_to_the_end(order, made) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    @contextlib.contextmanager
    def show(label):
        told[label] = []
        yield lambda done, total: told[label].append((done, total))

    training.run(changed(order, trials=2), show)
    assert list(told) == ["puck modes", "strokes", "shots", "search", *training.NAMES, "pictures"]
    for label in ("shots", "search", *training.NAMES):
        shares = [done / total for done, total in told[label]]
        assert shares == sorted(shares) and shares[-1] == 1.0, label


def test_a_search_cut_in_its_first_trial_starts_with_the_settings_again(order, made) -> None:
    wanted = changed(order, trials=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(energy_learning, "fit", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            search.search(wanted)
    assert search.search(wanted) == replace(wanted.settings[Energies], trials=0)


def test_a_policy_knows_its_setting_and_what_it_learnt_from(order, made) -> None:
    training.run(order)
    for name in training.NAMES:
        found = packages.read(training.place(order, name))
        assert found.name == name and found.setting == energy_learning.setting_of(name)
        np.testing.assert_array_equal(found.strokes.speeds, shooters.strokes().speeds)
        assert found.modes.airflow_sd == hockey_modes.MODES.airflow_sd


def test_keys_tell_what_decides_each_step(order) -> None:
    keys = (training_data.modes_key, training_data.strokes_key, training_data.labels_key)
    keys = (*keys, energy_learning.key)

    def same(other):
        return [key(order) == key(other) for key in keys]

    assert same(changed(order, epochs=7)) == [True, True, True, False]
    assert same(changed(order, aim_sd=0.01)) == [True, True, False, False]
    hockey = replace(order, settings=order.settings.changed(Hockey, episodes=7))
    assert same(hockey) == [False, True, False, False]
    assert all(same(replace(order, settings=order.settings.changed(Hockey, shots=7))))


def test_a_search_starts_with_the_settings_and_its_best_is_what_is_written(order, made) -> None:
    wanted = changed(order, trials=2)
    training.run(wanted)
    best = search.search(wanted)
    told = packages.READER
    package = training.read_package(training.place(wanted, training.NAMES[0]), reader=told)
    assert package.settings["training"] == {**asdict(best), "seed": 0}
    assert package.arrays["energy.last"].shape == (best.hidden,)


@pytest.mark.slow
def test_every_picture_of_a_training_is_drawn(tmp_path) -> None:
    shooter = {"shooting-balanced": shooters.shooter()}
    losses = {"shooting-balanced": [4.0, 2.0]}
    training_set.draw(shooter, losses, candidates=100, aim=0.002, folder=tmp_path)
    pictures = {picture.name for picture in tmp_path.iterdir()}
    assert pictures == {"flights.png", "shots.png", "landscapes.png", "histories.png"}


def test_publishing_twice_adds_nothing_and_each_setting_is_below_the_shared_run(
    order, made, tracker
) -> None:
    training.run(order)
    versions, shared = publish.publish(tracker, order.out, training.NAMES)
    again, same = publish.publish(tracker, order.out, training.NAMES)
    assert again == versions and same.run_id == shared.run_id
    pictures = {file.path for file in tracker.client.list_artifacts(shared.run_id, "figures")}
    assert "figures/landscapes.png" in pictures
    for name in training.NAMES:
        assert registry.resolve(tracker, name) == versions[name]
        found = tracker.client.get_model_version(name, versions[name].version)
        run = tracker.client.get_run(found.run_id)
        assert run.data.tags["mlflow.parentRunId"] == shared.run_id
        package = registry.load(tracker, versions[name], kind=POLICY)
        for curve in ("held_out_history", "training_history"):
            points = tracker.client.get_metric_history(found.run_id, curve)
            assert [point.value for point in points] == package.checks[curve]
        assert run.data.metrics["regret"] == package.checks["regret"]
