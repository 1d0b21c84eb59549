"""The cup as it is set up, and how often its predictions hold."""

import math
from dataclasses import fields

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.prediction import cup_success
from ricochet.models.systems.bouncing_ball.problem import PRIOR


def _draw(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _pairs(theta: np.ndarray) -> ContactDraws:
    return contact_draws.of_pairs(torch.from_numpy(theta))


def test_the_setting_has_the_paper_s_numbers() -> None:
    assert math.degrees(cup_success.SCENE.tilt) == pytest.approx(10.72)
    assert cup_success.SCENE.cup_distance == pytest.approx(0.21844)  # 8.6 inches
    assert all(
        math.isfinite(getattr(cup_success.SCENE, field.name)) for field in fields(cup_success.SCENE)
    )


def test_the_grid_lies_on_the_incline_and_its_middle_row_before_the_cup() -> None:
    places = cup_success.positions()
    assert places.shape == (21, 33, 2) and places[0, 0, 0] == pytest.approx(-0.34)
    assert (places[..., 0] > -cup_success.SCENE.length * math.cos(cup_success.SCENE.tilt)).all()
    assert (np.abs(places[..., 1]) < cup_success.SCENE.width / 2).all()
    assert (places[10, :, 1] == 0.0).all()
    np.testing.assert_allclose(np.diff(places, axis=1)[..., 0], 0.01)


@pytest.mark.parametrize("name", BALLS)
def test_every_ball_has_a_place_on_the_grid_that_never_misses_without_noise(name: str) -> None:
    ball, places = BALLS[name], cup_success.positions()
    drop = cup_success.aim(ball.restitution, ball_radius=ball.radius)
    assert places[0, 0, 0] < drop[0] < places[0, -1, 0]
    assert (
        cup_success.deterministic(ball.restitution, drop, ball_radius=ball.radius)
        == cup_success.TRIALS
    )
    plain = cup_success.deterministic(ball.restitution, places, ball_radius=ball.radius)
    assert set(np.unique(plain)) == {0, cup_success.TRIALS}
    assert plain[::-1].tolist() == plain.tolist()  # its mirror image


@pytest.mark.parametrize("name", BALLS)
def test_six_bounces_are_all_that_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Followed for twelve bounces no ball of 18,700 that missed comes in (the draws are shared)."""
    ball = BALLS[name]
    arguments = {"ball_radius": ball.radius}
    six = cup_success.count(ball.nature, cup_success.positions(0.02), **arguments, draw=_draw(1))
    monkeypatch.setattr(cup_success, "_BOUNCES", 12)
    twelve = cup_success.count(ball.nature, cup_success.positions(0.02), **arguments, draw=_draw(1))
    assert six.sum() > 0 and np.array_equal(six, twelve)


def test_prediction_at_many_places_has_the_law_of_each_alone() -> None:
    """Other random numbers, the same chances: 30 x 100 drops a place, four standard errors."""
    draws = _pairs(np.tile([0.85, 3.5], (30, 1)))
    drops = np.array([[-0.187, 0.0], [-0.15, 0.03], [-0.22, -0.02]])
    together = cup_success.predict(draws, drops, ball_radius=0.02, draw=_draw(2)).mean
    for place, mean in zip(drops, together, strict=True):
        alone = float(cup_success.predict(draws, place, ball_radius=0.02, draw=_draw(3)).mean)
        pooled = np.clip((alone + mean) / 200, 0.01, 0.99)
        assert abs(alone - mean) < 4 * 100 * math.sqrt(2 * pooled * (1 - pooled) / 3000)


def test_a_less_certain_posterior_predicts_with_a_wider_interval() -> None:
    noise = np.random.default_rng(4).standard_normal((30, 2))
    narrow, wide = (np.array([0.85, 3.5]) + noise * s for s in ((1e-4, 0.02), (0.01, 0.5)))
    drop = np.array([-0.15, 0.0])
    widths = []
    for theta in (narrow, wide):
        found = cup_success.predict(_pairs(theta), drop, ball_radius=0.02, draw=_draw(5)).interval
        widths.append(int(found.high - found.low))
    assert widths[1] > 1.5 * widths[0]


@pytest.mark.slow
def test_a_real_ball_is_predicted_by_its_nature_and_not_by_a_pair() -> None:
    """35 places, exact knowledge: counts and predictions are of one law, so each interval holds at
    least 90 %: four standard errors below are 24. The pair is that of its restitution at 2 m/s."""
    ball, places = REAL_PING_PONG, cup_success.positions(0.05)
    known = ball.nature.rows(torch.zeros(30, dtype=torch.long))
    counted = cup_success.count(ball.nature, places, ball_radius=ball.radius, draw=_draw(8))
    held = []
    for draws in (known, _pairs(np.tile(ball.theta, (30, 1)))):
        found = cup_success.predict(draws, places, ball_radius=ball.radius, draw=_draw(9))
        held.append(int(found.holds(counted).sum()))
    assert counted.size == 35 and counted.max() > 50
    assert held[0] >= 24 and held[0] > held[1] + 3


@pytest.mark.proof
def test_intervals_hold_the_truth_s_count_as_often_as_they_say() -> None:
    """200 truths and their posteriors' draws, exchangeable by construction; one place each."""
    draw, torch_draw = np.random.default_rng(6), _draw(7)
    held, said = [], []
    for _ in range(200):
        centre, spread = draw.uniform([0.8, 2.5], [0.9, 4.0]), np.array([5e-3, 0.15])
        theta = np.clip(centre + spread * draw.standard_normal((31, 2)), PRIOR.low, PRIOR.high)
        drop = cup_success.aim(centre[0], ball_radius=0.02) + draw.uniform(-0.05, 0.05, 2)
        found = cup_success.predict(_pairs(theta[:30]), drop, ball_radius=0.02, draw=torch_draw)
        counted = cup_success.count(_pairs(theta[30:]), drop, ball_radius=0.02, draw=torch_draw)
        held.append(bool(found.holds(counted)))
        said.append(float(found.interval.content))
    # Three standard errors of 200 at 0.93 are 0.054; chances are not quite Beta distributed: 0.02.
    assert abs(np.mean(held) - np.mean(said)) < 0.075
    assert np.mean(held) > 0.85
