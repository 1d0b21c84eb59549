"""Flights through air against an integration to twelve digits, and the closed forms without air."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import air, flight
from tests.oracles import drag_flights


def _fly(velocity, height, drag, pull=(0.0, 0.0)) -> flight.Flight:
    return flight.fly(
        torch.tensor(velocity, dtype=torch.float64),
        height=height,
        drag=torch.tensor(drag, dtype=torch.float64),
        pull=pull,
    )


CASES = [
    # speed at the start along the plane and along the normal, height, drag
    ((0.1, 0.05, 1.9), 0.0, 0.132),
    ((0.6, -0.3, 3.5), 0.0, 0.132),
    ((0.1, 0.1, 0.0), 0.26, 0.132),
    ((0.3, 0.0, 0.0), 1.5, 0.132),
    ((1.0, 1.0, 2.0), 0.0, 0.02),
    ((0.0, 0.0, 0.2), 0.0, 0.2),
    ((0.05, 0.0, 4.0), 0.0, 0.0022),
]


@pytest.mark.parametrize("velocity, height, drag", CASES)
@pytest.mark.parametrize("pull", [(0.0, 0.0), (0.5, -0.17)])
def test_a_flight_is_the_one_integrated_to_twelve_digits(velocity, height, drag, pull) -> None:
    found = _fly(velocity, height, drag, pull)
    time, place, arrival = drag_flights.flight(np.array(velocity), height, drag, pull, GRAVITY)
    speed = np.linalg.norm(arrival)
    assert float(found.duration) == pytest.approx(time, rel=1e-5)
    np.testing.assert_allclose(found.impact, arrival, rtol=0, atol=1e-5 * speed)
    np.testing.assert_allclose(found.displacement, place, rtol=0, atol=1e-5 * speed * time)


def test_without_air_flights_are_parabolas() -> None:
    found = _fly([[0.4, -0.2, 2.0]], 0.0, 0.0, (0.3, 0.0))
    time = 2 * 2.0 / GRAVITY
    assert float(found.duration[0]) == pytest.approx(time, rel=1e-7)
    place = [0.4 * time + 0.15 * time**2, -0.2 * time]
    np.testing.assert_allclose(found.displacement[0], place, rtol=1e-6)
    np.testing.assert_allclose(found.impact[0], [0.4 + 0.3 * time, -0.2, -2.0], rtol=1e-6)


def test_a_ball_along_the_normal_loses_what_the_closed_form_says() -> None:
    """w'^2 = w^2 / (1 + k w^2 / g), whatever the way up and down."""
    w, k = torch.tensor([0.5, 2.0, 4.0], dtype=torch.float64), 0.13
    rise = torch.stack((torch.zeros(3), torch.zeros(3), w), -1).double()
    found = flight.fly(rise, drag=torch.tensor(k, dtype=torch.float64))
    expected = w / torch.sqrt(1.0 + k * w**2 / GRAVITY)
    torch.testing.assert_close(-found.impact[:, 2], expected, rtol=3e-6, atol=0.0)


def test_lengths_scale_with_one_over_drag_and_times_with_its_root() -> None:
    """Only the drag has a length: lengths x s, speeds and times x sqrt(s), drag / s."""
    scale, velocity = 3.0, np.array([0.3, 0.1, 2.0])
    one = _fly(velocity.tolist(), 0.0, 0.12)
    other = _fly((velocity * math.sqrt(scale)).tolist(), 0.0, 0.12 / scale)
    torch.testing.assert_close(other.duration, one.duration * math.sqrt(scale), rtol=1e-9, atol=0)
    torch.testing.assert_close(other.displacement, one.displacement * scale, rtol=1e-9, atol=0)


def test_a_batch_equals_its_members() -> None:
    velocities = torch.tensor([case[0] for case in CASES if case[1] == 0.0], dtype=torch.float64)
    drags = torch.tensor([case[2] for case in CASES if case[1] == 0.0], dtype=torch.float64)
    together = flight.fly(velocities, drag=drags)
    for index, velocity in enumerate(velocities):
        alone = flight.fly(velocity, drag=drags[index])
        torch.testing.assert_close(together.impact[index], alone.impact, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("size", [(0.0, 0.1), (0.04, -1.0), (math.nan, 0.1)])
def test_a_ball_without_size_or_mass_is_refused(size: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        air.Size(*size)


def test_warm_air_is_thinner() -> None:
    # 1.293 kg/m^3 at 0 degrees and a standard atmosphere (CRC handbook)
    assert air.density(0.0) == pytest.approx(1.293, abs=1e-3)
    assert air.density(30.0) < air.density(0.0)


def test_a_plane_is_met_where_the_integrated_flight_meets_it() -> None:
    """Cut short by the plane, the flight is the oracle's; without air it is a parabola."""
    velocity = torch.tensor([[0.6, -0.3, 2.0]] * 2, dtype=torch.float64)
    drag = torch.tensor([0.132, 0.0], dtype=torch.float64)
    distance = torch.tensor([0.15, 0.15], dtype=torch.float64)
    time, place = flight.meet(velocity, distance, drag=drag)
    force = np.array([0.0, 0.0, -GRAVITY])
    found = solve_ivp(
        lambda _, s: np.concatenate((s[3:], force - 0.132 * np.linalg.norm(s[3:]) * s[3:])),
        (0.0, float(time[0])),
        np.array([0.0, 0.0, 0.0, 0.6, -0.3, 2.0]),
        rtol=1e-12,
        atol=1e-14,
    )
    np.testing.assert_allclose(place[0], found.y[:3, -1], atol=1e-6)
    np.testing.assert_allclose(place[:, 0], 0.15, atol=1e-9)
    assert float(time[1]) == pytest.approx(0.25, rel=1e-12)
    assert float(place[1, 2]) == pytest.approx(2.0 * 0.25 - 0.5 * GRAVITY * 0.25**2, rel=1e-12)
