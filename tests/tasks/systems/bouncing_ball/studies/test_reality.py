"""Departed sessions are what their names say, and the study answers them in sound as well."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from ricochet.hardware.microphones import interface
from ricochet.models.core.constants import GRAVITY
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.systems.bouncing_ball.studies import departed_sessions, reality
from ricochet.tasks.systems.bouncing_ball.studies.departed_sessions import DEPARTURES, Departure
from ricochet.tasks.systems.interface import StudyRequest


def chains(departure: Departure, takes: int = 400) -> tuple[np.ndarray, np.ndarray]:
    found = departed_sessions.simulate(departure, takes=takes, bounces=4, seed=1)
    return np.array([take.times for take in found]), np.array([take.places for take in found])


def ratios(name: str) -> np.ndarray:
    times, _ = chains(DEPARTURES[name])
    intervals = np.diff(times)
    return np.asarray(np.median(intervals[:, 1:] / intervals[:, :-1], axis=0))


def test_the_plain_session_is_that_of_the_paper() -> None:
    times, places = chains(DEPARTURES["none"])
    fall = np.sqrt(2.0 * departed_sessions.HEIGHT / GRAVITY)
    # sideways speed N(0, 0.1^2): after the fall 23 mm an axis; 800 numbers tell it to 2.5 %
    np.testing.assert_allclose(places[:, 0].std(), 0.1 * fall, rtol=0.1)
    np.testing.assert_allclose(np.median(np.diff(times)[:, 0]), 2 * 0.85 * fall, rtol=2e-3)
    np.testing.assert_allclose(ratios("none"), 0.85, atol=2e-3)


@pytest.mark.slow
def test_drag_slope_and_scatter_show_in_the_ratios_of_intervals() -> None:
    assert (ratios("drag of ping-pong") < 0.845).all()
    assert np.diff(ratios("slope 0.03 s/m"))[0] > 2e-3
    times, _ = chains(DEPARTURES["takes scatter 0.01"])
    first = np.diff(times)[:, 0]
    assert first.std() / first.mean() > 3 * np.diff(chains(DEPARTURES["none"])[0])[:, 0].std()


def test_an_anisotropic_redirection_has_the_stated_ratio_and_the_mean_variance() -> None:
    times, places = departed_sessions._anisotropic(
        25.0, torch.zeros((4000, 3)).double(), 2, torch.Generator()
    )
    turned = np.diff(places, axis=1)[:, 0] / np.diff(times)[:, :1]
    speed = 0.85 * np.sqrt(2.0 * GRAVITY * departed_sessions.HEIGHT)
    variance = (turned / speed).var(0)
    # 4000 numbers tell a variance to sqrt(2 / 4000) = 2.2 %, a ratio to 3.2 %
    assert variance[1] / variance[0] == pytest.approx(25.0, rel=0.13)
    assert variance.mean() * departed_sessions.CONCENTRATION == pytest.approx(1.0, rel=0.1)


def test_an_error_of_the_array_moves_places_as_its_first_order_says() -> None:
    departure = Departure(array={"microphone 2 y": 1e-3})
    array = interface.default_rig("simulated").array()
    places = np.random.default_rng(0).uniform(-0.1, 0.1, (3, 4, 2))
    times = np.full((3, 4), 0.5)
    moved = departed_sessions._located(departure, array, places, times) - places
    [take, *_] = departed_sessions.simulate(departure, takes=2, bounces=4, seed=0)
    assert take.distortion.shape == (4, 2, 3 + 14)
    assert 1e-5 < np.abs(moved).max() < 3e-3
    back = Departure(array={"microphone 2 y": -1e-3})
    other = departed_sessions._located(back, array, places, times) - places
    np.testing.assert_allclose(moved, -other, atol=2e-5)


@pytest.mark.slow
def test_a_fault_in_the_sound_is_refused_by_name() -> None:
    rules = catalogue.load_settings()[Calibrate]
    for name, sentence in (
        ("swapped channels", "channels 1 and 2 look swapped"),
        ("dead channel", "channel 1 is dead"),
    ):
        outcome = reality.recorded(name, takes=6, seed=reality.SEED, rules=rules)
        assert outcome.answer is None and outcome.warned
        [said] = outcome.said
        assert sentence in said and said.startswith("session")


@pytest.mark.slow
def test_the_study_has_a_row_of_each_departure_that_json_holds(monkeypatch, tmp_path) -> None:
    faults = {name: reality.RECORDED[name] for name in ("swapped channels", "dead channel")}
    monkeypatch.setattr(reality, "DEPARTURES", {})
    monkeypatch.setattr(reality, "RECORDED", faults)
    monkeypatch.setattr(reality, "run_all", partial(run_all, workers=1))
    steps = []
    request = StudyRequest(
        catalogue.load_settings(), tmp_path, lambda *step: steps.append(step), quick=True
    )
    found = json.loads(json.dumps(reality.run(request)))
    assert list(found["departures"]) == list(faults) and steps == [(1, 2), (2, 2)]
    steps.clear()  # both are in the journal, and are not answered again
    assert len(reality.run(replace(request, count=1))["departures"]) == 2 and steps == [(2, 2)]
    for row in found["departures"].values():
        assert row["refused"] == row["warned"] == 1.0 and row["silent_and_wrong"] == 0.0
        assert row["recorded"] and row["coverage_90"] is None


@pytest.mark.slow
def test_recordings_without_whole_takes_are_answered_by_three_bounces() -> None:
    rules = replace(catalogue.load_settings()[Calibrate], whole_takes=0)
    outcome = reality.recorded("recorded", takes=5, seed=reality.SEED, rules=rules)
    assert outcome.three_bounces is not None and outcome.answer is outcome.three_bounces
    assert not outcome.answer.wrong and 0.0 < outcome.answer.p_value < 1.0
