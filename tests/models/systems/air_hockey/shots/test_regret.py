"""Regret and agreement, by hand and with an energy that knows."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.shots import objective, regret
from ricochet.models.systems.air_hockey.shots.objective import SETTINGS, Shots
from tests.models.systems.air_hockey.shots.test_energy_search import valleys
from tests.oracles.hockey_modes import CONDITIONS


def outcomes(goal: list, speed: list, banks: list) -> Shots:
    return Shots(np.array(goal), np.array(speed), np.array(banks), 0.0 * np.array(goal))


def test_regret_and_agreement_of_three_states_by_hand():
    """Balanced, 1 G + 0.2 v: a shot lost, one of another mode, one that breaks the constraint."""
    candidates = outcomes(
        [[0.9, 0.6], [0.8, 0.5], [0.7, 0.3], [0.1, 0.2]],
        [[1.0, 3.0], [1.0, 1.0], [2.0, 2.0], [1.0, 1.0]],
        [[0, 3], [0, 1], [1, 1], [0, 0]],
    )
    found = outcomes([0.55, 0.5, 0.4, 0.2], [3.0, 1.0, 2.0, 1.0], [2, 1, 1, 0])
    check = regret.compare(SETTINGS[1], found, candidates)
    assert check.states == 3  # the last has no shot within the constraint
    assert check.regret == pytest.approx(((1.2 - 1.15) + (1.0 - 0.7) + (1.1 - 0.0)) / 3)
    assert check.optimum_regret == pytest.approx(check.regret)
    regrets = np.array((0.05, 0.3, 1.1))
    assert check.regret_error == pytest.approx(regrets.std() / np.sqrt(3))
    assert check.best == pytest.approx((1.2 + 1.0 + 1.1) / 3)
    assert check.kept == pytest.approx(2 / 3)
    assert check.agreement == pytest.approx(2 / 3)
    assert check.goal == pytest.approx((0.55 + 0.5 + 0.4) / 3)


def test_what_the_rule_gives_up_is_no_regret_of_the_energy():
    """Aggressive: the surer shot 0.04 m/s slower is taken, one 0.06 m/s slower is not."""
    candidates = outcomes([[0.6, 0.9, 0.95]], [[2.0, 1.96, 1.94]], [[1, 0, 0]])
    for speed, lost in ((1.96, 0.0), (2.0, 0.0), (1.94, 0.02)):
        check = regret.compare(SETTINGS[2], outcomes([0.9], [speed], [0]), candidates)
        assert check.best == 1.96
        assert check.regret == pytest.approx(lost)
        assert check.optimum_regret == pytest.approx(2.0 - speed)


def test_the_best_candidates_themselves_have_no_regret():
    draw = np.random.default_rng(0)
    states = objective.draw_states(20, airflow_sd=0.07, draw=draw)
    candidates = objective.exhaustive(CONDITIONS, states, objective.draw_angles(20, 60, draw=draw))
    for setting in SETTINGS:
        best = objective.take(candidates, objective.best(setting, candidates))
        check = regret.compare(setting, best, candidates)
        assert (check.agreement, check.kept) == (1.0, 1.0)
        assert check.regret == 0.0
        assert np.isnan(check.regret_apart)
        assert check.goal_regret == 0.0


def test_the_angles_of_the_energy_are_what_is_checked():
    """Its valley is at u = y: that shot's outcome must be what is checked."""
    draw = np.random.default_rng(1)
    states = objective.draw_states(15, airflow_sd=0.07, draw=draw)
    candidates = objective.exhaustive(CONDITIONS, states, objective.draw_angles(15, 60, draw=draw))
    check = regret.check(
        valleys(), SETTINGS[0], CONDITIONS, states, candidates, draw=np.random.default_rng(2)
    )
    there = objective.evaluate(CONDITIONS, states, states[:, 1])
    possible = (candidates.goal >= 0.5).any(1)
    assert check.goal == pytest.approx(there.goal[possible].mean(), abs=0.01)
    assert check.regret > 0.05


def test_states_without_a_shot_are_refused():
    none = outcomes([[0.1, 0.2]], [[1.0, 1.0]], [[0, 0]])
    with pytest.raises(ValueError, match="no state"):
        regret.compare(SETTINGS[0], outcomes([0.1], [1.0], [0]), none)
