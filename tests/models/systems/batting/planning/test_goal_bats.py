"""Bats to the goal: a known object is brought there; a polish never makes it worse; clusters."""

import numpy as np
import pytest

from ricochet.models.systems.batting.planning import goal_bats, swings
from ricochet.models.systems.batting.planning.goal_bats import Swing
from ricochet.models.systems.batting.planning.swings import Scenarios
from tests.models.systems.batting import scenes

HORIZON = 8.0


def known(number: int) -> Scenarios:
    cloud = scenes.objects(10, 61)
    cloud.kinds[:] = 0
    cloud.states[:, 1] = np.maximum(cloud.states[:, 1], 3.0)
    return swings.repeated(cloud.states[number], 0, np.zeros(1, np.int64))


@pytest.mark.proof
def test_known_discs_without_noise_are_brought_to_the_goal_and_polish_never_worsens() -> None:
    distances = []
    for number in range(5):
        plain = goal_bats.nearest(known(number), 0.0, HORIZON, scenes.quiet(), polish=False)
        found = goal_bats.nearest(known(number), 0.0, HORIZON, scenes.quiet())
        assert plain is not None and found is not None
        assert found.value <= plain.value
        again = swings.evaluate(
            known(number),
            0.0,
            np.array([found.angle]),
            np.array([found.rate]),
            HORIZON,
            1.0,
            scenes.quiet(),
        )
        assert again.possible[0]
        assert np.sqrt(again.closest[0, 0]) == pytest.approx(found.value, abs=1e-9)
        np.testing.assert_array_equal(again.path(0).angles, found.path.angles)
        assert found.time == again.first[0, 0]
        distances.append(found.value)
    assert np.median(distances) < 0.1


def test_what_never_comes_to_the_bat_is_not_batted() -> None:
    state = np.array([5.0, 9.0, 0.0, 0.0, 0.0, 0.0])
    scenario = swings.repeated(state, 0, np.zeros(1, np.int64))
    assert goal_bats.nearest(scenario, 0.0, 1.0, scenes.quiet()) is None
    assert goal_bats.likeliest_best(scenario, 0.0, 1.0, scenes.quiet()) is None


def test_without_noise_the_likeliest_best_is_the_nearest() -> None:
    scenario = swings.repeated(known(0).states[0], 0, np.arange(3))
    found = goal_bats.likeliest_best(scenario, 0.0, HORIZON, scenes.quiet())
    best = goal_bats.without_impact_noise(scenario, 0.0, HORIZON, scenes.noisy())
    assert found is not None and best is not None
    assert (found.angle, found.rate) == pytest.approx((best.angle, best.rate), abs=1e-12)


def test_equation_12_takes_the_densest_cluster_and_not_the_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three optima near one swing and two near another: the mean of five is near neither."""
    path = goal_bats.nearest(known(0), 0.0, HORIZON, scenes.quiet(), polish=False)
    assert path is not None
    optima = iter([(-0.2, -0.3), (0.2, 0.3), (0.21, 0.31), (-0.2, -0.31), (0.19, 0.29)])

    def made_up(*arguments: object) -> Swing:
        angle, rate = next(optima)
        return Swing(path.path, angle, rate, 1.0, 0.0)

    monkeypatch.setattr(goal_bats, "nearest", made_up)
    scenarios = swings.repeated(known(0).states[0], 0, np.arange(5))
    found = goal_bats.likeliest_best(scenarios, 0.0, HORIZON, scenes.quiet())
    assert found is not None
    assert (found.angle, found.rate) == pytest.approx((0.2, 0.3), abs=1e-9)
