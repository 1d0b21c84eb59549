"""Criticism of a session: silent about clean ones, and it names each planted fault."""

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball.calibration import criticism as ball_criticism
from ricochet.models.systems.bouncing_ball.calibration.calibrate import MeasuredDrops
from ricochet.models.systems.bouncing_ball.calibration.criticism import Criticism
from tests.oracles.planted_sessions import PING_PONG, session


def _criticise(
    drops: MeasuredDrops, theta: tuple[float, float] = PING_PONG, seed: int = 1
) -> Criticism:
    """Criticise with the truth as a sharp posterior, so that no inference is needed."""
    spread = np.random.default_rng(seed).normal(size=(100, 2)) * [2e-4, 0.05]
    return ball_criticism.criticise(
        drops.features,
        drops.noise,
        drops.release,
        np.array(theta) + spread,
        later_times=drops.later_times,
        draw=torch.Generator().manual_seed(seed),
    )


def _named(criticism: Criticism) -> set[str]:
    return {finding.name for finding in criticism.findings}


def test_a_clean_session_gives_rise_to_nothing() -> None:
    found = _criticise(session(PING_PONG, 12, 3, bounces=6))
    assert found.findings == () and not found.odd_takes.any()
    assert found.predictive_p_value > 0.01
    assert found.take_p_values.shape == (12,) and (found.take_p_values > 0).all()


def test_a_ball_that_warms_up_is_reported_as_a_drift_of_the_session() -> None:
    theta = torch.stack([torch.linspace(0.83, 0.87, 14), torch.full((14,), 3.0)], dim=-1)
    found = _criticise(session(theta, 14, 4))
    [finding] = [each for each in found.findings if each.name == "session"]
    assert finding.p_value < 1e-3 and "drifts over the session" in finding.sentence


def test_two_balls_in_one_session_are_reported_as_two_groups() -> None:
    theta = torch.tensor([[0.83, 3.0], [0.87, 3.0]]).repeat(7, 1)
    found = _criticise(session(theta, 14, 5))
    [finding] = [each for each in found.findings if each.name == "object"]
    assert "two groups" in finding.sentence
    assert "session" not in _named(found)  # they alternate: no drift


def test_restitution_that_varies_without_groups_is_not_called_groups() -> None:
    draw = torch.Generator().manual_seed(6)
    restitution = 0.85 + 0.012 * torch.randn(16, generator=draw)
    theta = torch.stack([restitution, torch.full((16,), 3.0)], dim=-1)
    found = _criticise(session(theta, 16, 6))
    [finding] = [each for each in found.findings if each.name == "object"]
    assert "varies more" in finding.sentence


@pytest.mark.parametrize("drift, word", [(0.02, "rises"), (-0.02, "falls")])
def test_ratios_that_drift_along_the_flights_are_reported_with_their_sign(
    drift: float, word: str
) -> None:
    found = _criticise(session(PING_PONG, 8, 7, bounces=7, drift=drift))
    [finding] = [each for each in found.findings if each.name == "flight"]
    assert word in finding.sentence and finding.p_value <= 0.01


def test_takes_of_fewer_than_five_bounces_say_nothing_of_flights() -> None:
    found = _criticise(session(PING_PONG, 8, 7, bounces=4, drift=0.3))
    assert "flight" not in _named(found)


def test_a_take_of_another_ball_is_odd_and_the_others_are_not() -> None:
    theta = torch.tensor(PING_PONG).repeat(10, 1)
    theta[4] = torch.tensor([0.7, 3.0])
    found = _criticise(session(theta, 10, 8))
    assert np.flatnonzero(found.odd_takes).tolist() == [4]
    assert found.take_p_values[4] == found.take_p_values.min()


def test_fewer_than_six_takes_give_no_verdict_on_the_session() -> None:
    theta = torch.stack([torch.linspace(0.7, 0.9, 5), torch.full((5,), 3.0)], dim=-1)
    assert _named(_criticise(session(theta, 5, 9))) == set()


def test_the_verdict_repeats_by_seed() -> None:
    drops = session(PING_PONG, 8, 10, bounces=6)
    first, second = _criticise(drops, seed=2), _criticise(drops, seed=2)
    np.testing.assert_array_equal(first.take_p_values, second.take_p_values)
    assert first.predictive_p_value == second.predictive_p_value


@pytest.mark.proof
@pytest.mark.slow
def test_predictive_chances_spread_over_the_unit_interval_and_false_alarms_are_rare() -> None:
    chances, alarms, odd = [], 0, 0
    for seed in range(60):
        found = _criticise(session(PING_PONG, 12, 100 + seed, bounces=6), seed=seed)
        chances.append(found.predictive_p_value)
        alarms += bool(found.findings)
        odd += bool(found.odd_takes.any())
    # The truth is known here, so that chances are uniform: mean 1/2 +- 3.3 / sqrt(12 x 60)
    assert abs(np.mean(chances) - 0.5) < 3.3 / np.sqrt(12 * 60)
    # a false alarm in 100 sessions: more than four of 60 is a chance of 4e-4
    assert alarms <= 4 and odd <= 4
