"""Flights to first order in the drag against those that are followed, and their symmetries."""

import numpy as np
import pytest
import torch

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import air, flight, flight_expansion

DRAG = air.drag(air.COMMON_BALLS["ping-pong"])


def starts(count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    return draw.uniform(0.3, 2.5, count), draw.uniform(0.0, 1.2, count)


def flown(w: np.ndarray, u: np.ndarray, drag: float) -> tuple[np.ndarray, ...]:
    velocity = torch.from_numpy(np.stack((u, 0.0 * u, w), -1))
    found = flight.fly(velocity, drag=torch.full(w.shape, drag, dtype=torch.float64))
    impact = found.impact.numpy()
    return found.duration.numpy(), found.displacement.numpy()[:, 0], -impact[:, 2], impact[:, 0]


def errors(drag: float) -> np.ndarray:
    """Largest errors of time (a share), distance (m) and speeds on arrival (m/s), forward."""
    w, u = starts()
    time, distance, falling, along = flown(w, u, drag)
    lost = flight_expansion.losses(w, u, np.array(drag))
    found = 2.0 * w / GRAVITY * np.exp(-lost.vertical)
    away = (
        found / time - 1.0,
        u * found * np.exp(-lost.horizontal) - distance,
        w * np.exp(-2.0 * lost.vertical) - falling,
        u * np.exp(-2.0 * lost.horizontal) - along,
    )
    return np.array([np.abs(each).max() for each in away])


def test_flights_of_a_ping_pong_ball_are_as_near_as_is_said() -> None:
    assert (errors(DRAG) < (5e-4, 5e-4, 1e-3, 1e-3)).all()


def test_errors_are_of_second_order_in_the_drag() -> None:
    """Half of the drag has at most a third of the error."""
    assert (errors(0.5 * DRAG) < errors(DRAG) / 3.0).all()


def test_a_flight_is_read_backwards() -> None:
    w, u = starts()
    time, distance, falling, along = flown(w, u, DRAG)
    lost = flight_expansion.losses_between(time, distance, np.array(DRAG))
    rise, run = 0.5 * GRAVITY * time, distance / time
    for sign, expected in ((1.0, (w, u)), (-1.0, (falling, along))):
        found = rise * np.exp(sign * lost.vertical), run * np.exp(sign * lost.horizontal)
        np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_it_meets_a_plane_where_the_followed_flight_does(share: float) -> None:
    w, u = starts()
    u = u + 0.1
    time, distance, _, _ = flown(w, u, DRAG)
    drag = torch.full(w.shape, DRAG, dtype=torch.float64)
    velocity = torch.from_numpy(np.stack((u, 0.0 * u, w), -1))
    when, where = flight.meet(velocity, torch.from_numpy(share * distance), drag=drag)
    lost = flight_expansion.losses_between(time, distance, np.array(DRAG))
    found, tall = flight_expansion.height(time, np.array(share), lost)
    # The mean of the speed stands for the speed: a steep flight is k w T^2 / 48 off in time half
    # way, which is 1.7 ms of 0.5 s; 0.1 % of the time is of second order in the drag.
    late = DRAG * w * time**2 / 48.0 + 1e-3 * time
    assert (np.abs(found - when.numpy()) < late).all()
    assert (np.abs(tall - where.numpy()[:, 2]) < 0.5 * w * late + 5e-4).all()


def test_twice_the_speeds_in_a_quarter_of_the_drag_lose_the_same_shares() -> None:
    w, u = starts()
    one = flight_expansion.losses(w, u, np.array(DRAG))
    other = flight_expansion.losses(2.0 * w, 2.0 * u, np.array(0.25 * DRAG))
    np.testing.assert_allclose(other.vertical, one.vertical, rtol=1e-12)
    np.testing.assert_allclose(other.horizontal, one.horizontal, rtol=1e-12)


def test_a_wrong_detection_loses_no_more_than_half() -> None:
    """A ball that seems to have gone 300 m in 0.3 s."""
    time, distance, drag = (np.array([value]) for value in (0.3, 300.0, DRAG))
    lost = flight_expansion.losses_between(time, distance, drag)
    assert lost.vertical == lost.horizontal == 0.5


def test_without_air_a_flight_is_a_parabola() -> None:
    w, u = starts(3)
    lost = flight_expansion.losses(w, u, np.zeros_like(w))
    assert not lost.vertical.any() and not lost.horizontal.any()
    found, tall = flight_expansion.height(np.array(0.4), np.array(0.25), lost)
    np.testing.assert_allclose(found, 0.1)
    np.testing.assert_allclose(tall, 0.5 * GRAVITY * 0.1 * 0.3)
