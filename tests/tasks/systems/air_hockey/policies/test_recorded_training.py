"""A training from a recording: its key, its held-out episodes, and what its packages say."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.arm import stroke_table
from ricochet.models.systems.air_hockey.puck import dataset, mode_fitting, recorded_modes
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import packages, regret, train, training_data
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes
from ricochet.tasks.systems.air_hockey.recordings.episode_checks import Episode
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.training.steps import TrainingRequest
from tests.oracles import hockey_modes
from tests.tasks.systems.air_hockey import shooters
from tests.tasks.systems.air_hockey.recordings import recorded

SMALL = {"states": 60, "candidates": 40, "hidden": 8, "epochs": 3, "batch": 16, "held_out": 8}


@pytest.fixture
def folder(tmp_path):
    return recorded.written(tmp_path / "recording")


@pytest.fixture
def asked_for(tmp_path, folder):
    return of(TrainingRequest(catalogue.load_settings(), tmp_path / "out", seed=0), folder)


def of(request, folder, **values):
    settings = request.settings.changed(Hockey, recording=str(folder), **values)
    return replace(request, settings=settings)


@pytest.fixture
def fitted(monkeypatch):
    """How many episodes each fit was given; nothing may be simulated."""
    counts = []

    def fit(places, table):
        counts.append(len(places.puck))
        return hockey_modes.MODES, None

    monkeypatch.setattr(recorded_modes, "fit", fit)
    monkeypatch.setattr(dataset, "collect", lambda *_, **__: 1 / 0)
    return counts


def test_changed_bytes_are_learnt_again_and_a_moved_folder_is_not(
    asked_for, fitted, folder, tmp_path
):
    training_data.modes(asked_for)
    moved = shutil.move(folder, tmp_path / "moved")
    training_data.modes(of(asked_for, moved))
    assert fitted == [10]  # of 12; every fifth is held out
    puck_episodes.write(moved, recorded.episodes(12, seed=1), table=training_data.Table())
    training_data.modes(of(asked_for, moved))
    assert fitted == [10, 10]


def test_what_is_simulated_does_not_decide_modes_of_a_recording(asked_for, folder, tmp_path):
    same = of(asked_for, folder, episodes=7, airflow=0.3)
    assert training_data.modes_key(same) == training_data.modes_key(asked_for)
    simulated = of(asked_for, "")
    assert training_data.modes_key(simulated) != training_data.modes_key(asked_for)
    assert training_data.recorded(simulated) == training_data.SIMULATED
    assert training_data.recorded(asked_for) == puck_episodes.read(folder).digest


def test_predictions_are_of_the_episodes_held_out(asked_for, fitted, monkeypatch):
    given = []

    def table(modes, unseen, *_, **__):
        given.append(unseen)
        return ()

    monkeypatch.setattr(training_data.prediction_checks, "prediction_table", table)
    assert training_data.predictions(asked_for) == ()
    (unseen,) = given
    _, held_out = puck_episodes.split(
        puck_episodes.read(training_data.Path(asked_for.settings[Hockey].recording))
    )
    assert unseen.puck.shape == held_out.puck.shape
    off = unseen.puck - held_out.puck
    assert np.nanmedian(np.abs(off)) < recorded.NOISE


def test_packages_and_lines_name_the_recording(asked_for, fitted, monkeypatch):
    monkeypatch.setattr(stroke_table, "build", lambda **_: shooters.strokes())
    monkeypatch.setattr(regret, "ANGLES", 40)
    monkeypatch.setattr(train, "_predicted", lambda _: {"rows": []})
    small = replace(asked_for, settings=asked_for.settings.changed(Energies, **SMALL))
    train.train(small)
    digest = training_data.recorded(asked_for)
    for place in train.folders(small).values():
        package = packages.read_package(place, reader=packages.READER)
        assert package.settings["training"]["recording"] == digest
    lines = train.lines(train.describe(small), small.out)
    assert lines[-1] == f"contacts learnt from recording {digest[:12]}"


def test_a_recording_with_too_few_contacts_is_bad_input_that_names_it(tmp_path, asked_for):
    episodes = [
        replace(each, mallet=np.full_like(each.mallet, np.nan)) for each in recorded.episodes(12)
    ]
    puck_episodes.write(tmp_path / "still", episodes, table=training_data.Table())
    with pytest.raises(BadInput, match=r"still: found .*expected records that hold enough"):
        training_data.modes(of(asked_for, tmp_path / "still"))


def test_modes_are_kept_under_the_key_of_the_episodes_that_they_were_learnt_from(
    asked_for, folder, tmp_path, monkeypatch
):
    """Others are put in the folder as soon as it was read."""
    key, (learnt, _) = training_data.modes_key(asked_for), split(folder)
    given, read = [], puck_episodes.read

    def swapped(path):
        found = read(path)
        puck_episodes.write(folder, recorded.episodes(12, seed=1), table=training_data.Table())
        return found

    def fit(places, table):
        given.append(places)
        return hockey_modes.MODES, None

    monkeypatch.setattr(puck_episodes, "read", swapped)
    monkeypatch.setattr(recorded_modes, "fit", fit)
    training_data.modes(asked_for)
    np.testing.assert_array_equal(given[0].puck, learnt.puck)
    (kept,) = (tmp_path / "out" / training_data.STEPS).iterdir()
    assert kept.name == f"modes-{key[:16]}.npz"


def split(folder):
    return puck_episodes.split(puck_episodes.read(folder))


def test_no_package_is_written_of_a_recording_that_changed_meanwhile(
    asked_for, fitted, folder, monkeypatch
):
    def check(*_, **__):
        puck_episodes.write(folder, recorded.episodes(12, seed=1), table=training_data.Table())

    monkeypatch.setattr(stroke_table, "build", lambda **_: shooters.strokes())
    monkeypatch.setattr(regret, "check", check)
    small = replace(asked_for, settings=asked_for.settings.changed(Energies, **SMALL))
    with pytest.raises(BadInput, match=r"recording: found other episodes than at the beginning"):
        train.train(small)
    assert not any(place.exists() for place in train.folders(small).values())


def test_episodes_held_out_that_cannot_be_smoothed_are_bad_input(asked_for, fitted, monkeypatch):
    def smoothed_by(*_):
        raise ValueError("places: no three in a row were seen")

    monkeypatch.setattr(recorded_modes, "smoothed_by", smoothed_by)
    with pytest.raises(BadInput, match=r"recording: found places: no three in a row .*expected"):
        training_data.predictions(asked_for)


@pytest.mark.proof
def test_a_recording_of_the_simulated_table_is_learnt_as_its_exact_record(tmp_path):
    """Of 40 episodes seen to a millimetre, 8 of them held out, to the errors of so few.

    A strike of 1 m/s keeps sd 0.025 m/s, of which 16 strikes leave 0.006; with what is seen, and of
    two fits, 0.05 is four of them and more. Airflow has 64 numbers and so 9 %, three of which.
    """
    draw, world = np.random.default_rng(0), simulator.build()
    exact = dataset.collect(
        world, episodes=40, disturbance=Disturbance(position_noise=0.0), draw=draw
    )
    places = [
        part + recorded.NOISE * draw.standard_normal(part.shape)
        for part in (exact.puck, exact.mallet)
    ]
    time = 0.02 * np.arange(50)
    seen = [Episode(time, *each) for each in zip(*places, strict=True)]
    puck_episodes.write(tmp_path / "one", seen, table=world.table)
    request = TrainingRequest(catalogue.load_settings(), tmp_path / "out", seed=0)
    found = training_data.modes(of(request, tmp_path / "one"))
    known = mode_fitting.fit(exact, world.table)
    strike = [
        each.mallet.matrix @ (0.0, 0.0, 1.0, 0.0) + each.mallet.offset for each in (found, known)
    ]
    np.testing.assert_allclose(strike[0], strike[1], atol=0.05)
    np.testing.assert_allclose(found.floating.matrix, known.floating.matrix, atol=6e-4)
    assert found.airflow_sd == pytest.approx(known.airflow_sd, rel=0.27)
    assert len(training_data.predictions(of(request, tmp_path / "one"))) > 0
