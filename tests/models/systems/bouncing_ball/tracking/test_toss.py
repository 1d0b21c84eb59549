"""A toss is the bouncing ball, moved to the hand and ended where the plane or the edge ends it."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG, Ball
from ricochet.models.systems.bouncing_ball.tracking import toss as ball_toss
from ricochet.models.systems.bouncing_ball.tracking.workspace import HALF_TABLE
from tests.oracles import drag_flights

STILL = Ball("still", 0.8, math.inf, 0.02)


def seeded(seed=1):
    return torch.Generator().manual_seed(seed)


def follow(place, velocity, ball=STILL, **options):
    place, velocity = (torch.tensor([each], dtype=torch.float64) for each in (place, velocity))
    return ball_toss.follow(ball, place, velocity, draw=seeded(), **options)[0]


def test_without_redraw_the_toss_has_the_closed_form_of_a_textbook():
    """Fall from 0.2 m at rest vertically: w = sqrt(2 g h), contacts after w / g, then 2 e^i w / g,
    and between them straight on at the speed of the hand."""
    toss = follow((-0.27, 0.02, 0.2), (0.6, 0.1, 0.0), release=0.5)
    w = math.sqrt(2 * GRAVITY * 0.2)
    flights = np.array([w / GRAVITY, *(2 * 0.8**i * w / GRAVITY for i in range(1, 9))])
    after = np.cumsum(flights)
    x = -0.27 + 0.6 * after
    count = int(np.sum(x < HALF_TABLE))
    assert len(toss.times) == count == 3
    np.testing.assert_allclose(toss.times, 0.5 + after[:count], rtol=1e-12)
    np.testing.assert_allclose(toss.positions[:, 0], x[:count], rtol=1e-12)
    np.testing.assert_allclose(toss.positions[:, 1], 0.02 + 0.1 * after[:count], rtol=1e-12)
    np.testing.assert_allclose(toss.entry_speeds, w * 0.8 ** np.arange(count), rtol=1e-12)
    crossing = (0.30 + 0.27) / 0.6
    since = crossing - after[count - 1]
    rise = w * 0.8**count
    assert toss.crossing_time == pytest.approx(0.5 + crossing, rel=1e-12)
    expected = [0.02 + 0.1 * crossing, rise * since - 0.5 * GRAVITY * since**2]
    np.testing.assert_allclose(toss.crossing, expected, rtol=1e-9)


def test_energy_falls_by_the_normal_part_alone():
    """At a contact |v'|^2 = |v|^2 - (1 - e^2) w^2 whatever the redraw, and a flight keeps it."""
    ball = BALLS["moon ball"]
    for toss in ball_toss.tosses(ball, 40, draw=seeded()):
        square = np.sum(toss.velocities**2, axis=1)
        lost = (1.0 - ball.restitution**2) * toss.entry_speeds[1:] ** 2
        np.testing.assert_allclose(square[1:], square[:-1] - lost, rtol=1e-9)


def test_a_flight_joins_each_contact_to_the_next():
    for toss in ball_toss.tosses(BALLS["tennis"], 40, draw=seeded()):
        wait = np.diff(toss.times)[:, None]
        np.testing.assert_allclose(
            np.diff(toss.positions[:, :2], axis=0), toss.velocities[:-1, :2] * wait, atol=1e-12
        )
        np.testing.assert_allclose(toss.velocities[:-1, 2], 0.5 * GRAVITY * wait[:, 0], rtol=1e-9)


def test_every_contact_is_on_the_table_and_before_the_crossing():
    for ball in BALLS.values():
        for toss in ball_toss.tosses(ball, 60, draw=seeded()):
            assert (np.abs(toss.positions[:, :2]) <= HALF_TABLE).all()
            assert (np.diff(toss.times) > 0).all() and (toss.times > 0.30).all()
            if toss.crossing_time is not None:
                assert toss.crossing_time > toss.times[-1]


def test_a_ball_over_the_side_is_lost_and_one_over_the_far_edge_falls_through_the_plane():
    aside = follow((-0.27, 0.15, 0.2), (0.3, 0.3, 0.0))
    assert aside.crossing is None and aside.crossing_time is None and len(aside.times) == 1
    # the second contact would be at 0.29, between the edge and the plane
    first = 0.52 / (math.sqrt(2 * 0.2 / GRAVITY) * 2.6)
    beyond = follow((-0.23, 0.0, 0.2), (first, 0.0, 0.0))
    assert len(beyond.times) == 1 and beyond.crossing[1] < 0.0
    assert follow((-0.27, 0.0, 0.2), (-0.3, 0.0, 0.0)).times.shape == (0,)


def test_a_ball_that_stays_on_the_table_never_crosses():
    toss = follow((0.0, 0.0, 0.2), (0.0, 0.0, 0.0))
    assert toss.crossing is None and len(toss.times) == ball_toss.MOST_BOUNCES


def test_turning_the_hand_to_the_other_side_mirrors_the_toss():
    left, right = (follow((-0.27, y, 0.2), (0.5, 2 * y, 0.1)) for y in (0.05, -0.05))
    np.testing.assert_allclose(left.positions * [1, -1, 1], right.positions)
    np.testing.assert_allclose(left.crossing * [-1, 1], right.crossing)


