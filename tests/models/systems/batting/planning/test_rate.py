"""Most passes a second: the expected rate beside fresh noise, and the formula by hand."""

import numpy as np
import pytest

from ricochet.models.systems.batting.planning import rate, swings
from ricochet.models.systems.batting.world import World, paper_world
from tests.models.systems.batting import scenes

STATE = np.array([4.0, 5.0, 0.3, 0.5, 0.2, 0.4])
DELTA = 0.15


def swing_again(angle: float, turning: float, count: int, world: World) -> swings.Swings:
    scenarios = swings.repeated(STATE, 0, 11 * np.arange(count))
    return swings.evaluate(
        scenarios, 0.0, np.array([angle]), np.array([turning]), 8.0, DELTA, world
    )


@pytest.mark.proof
def test_rates_are_passes_and_guide_over_time() -> None:
    tried = swing_again(0.1, 0.2, 50, scenes.noisy())
    guide = np.mean([0.02 * np.exp(-near / (2 * 0.3**2)) for near in tried.closest[0]])
    expected = (tried.passes[0].mean() + guide) / (tried.second[0].mean() + 0.2)
    assert rate.worth(tried, 0.02)[0] == pytest.approx(expected, rel=1e-12)
    impossible = tried._replace(possible=np.zeros(1, bool))
    assert rate.worth(impossible, 0.02)[0] == -np.inf


def test_the_expected_rate_of_a_swing_is_that_under_other_noise() -> None:
    """Two means of 400: a ratio P / T errs by sd(P - r T) / (mean T sqrt(400)); three of both."""
    one = swing_again(0.1, 0.2, 400, scenes.noisy())
    other = swing_again(0.1, 0.2, 400, paper_world(np.random.default_rng(77), 2**14))
    rates = [rate.worth(tried, 0.02)[0] for tried in (one, other)]
    errors = []
    for tried, found in zip((one, other), rates, strict=True):
        gain = tried.passes[0] + rate.GUIDE * np.exp(-tried.closest[0] / (2 * 0.3**2))
        off = gain - found * (tried.second[0] + rate.LOST_TIME)
        errors.append(off.std() / (tried.second[0].mean() + rate.LOST_TIME) / np.sqrt(400))
    assert errors[0] > 0.0
    assert abs(rates[0] - rates[1]) < 3.0 * np.hypot(*errors)


def test_the_chosen_swing_is_the_best_of_the_grid_at_least() -> None:
    scenarios = swings.repeated(STATE, 0, 7 * np.arange(rate.FIRST_LOOK))
    found = rate.most_passes(scenarios, 0.0, 8.0, DELTA, scenes.noisy())
    tried = swings.evaluate(scenarios, 0.0, *swings.grid(), 8.0, DELTA, scenes.noisy())
    assert found is not None and found.value >= rate.worth(tried, 0.02).max() - 1e-12
    again = swings.evaluate(
        scenarios, 0.0, np.array([found.angle]), np.array([found.rate]), 8.0, DELTA, scenes.noisy()
    )
    assert rate.worth(again, 0.02)[0] == pytest.approx(found.value, rel=1e-9)


def test_nothing_is_planned_where_nothing_can_be_struck() -> None:
    state = np.array([5.0, 9.0, 0.0, 0.0, 0.0, 0.0])
    scenarios = swings.repeated(state, 0, np.arange(3))
    assert rate.most_passes(scenarios, 0.0, 1.0, DELTA, scenes.noisy()) is None


def test_a_look_gives_up_half_of_the_passes_that_it_could_have() -> None:
    scenarios = swings.repeated(STATE, 0, np.arange(4))
    angles, rates = np.array([0.0, 0.1, 0.2]), np.array([0.2, 0.2, 0.2])
    tried = swings.evaluate(scenarios, 0.0, angles, rates, 8.0, DELTA, scenes.noisy())
    passes = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]], float)
    tried = tried._replace(passes=passes, second=np.ones((3, 4)), possible=np.ones(3, bool))
    assert [rate.is_look(tried, row) for row in range(3)] == [False, True, False]
    without_the_best = tried._replace(possible=np.array([False, True, True]))
    assert [rate.is_look(without_the_best, row) for row in (1, 2)] == [False, False]


def test_where_nothing_can_pass_a_swing_is_a_look_unless_the_state_is_known() -> None:
    known = swings.repeated(STATE, 0, 7 * np.arange(rate.FIRST_LOOK))
    found = rate.most_passes(known, 0.0, 8.0, 1e-9, scenes.noisy())
    assert found is not None and not found.look
    cloud = scenes.objects(24, 5)
    scattered = swings.Scenarios(cloud.states, cloud.kinds, np.arange(24))
    found = rate.most_passes(scattered, 0.0, 8.0, 1e-9, scenes.noisy())
    assert found is not None and found.look
