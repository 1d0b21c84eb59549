"""The study of ball tracking: what it counts, and that a toss depends on its number alone."""

import numpy as np
import pytest
import torch

from ricochet.models.core.progress import no_progress
from ricochet.models.systems.bouncing_ball.balls import REAL_PING_PONG, Ball
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.tracking.outcomes import KINDS, Outcome
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.figures import tracking as deflection_figures
from ricochet.tasks.systems.bouncing_ball.settings import Tosses
from ricochet.tasks.systems.bouncing_ball.studies import ball_models
from ricochet.tasks.systems.bouncing_ball.studies import tracking as study
from ricochet.tasks.systems.bouncing_ball.studies.tracking import (
    CONTROLLERS,
    MODELLED,
    ComparedToss,
    Job,
)
from ricochet.tasks.systems.interface import StudyRequest


def _compared(kinds: dict[str, str], *, wait: float = 0.015) -> ComparedToss:
    outcomes = {
        name: Outcome(kinds.get(name, "missed"), 0.1, 0.2, (1,) if "outliers" in kinds else ())
        for name in CONTROLLERS
    }
    waits = {name: [wait, 2 * wait] for name in CONTROLLERS}
    missed = {name: Outcome("missed", 0.1, 0.2, ()) for name in MODELLED}
    known = {"pairs": missed, "family": {name: outcomes[name] for name in MODELLED}}
    return ComparedToss(outcomes, 4, 1, waits, known)


def _as_tossed(ball: Ball, *, seed: int) -> ContactDraws:
    """The family's answer, in its place: what the ball is."""
    return ball.nature.rows(torch.zeros(20, dtype=torch.long))


def test_means_over_the_balls_weigh_each_ball_alike() -> None:
    touched = dict.fromkeys(CONTROLLERS, "success")
    result = study.summarise({"one": [_compared(touched)] * 3, "two": [_compared({})]})
    assert result["balls"]["one"]["belief"]["success"] == 1.0
    assert result["balls"]["two"]["belief"]["success"] == 0.0
    assert result["mean"]["belief"]["success"] == 0.5
    assert result["outlier_rate"] == {"one": 0.25, "two": 0.25, "mean": 0.25}


def test_a_ball_that_was_never_touched_says_nothing_of_the_energy_of_touches() -> None:
    touched = dict.fromkeys(CONTROLLERS, "success")
    both = study.summarise({"one": [_compared(touched)] * 3, "two": [_compared({})] * 3})
    assert both["balls"]["two"]["belief"]["energy_successes"] is None
    assert both["mean"]["belief"]["energy_successes"] == pytest.approx(0.1)
    none = study.summarise({"one": [_compared({})], "two": [_compared({})]})
    assert none["mean"]["belief"]["energy_successes"] is None
    heights = [bar.get_height() for bar in deflection_figures.shares(both["balls"]).axes[1].patches]
    assert np.isnan(heights).sum() == len(CONTROLLERS)


def test_latencies_are_in_milliseconds_by_controller_and_together() -> None:
    result = study.latencies([_compared({}, wait=0.010)] * 50)
    assert result["belief"]["median"] == pytest.approx(15.0)
    assert result["p99"] == pytest.approx(20.0)


def test_models_are_compared_on_the_tosses_within_reach() -> None:
    """Of four the family touches two, pairs none; a fifth was out of reach."""
    tosses = [_compared({"belief": kind}) for kind in ("success", "missed", "success", "missed")]
    away = _compared({"belief": "boundaries"})
    away.by_model["pairs"]["belief"] = away.outcomes["belief"]
    row = study.by_model({"one": [*tosses, away]})["one"]["belief"]
    assert row["tosses"] == 4 and row["pairs"]["success"] == 0.0
    assert row["family"]["success"] == 0.5 and row["family"]["error"] == pytest.approx(0.25)
    assert row["gain"] == {"success": 0.5, "error": pytest.approx(0.25)}


@pytest.mark.slow
def test_a_session_of_a_real_ball_brings_pairs_about_what_it_does_at_its_speed() -> None:
    """Drops of 0.26 m reach 2.2 m/s; the air takes k u^2 / (2 g) = 3 % of the way up and down."""
    draws = ball_models.of_pairs(REAL_PING_PONG, drops=8, seed=1)
    speed = torch.tensor(2.1, dtype=torch.float64)
    at = float(REAL_PING_PONG.nature.restitution(speed))
    assert at - 0.05 < float(draws.contact.restitution.mean()) < at


@pytest.mark.proof
@pytest.mark.slow
def test_the_study_at_small_size_counts_every_toss_and_draws(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(ball_models, "of_family", _as_tossed)
    loaded = catalogue.load_settings(None, ["toss.tosses=2", "study.drops=8"])
    result = study.run(StudyRequest(loaded, tmp_path, no_progress))
    for rows in result["balls"].values():
        assert set(rows) == set(CONTROLLERS)
        bounds = {row["counts"]["boundaries"] for row in rows.values()}
        assert len(bounds) == 1  # a property of the toss
        assert all(sum(row["counts"][kind] for kind in KINDS) == 2 for row in rows.values())
        assert rows["stay"]["energy"] < 1e-6
    assert set(result["models"]) == set(ball_models.TOSSED)
    for rows in result["models"].values():
        assert all(row["tosses"] == 0 or set(row) >= {"pairs", "family"} for row in rows.values())
    for name in ("figure-7", "figure-13", "figure-14"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.proof
def test_a_toss_depends_on_its_number_alone(monkeypatch) -> None:
    monkeypatch.setattr(ball_models, "of_family", _as_tossed)
    loaded = catalogue.load_settings(None, ["study.drops=8"])
    model = study._calibrated("tennis", loaded, 1)
    one, again, other = (
        study.compare(Job("tennis", number, loaded, model)) for number in (4, 4, 5)
    )
    assert one.outcomes == again.outcomes
    assert one.outcomes["belief"].distance != other.outcomes["belief"].distance
    clear = loaded.changed(Tosses, occlusion=0.0)
    assert study.compare(Job("tennis", 4, clear, model)).outliers <= one.outliers
    assert np.isfinite(one.outcomes["belief"].energy)
    high = loaded.changed(Tosses, home=[0.0, 0.5])
    assert study.compare(Job("tennis", 4, high, model)).outcomes["stay"].distance > 0.3
