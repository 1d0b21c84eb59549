"""Departed sessions are what their names say, and the study answers them in sound as well."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.hardware.microphones import interface
from ricochet.models.core.constants import GRAVITY
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.systems.bouncing_ball.studies import departed_sessions, reality
from ricochet.tasks.systems.bouncing_ball.studies.departed_sessions import (
    DEPARTURES,
    Ball,
    Departure,
)
from ricochet.tasks.systems.interface import StudyRequest

BALL = Ball(0.85, 3.5)
RULES = catalogue.load_settings()[Calibrate]


def chains(departure: Departure, takes: int = 400) -> tuple[np.ndarray, np.ndarray]:
    found = departed_sessions.simulate(departure, BALL, takes=takes, bounces=4, seed=1)
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


def test_every_session_has_a_ball_of_its_own_that_its_seed_alone_tells() -> None:
    found = np.array([departed_sessions.ball_of(seed).truth for seed in range(400)])
    again = departed_sessions.ball_of(7)
    assert tuple(found[7]) == (again.restitution, again.log10_concentration)
    bounds = np.array([departed_sessions.RESTITUTIONS, departed_sessions.LOG10_CONCENTRATIONS]).T
    levels = (found - bounds[0]) / np.diff(bounds, axis=0)
    for column in levels.T:  # 0.1 % of the time 400 uniform numbers are farther from their law
        assert stats.kstest(column, "uniform").pvalue > 1e-3


def test_three_bounces_of_a_session_are_those_of_its_takes() -> None:
    takes = departed_sessions.simulate(DEPARTURES["none"], BALL, takes=3, bounces=5, seed=2)
    found = departed_sessions.three_bounces(takes)
    np.testing.assert_array_equal(found.times[1], takes[1].times[:3])
    np.testing.assert_array_equal(found.positions[2], takes[2].places[:3])
    assert found.later_times[0] is takes[0].times and len(set(found.names)) == 3


def test_an_anisotropic_redirection_has_the_stated_ratio_and_the_mean_variance() -> None:
    times, places = departed_sessions._anisotropic(
        25.0, BALL, torch.zeros((4000, 3)).double(), bounces=2, draw=torch.Generator()
    )
    turned = np.diff(places, axis=1)[:, 0] / np.diff(times)[:, :1]
    speed = 0.85 * np.sqrt(2.0 * GRAVITY * departed_sessions.HEIGHT)
    variance = (turned / speed).var(0)
    # 4000 numbers tell a variance to sqrt(2 / 4000) = 2.2 %, a ratio to 3.2 %
    assert variance[1] / variance[0] == pytest.approx(25.0, rel=0.13)
    assert variance.mean() * BALL.concentration == pytest.approx(1.0, rel=0.1)


def test_an_error_of_the_array_moves_places_as_its_first_order_says() -> None:
    departure = Departure(array={"microphone 2 y": 1e-3})
    array = interface.default_rig("simulated").array()
    places = np.random.default_rng(0).uniform(-0.1, 0.1, (3, 4, 2))
    times = np.full((3, 4), 0.5)
    moved = departed_sessions._located(departure, array, places, times) - places
    [take, *_] = departed_sessions.simulate(departure, BALL, takes=2, bounces=4, seed=0)
    assert take.distortion.shape == (4, 2, 3 + 14)
    assert 1e-5 < np.abs(moved).max() < 3e-3
    back = Departure(array={"microphone 2 y": -1e-3})
    other = departed_sessions._located(back, array, places, times) - places
    np.testing.assert_allclose(moved, -other, atol=2e-5)


@pytest.mark.slow
def test_a_dead_channel_is_refused_by_name() -> None:
    outcome = reality.recorded("dead channel", takes=6, seed=reality.SEED, rules=RULES)
    assert outcome.answer is None and outcome.warned
    [said] = outcome.said
    assert "channel 1 is dead" in said and said.startswith("session")


@pytest.mark.proof
def test_swapped_channels_are_refused_by_name_or_do_no_harm() -> None:
    """Three microphones tell them from the flights between places alone: in 18 of 30 sessions."""
    outcomes = [
        reality.recorded("swapped channels", takes=6, seed=reality.SEED + number, rules=RULES)
        for number in (0, 2)
    ]
    refused = [each.said[0] for each in outcomes if each.answer is None]
    assert refused and all("channels 1 and 2 look swapped" in said for said in refused)
    assert not any(each.answer is not None and each.answer.wrong for each in outcomes)


@pytest.mark.proof
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


@pytest.mark.proof
def test_a_session_without_sound_is_answered_by_three_bounces_and_by_whole_takes(
    monkeypatch,
) -> None:
    monkeypatch.setattr(reality, "TAKES", 6)
    monkeypatch.setattr(reality, "BOUNCES", 4)
    [job] = [reality.Job("drag of ping-pong", 5, catalogue.load_settings()[Calibrate])]
    found = reality.outcome(job)
    assert found.answer is not None and found.three_bounces is not None
    # the paper's model knows no air, which costs a ping-pong ball 2 % of its speed at a bounce
    assert found.three_bounces.error[0] < -10.0 and found.three_bounces.wrong and found.warned
    assert not found.answer.wrong and np.abs(found.answer.error).max() < 4.0
