"""The paddle's place against closed forms: energies, sure crossings, and symmetries."""

import numpy as np
import pytest
from scipy import integrate

from ricochet.models.systems.bouncing_ball.tracking import paddle_placement
from ricochet.models.systems.bouncing_ball.tracking.paddle_placement import (
    LEAST_JERK,
    Choice,
    Crossings,
    Reach,
)

BOUNDS = ((-0.35, 0.35), (0.0, 0.5))
HERE = (0.0, 0.2)
REACH = Reach(speed=1.0, acceleration=8.0)
TOUCH = 0.08


def sure(
    points: list[tuple[float, float]], *, wait: float, event: float = 0.3, soon: bool = True
) -> Crossings:
    count = len(points)
    return Crossings(
        np.array(points), np.full(count, wait), np.full(count, soon), np.full(count, event), 1.0
    )


def choose(
    crossings: Crossings, *, price: float = 10.0, here: tuple[float, float] = HERE
) -> Choice:
    return paddle_placement.choose(
        crossings, here, touch=TOUCH, price=price, reach=REACH, bounds=BOUNDS
    )


def test_a_motion_of_least_jerk_costs_what_the_integral_says_and_takes_its_least_time() -> None:
    distance, time = 0.3, 0.5
    speed = lambda t: 30.0 * distance / time * (t / time) ** 2 * (1.0 - t / time) ** 2  # noqa: E731
    energy, _ = integrate.quad(lambda t: 0.5 * speed(t) ** 2, 0.0, time)
    assert energy == pytest.approx(LEAST_JERK * distance**2 / time)
    t = np.linspace(0.0, time, 20_001)
    fastest, strongest = speed(t).max(), np.abs(np.gradient(speed(t), t)).max()
    assert paddle_placement.least_time(np.array(distance), Reach(fastest, 1e3)) == pytest.approx(
        time
    )
    # The gradient of 20,001 samples is off by less than 1e-4.
    slow = paddle_placement.least_time(np.array(distance), Reach(1e3, strongest))
    assert slow == pytest.approx(time, rel=1e-3)


def test_a_sure_crossing_is_met_with_the_rim_on_the_straight_way() -> None:
    """The nearest place that touches lies on the line to the crossing, `touch` before it."""
    choice = choose(sure([(0.3, 0.2)], wait=0.6))
    # The fine grid's cells are (0.3 / 8) / 3 wide.
    assert 0.3 - TOUCH <= choice.point[0] + 1e-9 <= 0.3 - TOUCH + 0.3 / 24 + 1e-9
    assert choice.point[1] == pytest.approx(0.2)
    assert choice.touched == 1.0 and choice.duration == pytest.approx(0.6)


def test_a_ball_that_comes_to_the_paddle_moves_nothing() -> None:
    choice = choose(sure([(0.05, 0.22), (-0.03, 0.18)], wait=0.4))
    np.testing.assert_allclose(choice.point, HERE)


def test_a_touch_that_is_not_worth_its_energy_is_not_sought() -> None:
    cost = LEAST_JERK * 0.22**2 / 0.6
    near = choose(sure([(0.3, 0.2)], wait=0.6), price=0.9 * cost)
    np.testing.assert_allclose(near.point, HERE)
    assert choose(sure([(0.3, 0.2)], wait=0.6), price=1.2 * cost).point[0] > 0.2


def test_a_crossing_that_comes_later_is_approached_at_constant_pace() -> None:
    """Energy D^2 / T in two pieces is least where the way is cut in proportion to time."""
    choice = choose(sure([(0.3, 0.2)], wait=0.8, event=0.4, soon=False))
    assert choice.duration == pytest.approx(0.4)
    assert choice.point[0] == pytest.approx(0.5 * (0.3 - TOUCH), abs=0.3 / 36)


def test_of_two_places_the_likelier_is_waited_at() -> None:
    points = [(0.2, 0.2)] * 70 + [(-0.2, 0.2)] * 30
    choice = choose(sure(points, wait=0.5))
    assert choice.point[0] > 0.1 and choice.touched == pytest.approx(0.7)


def test_what_the_arm_cannot_reach_is_not_gone_for() -> None:
    """0.3 m in 0.1 s: no price makes it possible."""
    choice = choose(sure([(0.34, 0.2)], wait=0.1), price=100.0)
    np.testing.assert_allclose(choice.point, HERE)


def test_mirrored_crossings_give_the_mirrored_place() -> None:
    draw = np.random.default_rng(0)
    points = draw.normal((0.15, 0.2), (0.08, 0.05), (200, 2))
    one = Crossings(points, np.full(200, 0.5), np.arange(200) % 2 == 0, np.full(200, 0.3), 0.9)
    sign = np.array([-1.0, 1.0])
    other = Crossings(points * sign, one.wait, one.soon, one.event, 0.9)
    here, mirrored = choose(one, here=(0.05, 0.2)), choose(other, here=(-0.05, 0.2))
    np.testing.assert_allclose(mirrored.point, here.point * sign, atol=1e-9)


def test_the_order_of_samples_does_not_matter_and_targets_stay_in_bounds() -> None:
    draw = np.random.default_rng(1)
    points = draw.normal((0.36, 0.0), 0.05, (100, 2))
    one = Crossings(points, np.full(100, 0.9), np.full(100, True), np.full(100, 1.0), 1.0)
    turned = Crossings(points[::-1], one.wait, one.soon, one.event, 1.0)
    choice = choose(one)
    np.testing.assert_allclose(choose(turned).point, choice.point)
    low, high = np.array(BOUNDS).T
    assert (choice.point >= low).all() and (choice.point <= high).all()