def test_many_tosses_are_each_as_good_as_one_and_the_seed_decides():
    one, again = (ball_toss.tosses(BALLS["tennis"], 5, draw=seeded(3)) for _ in range(2))
    other = ball_toss.tosses(BALLS["tennis"], 5, draw=seeded(4))
    for left, right in zip(one, again, strict=True):
        np.testing.assert_array_equal(left.positions, right.positions)
    assert one[0].times[0] != other[0].times[0]
    single = ball_toss.toss(BALLS["tennis"], draw=seeded(3))
    first = ball_toss.tosses(BALLS["tennis"], 1, draw=seeded(3))[0]
    np.testing.assert_array_equal(single.positions, first.positions)


@pytest.mark.parametrize(("name", "never"), [("ping-pong", 0.05), ("tennis", 0.05)])
def test_hands_toss_most_balls_across_in_two_to_six_bounces(name, never):
    """600 tosses; 3.2 % and 1.8 % never cross: three standard errors are 2.2 %."""
    tosses = ball_toss.tosses(BALLS[name], 600, draw=seeded(8))
    crossed = [toss for toss in tosses if toss.crossing is not None]
    assert 1.0 - len(crossed) / 600 < never + 0.004
    counts = np.array([len(toss.times) for toss in crossed])
    assert np.mean((counts >= 2) & (counts <= 6)) > 0.97
    assert np.mean([abs(toss.crossing[0]) < 0.35 for toss in crossed]) > 0.97


def test_a_third_of_the_moon_ball_s_tosses_leave_the_workspace():
    """33 % of 600: three standard errors are 5.8 %."""
    tosses = ball_toss.tosses(BALLS["moon ball"], 600, draw=seeded(8))
    out = [toss.crossing is None or abs(toss.crossing[0]) > 0.35 for toss in tosses]
    assert abs(np.mean(out) - 1 / 3) < 0.06


def test_a_plane_over_the_table_is_refused():
    with pytest.raises(ValueError, match=r"beyond the table at 0.275 m, got 0.2"):
        ball_toss.toss(BALLS["tennis"], 0.2, draw=seeded())


def test_a_duller_ball_loses_speed_faster():
    dull = follow((-0.27, 0.0, 0.2), (0.6, 0.0, 0.0), ball=replace(STILL, restitution=0.6))
    lively = follow((-0.27, 0.0, 0.2), (0.6, 0.0, 0.0))
    assert dull.entry_speeds[1] < lively.entry_speeds[1] and len(dull.times) > len(lively.times)


def test_a_ball_in_air_takes_the_integrated_flights() -> None:
    """Contact to contact of the real ping-pong ball, and its speed on arrival."""
    for toss in ball_toss.tosses(REAL_PING_PONG, 3, draw=seeded()):
        for number in range(len(toss.times) - 1):
            time, moved, impact = drag_flights.flight(
                toss.velocities[number], 0.0, REAL_PING_PONG.drag, (0.0, 0.0), GRAVITY
            )
            step = toss.positions[number + 1, :2] - toss.positions[number, :2]
            assert toss.times[number + 1] - toss.times[number] == pytest.approx(time, rel=2e-5)
            np.testing.assert_allclose(step, moved, atol=1e-5)
            assert toss.entry_speeds[number + 1] == pytest.approx(-impact[2], rel=2e-5)


def test_air_brings_a_ball_to_the_plane_later_and_lower_as_first_order_says() -> None:
    """One flight from the last contact: t (1 + k |v| t / 2) and less, |v| at most 2.2 m/s."""
    ball = replace(STILL, restitution=0.9, drag=0.01)
    still, dragged = (
        follow((0.0, 0.0, 0.2), (0.8, 0.0, 0.0), ball=each)
        for each in (replace(ball, drag=0.0), ball)
    )
    assert len(still.times) == len(dragged.times)
    later = dragged.crossing_time - still.crossing_time
    whole = 0.3 / 0.8
    assert 0.0 < later < 0.01 * 2.2 * whole**2
    np.testing.assert_allclose(dragged.crossing, still.crossing, atol=2.2 * later + 0.01 * whole)


def test_the_family_s_ball_without_departures_is_tossed_as_the_papers() -> None:
    """No air and hardly any slope; 400 tosses each, four standard errors of a difference."""
    ball = BALLS["tennis"]
    assert ball.plain and not replace(ball, slope=1e-12).plain
    rows = []
    for each in (ball, replace(ball, slope=1e-12)):
        tosses = ball_toss.tosses(each, 400, draw=seeded(5))
        assert all(toss.ball is each for toss in tosses)
        there = [t for t in tosses if t.crossing is not None]
        found = np.array([(*t.crossing, t.crossing_time, len(t.times)) for t in there])
        rows.append((found.mean(0), found.std(0) / np.sqrt(len(found))))
    (one, one_error), (other, other_error) = rows
    assert (np.abs(one - other) < 4.0 * np.hypot(one_error, other_error)).all()


def test_most_tosses_of_the_real_ping_pong_ball_cross_within_the_workspace() -> None:
    """300 tosses; three standard errors of 0.95 are 3.8 %."""
    tosses = ball_toss.tosses(REAL_PING_PONG, 300, draw=seeded(8))
    crossed = [t for t in tosses if t.crossing is not None]
    assert len(crossed) > 0.9 * 300
    assert np.mean([len(t.times) >= 2 for t in crossed]) > 0.9
    assert np.mean([abs(t.crossing[0]) < 0.35 and t.crossing[1] < 0.5 for t in crossed]) > 0.95
