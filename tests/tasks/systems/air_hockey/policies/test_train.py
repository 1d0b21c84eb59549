"""A training makes three packages once, goes on where it stopped, and registers what it made."""

import contextlib
from dataclasses import asdict, replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import no_progress
from ricochet.models.systems.air_hockey.arm import stroke_table
from ricochet.models.systems.air_hockey.puck import dataset, mode_fitting
from ricochet.models.systems.air_hockey.puck.prediction_checks import Row
from ricochet.tasks.registry import versions as registry
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.figures import training_set
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies import (
    energy,
    packages,
    publish,
    regret,
    search,
    training_data,
)
from ricochet.tasks.systems.air_hockey.policies import train as training
from ricochet.tasks.systems.air_hockey.policy_names import policy_names
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.system import SYSTEM
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import TrainingRequest
from tests.oracles import hockey_modes
from tests.tasks.systems.air_hockey import shooters

NAMES = policy_names()
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
    monkeypatch.setattr(stroke_table, "build", answer("build", shooters.strokes()))
    monkeypatch.setattr(regret, "ANGLES", 40)
    row = Row("floating", 0.02, 9, 0.01, 0.02, (0.5, 0.9))
    monkeypatch.setattr(training_data, "predictions", lambda *_: (row,))
    monkeypatch.setattr(training_set, "draw", lambda *_, folder, **__: draw_one(folder))
    return asked


def draw_one(folder):
    folder.mkdir(exist_ok=True)
    (folder / "landscapes.png").write_bytes(b"")


@pytest.fixture
def asked_for(tmp_path):
    given = catalogue.load_settings()
    return TrainingRequest(given.changed(Energies, **SMALL), tmp_path, seed=0)


def train(asked_for, show=lambda label: contextlib.nullcontext(no_progress)):
    procedure = SYSTEM.trainings[0].load()
    return steps.run(procedure, asked_for, lambda step: steps.take(step, show))


def changed(asked_for, **values):
    return replace(asked_for, settings=asked_for.settings.changed(Energies, **values))


def test_a_training_is_made_once_and_again_where_its_settings_change(asked_for, made) -> None:
    first = train(asked_for)
    assert first["trained"] and set(first["energies"]) == set(NAMES)
    assert made == {"collect": 1, "fit": 1, "build": 1}
    assert first["prediction"][0]["coverage"] == [0.5, 0.9]
    again = train(asked_for)
    assert not again["trained"] and again["energies"] == first["energies"]
    assert train(changed(asked_for, epochs=2))["trained"]
    assert made["build"] == 1  # what the energies share was kept
    assert train(replace(asked_for, seed=1))["trained"] and made["build"] == 2


def test_contacts_and_strokes_of_another_training_serve_and_its_targets_do_not(
    asked_for, made, tmp_path
) -> None:
    train(asked_for)
    before = {path: path.read_bytes() for path in (asked_for.out / training_data.STEPS).iterdir()}
    small = replace(changed(asked_for, states=50), out=tmp_path / "small", fallbacks=(tmp_path,))
    training.train(small)
    assert made == {"collect": 1, "fit": 1, "build": 1}
    assert [
        path.name.partition("-")[0] for path in (small.out / training_data.STEPS).iterdir()
    ] == ["targets"]
    assert {
        path: path.read_bytes() for path in (asked_for.out / training_data.STEPS).iterdir()
    } == before
    other = replace(small, out=tmp_path / "other", seed=1)
    training.train(other)
    assert made["build"] == 2


def test_a_damaged_package_has_packages_again_alone(asked_for, made) -> None:
    train(asked_for)
    damaged, kept = (packages.folder_of(asked_for.out, name) for name in NAMES[:2])
    before = (kept / "shooting.json").stat().st_mtime_ns
    whole = (damaged / "shooting.safetensors").read_bytes()
    (damaged / "shooting.safetensors").write_bytes(whole[:-1])
    assert not training.is_complete(asked_for)
    train(asked_for)
    assert (damaged / "shooting.safetensors").read_bytes() == whole  # the same seed
    assert (kept / "shooting.json").stat().st_mtime_ns == before


def test_too_few_records_are_bad_input_that_names_the_keys(asked_for, made, monkeypatch) -> None:
    def few(*_):
        raise ValueError("recording: 2 banks are too few, need 5")

    monkeypatch.setattr(mode_fitting, "fit", few)
    with pytest.raises(BadInput, match=r"hockey.episodes, hockey.steps: found 100, 50 \(recording"):
        train(asked_for)


def test_a_stale_prediction_is_made_again_without_training(asked_for, made) -> None:
    train(asked_for)
    for told in ('{"rows": []}', '{"key": "another", "rows": []}', "half a fi", "[]"):
        (asked_for.out / training.PREDICTION).write_text(told)
        assert training.has_packages(asked_for) and not training.is_complete(asked_for)
        assert train(asked_for)["prediction"][0]["mode"] == "floating"
    noisy = asked_for.settings.changed(Hockey, position_noise=0.01)  # the filter's alone
    other = replace(asked_for, settings=noisy)
    assert training.has_packages(other) and not training.is_complete(other)
    assert made["build"] == 1


