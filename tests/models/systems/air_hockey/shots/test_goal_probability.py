"""Chances of a goal: against brute force, Monte Carlo, and each law alone."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.puck.dynamics import Rebound
from ricochet.models.systems.air_hockey.shots import goal_probability, objective
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes, shot_draws
from tests.oracles.hockey_modes import CONDITIONS, MODES
from tests.oracles.launched_pucks import SPREAD, crossing, launched, spreads

TABLE = Table()


def test_monte_carlo_of_the_crossing_scatters_about_the_closed_form():
    """Eq. 11 with 20,000 draws: the largest of 200 errors in its standard errors is below 4.5."""
    found = crossing(MODES, launched(200), spreads(200))
    exact = goal_probability.probability(found, TABLE)
    count, draw = 20_000, np.random.default_rng(1)
    share = shot_draws.goal_share(found, TABLE, samples=count, draw=draw)
    error = np.sqrt(exact * (1.0 - exact) / count) + 1.0 / count
    assert (np.abs(share - exact) < 4.5 * error).all()
    assert np.count_nonzero((exact > 0.05) & (exact < 0.95)) > 20


@pytest.mark.parametrize(
    ("angle", "banks", "slack"),
    [(0.05, 0, 0.0), (-0.02, 0, 0.0), (0.62, 1, 0.01), (-0.72, 1, 0.01)],
)
def test_closed_form_agrees_with_brute_force(angle: float, banks: int, slack: float):
    """8,000 draws of the shot: three standard errors, and `slack` for what is not linear."""
    count, state = 8_000, np.array([-0.45, -0.05, 0.05, 0.0, 0.02, -0.03])
    if banks:
        state[1] = -0.05 * np.sign(angle)
    exact = objective.evaluate(CONDITIONS, state, np.array(angle))
    draws = shot_draws.play(CONDITIONS, state, angle, samples=count, draw=np.random.default_rng(2))
    assert exact.banks == banks
    assert np.median(draws.banks) == banks
    error = np.sqrt(exact.goal * (1.0 - exact.goal) / count)
    assert abs(draws.goal.mean() - exact.goal) < 3.0 * error + slack
    assert 0.1 < exact.goal < 0.999
    np.testing.assert_allclose(np.nanmedian(draws.speed), exact.speed, rtol=0.03)


@pytest.mark.parametrize("angle", [0.58, 0.62, 0.66, -0.7])
def test_the_rebounds_of_a_bank_agree_with_brute_force(angle: float):
    """As above, of a first bank that is unusual one time in five; 0.01 for what is not linear."""
    count, state = 8_000, np.array([-0.45, -0.05 * np.sign(angle), 0.05, 0.0, 0.02, -0.03])
    two_ways = replace(CONDITIONS, modes=hockey_modes.TWO_WAYS)
    exact = objective.evaluate(two_ways, state, np.array(angle))
    draws = shot_draws.play(two_ways, state, angle, samples=count, draw=np.random.default_rng(3))
    assert exact.banks == 1
    error = np.sqrt(exact.goal * (1.0 - exact.goal) / count)
    assert abs(draws.goal.mean() - exact.goal) < 3.0 * error + 0.01
    assert 0.1 < exact.goal < 0.999


def test_one_law_in_two_shares_is_one_law():
    """Shares add up, and one law is the plain roll-out."""
    states, spread = launched(300), spreads(300)
    once, twice = (
        goal_probability.predict(
            replace(MODES, rebounds=tuple(Rebound(a, MODES.wall) for a in shares)),
            states, spread, TABLE,
        )
        for shares in ((1.0,), (0.7, 0.3))
    )  # fmt: skip
    plain = crossing(MODES, states, spread)
    np.testing.assert_allclose(twice[0], once[0], atol=1e-12)
    np.testing.assert_allclose(once[0], goal_probability.probability(plain, TABLE), atol=1e-12)
    np.testing.assert_array_equal(once[1].banks, plain.banks)


def test_only_banked_shots_depend_on_the_rebounds():
    """Direct shots are as before; of the banked, the unusual law takes from those usually sure."""
    states, spread = launched(400), spreads(400)
    usual = (Rebound(1.0, hockey_modes.USUAL),)
    one, two = (
        goal_probability.predict(replace(MODES, rebounds=laws), states, spread, TABLE)
        for laws in (usual, hockey_modes.TWO_WAYS.rebounds)
    )
    direct = one[1].banks == 0
    np.testing.assert_array_equal(one[0][direct], two[0][direct])
    sure = ~direct & (one[0] > 0.9)
    assert sure.sum() > 5
    assert (two[0][sure] < one[0][sure]).all()
    assert (two[0][~direct] >= 0.8 * one[0][~direct] - 1e-12).all()


def test_more_uncertainty_makes_a_shot_at_the_middle_less_sure():
    state = np.array([-0.4, 0.0, 2.0, 0.0, 0.0, 0.0])
    sure = [
        goal_probability.probability(crossing(MODES, state[None], share * SPREAD[None]), TABLE)[0]
        for share in (0.25, 1.0, 4.0, 16.0)
    ]
    assert sure == sorted(sure, reverse=True)
    assert sure[0] > 0.99 > sure[-1]


@pytest.mark.parametrize(
    "state",
    [
        [-0.4, 0.0, 0.3, 0.0, 0.0, 0.0],  # 0.3 m/s carry 0.6 m
        [-0.4, 0.0, -1.0, 0.0, 0.0, 0.0],
        [-0.4, 0.0, 0.2, 5.0, 0.0, 0.0],  # many banks
    ],
)
def test_a_puck_that_never_arrives_scores_no_goal(state: list[float]):
    found = crossing(MODES, np.array([state]), SPREAD[None])
    assert not found.arrives
    assert goal_probability.probability(found, TABLE) == 0.0


def test_a_post_is_nearer_to_a_puck_that_comes_at_an_angle():
    """A puck's edge passes a post at distance (mouth - y) cos(angle) from its centre's path."""
    angle = np.array([0.0, 0.5, 1.0, -1.0])
    velocity = 2.0 * np.column_stack((np.cos(angle), np.sin(angle)))
    half = goal_probability.clean_half_width(velocity, TABLE)
    gap = (TABLE.goal_half_width - half) * np.cos(angle)
    assert half[0] == TABLE.clean_half_width
    np.testing.assert_allclose(gap[1:], TABLE.puck_radius)


def test_what_goes_together_up_to_the_first_bank_is_as_if_each_law_were_rolled_out_alone():
    states, spread = launched(400), spreads(400)
    modes = hockey_modes.TWO_WAYS
    kinds = modes.rebounds
    goal, usual = goal_probability.predict(modes, states, spread, TABLE)
    alone = [crossing(modes, states, spread, first=k.law) for k in kinds]
    chances = [goal_probability.probability(each, TABLE) for each in alone]
    mixed = sum(kind.share * chance for kind, chance in zip(kinds, chances, strict=True))
    banked = alone[0].banks > 0
    assert banked.sum() > 100 and (mixed[banked] > 0.1).sum() > 10
    np.testing.assert_allclose(goal, np.where(banked, mixed, chances[0]), atol=1e-12)
    for name, part in vars(usual).items():
        np.testing.assert_allclose(part, getattr(alone[0], name), atol=1e-12, err_msg=name)


def test_means_alone_say_which_shots_may_be_likely():
    """None is left out that has one half, and most that have less are."""
    states, spread = launched(1000, seed=3), spreads(1000)
    for share in (0.1, 1.0, 3.0):
        goal, _ = goal_probability.predict(hockey_modes.TWO_WAYS, states, share * spread, TABLE)
        kept = goal_probability.may_be_likely(hockey_modes.TWO_WAYS, states, TABLE)
        assert kept[goal >= 0.5].all() and (goal >= 0.5).sum() > 10
        assert kept.mean() < 0.4