def test_the_reported_loss_is_that_of_the_weights_kept(asked_for, made) -> None:
    """A rate that throws the weights about: the last look is not the best one."""
    wild = changed(asked_for, learning_rate=0.3, epochs=20)
    energies = train(wild)["energies"]
    for name in NAMES:
        package = packages.read_package(packages.folder_of(wild.out, name), reader=packages.READER)
        looks = package.checks[packages.HELD_OUT]
        assert energies[name]["held_out_loss"] == min(looks) < looks[-1]


def test_each_step_shows_its_progress_to_the_end(asked_for, made) -> None:
    told: dict[str, list[tuple[int, int]]] = {}

    @contextlib.contextmanager
    def show(label):
        told[label] = []
        yield lambda done, total: told[label].append((done, total))

    train(changed(asked_for, trials=2), show)
    assert list(told) == ["puck modes", "strokes", "shots", "search", *NAMES, "pictures"]
    for label in ("shots", "search", *NAMES):
        shares = [done / total for done, total in told[label]]
        assert shares == sorted(shares) and shares[-1] == 1.0, label


def test_a_search_cut_in_its_first_trial_starts_with_the_settings_again(asked_for, made) -> None:
    requested = changed(asked_for, trials=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(energy, "fit", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            search.search(requested)
    assert search.search(requested) == replace(requested.settings[Energies], trials=0)


def test_a_policy_knows_its_setting_and_what_it_learnt_from(asked_for, made) -> None:
    train(asked_for)
    for name in NAMES:
        found = packages.read(packages.folder_of(asked_for.out, name))
        assert found.name == name and found.setting == energy.setting_of(name)
        np.testing.assert_array_equal(found.strokes.speeds, shooters.strokes().speeds)
        assert found.modes.airflow_sd == hockey_modes.MODES.airflow_sd


def test_keys_tell_what_decides_each_step(asked_for) -> None:
    keys = (training_data.modes_key, training_data.strokes_key, training_data.targets_key)
    keys = (*keys, training_data.packages_key)

    def same(other):
        return [key(asked_for) == key(other) for key in keys]

    assert same(changed(asked_for, epochs=7)) == [True, True, True, False]
    assert same(changed(asked_for, aim_sd=0.01)) == [True, True, False, False]
    hockey = replace(asked_for, settings=asked_for.settings.changed(Hockey, episodes=7))
    assert same(hockey) == [False, True, False, False]
    assert all(same(replace(asked_for, settings=asked_for.settings.changed(Hockey, shots=7))))


def test_a_search_starts_with_the_settings_and_its_best_is_what_is_written(asked_for, made) -> None:
    requested = changed(asked_for, trials=2)
    train(requested)
    best = search.search(requested)
    told = packages.READER
    package = packages.read_package(packages.folder_of(requested.out, NAMES[0]), reader=told)
    assert package.settings["training"] == {
        **asdict(best),
        "seed": 0,
        "recording": training_data.SIMULATED,
    }
    assert package.arrays["energy.last"].shape == (best.hidden,)


@pytest.mark.slow
def test_every_picture_of_a_training_is_drawn(tmp_path) -> None:
    shooter = {"shooting-balanced": shooters.shooter()}
    losses = {"shooting-balanced": [4.0, 2.0]}
    training_set.draw(shooter, losses, candidates=100, aim=0.002, folder=tmp_path)
    pictures = {picture.name for picture in tmp_path.iterdir()}
    assert pictures == {"flights.png", "shots.png", "landscapes.png", "histories.png"}


def test_publishing_twice_adds_nothing_and_each_setting_is_below_the_shared_run(
    asked_for, made, tracker
) -> None:
    train(asked_for)
    versions, shared = publish.publish_energies(tracker, asked_for.out)
    again, same = publish.publish_energies(tracker, asked_for.out)
    assert again == versions and same.run_id == shared.run_id
    pictures = {file.path for file in tracker.client.list_artifacts(shared.run_id, "figures")}
    assert "figures/landscapes.png" in pictures
    for name in NAMES:
        assert registry.resolve(tracker, name) == versions[name]
        found = tracker.client.get_model_version(name, versions[name].version)
        run = tracker.client.get_run(found.run_id)
        assert run.data.tags["mlflow.parentRunId"] == shared.run_id
        package = registry.load(tracker, versions[name], kind=POLICY)
        for curve in ("held_out_history", "training_history"):
            points = tracker.client.get_metric_history(found.run_id, curve)
            assert [point.value for point in points] == package.checks[curve]
        assert run.data.metrics["regret"] == package.checks["regret"]
