"""Flights against projectile solutions, and what is refused."""

import math
from decimal import Decimal

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import simulator
from tests.models.systems.bouncing_ball.simulator_cases import (
    GRAVITY,
    HEIGHT,
    full,
    plane_normal,
    seeded,
    some_starts,
)


def _projectile(
    start: np.ndarray, restitution: float, tilt: float, bounces: int
) -> tuple[np.ndarray, np.ndarray]:
    """Flights solved in world axes: n.(p + v t + a t^2 / 2) = 0, then v - (1 + e) (v.n) n."""
    normal, pull = plane_normal(tilt).numpy(), np.array([0.0, 0.0, -GRAVITY])
    position, velocity, time = np.array([0.0, 0.0, HEIGHT]), start.copy(), 0.0
    times, positions = [], []
    for _ in range(bounces):
        roots = np.roots([0.5 * normal @ pull, normal @ velocity, normal @ position])
        flight = max(roots.real)
        time += flight
        position = position + velocity * flight + 0.5 * pull * flight**2
        position -= (normal @ position) * normal  # rounding left over
        velocity = velocity + pull * flight
        velocity = velocity - (1.0 + restitution) * (velocity @ normal) * normal
        times.append(time)
        positions.append(position)
    return np.array(times), np.array(positions)


@pytest.mark.parametrize("tilt", [0.0, 0.2, -0.5])
def test_without_redraw_the_flights_solve_the_projectile_equations(tilt: float) -> None:
    starts = some_starts(6)
    ours = simulator.simulate(
        full(6, 0.8),
        full(6, math.inf),
        bounces=5,
        tilt=tilt,
        start_velocity=starts,
        drop_height=HEIGHT,
        draw=seeded(),
    )
    for index, start in enumerate(starts.numpy()):
        times, positions = _projectile(start, 0.8, tilt, 5)
        np.testing.assert_allclose(ours.times[index], times, rtol=1e-12)
        np.testing.assert_allclose(ours.positions[index], positions, rtol=1e-11, atol=1e-12)


def test_level_drop_has_the_closed_form_of_a_textbook() -> None:
    # T_1 = sqrt(2 h / g), T_{i+1} - T_i = 2 e^i T_1; x = v T; exit speed e^i g T_1.
    e, v = 0.7, 0.25
    start = torch.tensor([v, 0.0, 0.0], dtype=torch.float64)
    ours = simulator.simulate(
        full(1, e),
        full(1, math.inf),
        bounces=4,
        start_velocity=start,
        drop_height=HEIGHT,
        draw=seeded(),
    )
    first = math.sqrt(2.0 * HEIGHT / GRAVITY)
    times = first * np.cumsum([1.0, 2 * e, 2 * e**2, 2 * e**3])
    np.testing.assert_allclose(ours.times[0], times, rtol=1e-14)
    np.testing.assert_allclose(ours.positions[0, :, 0], v * times, rtol=1e-14)
    rises = GRAVITY * first * e ** np.arange(1, 5)
    np.testing.assert_allclose(ours.velocities[0, :, 2], rises, rtol=1e-14)


def test_tilted_drop_has_the_closed_form_in_plane_axes() -> None:
    # From rest onto the incline: speed u = sqrt(2 g h) at the contact, flights T_i = 2 e^i u / g
    # (the cosine cancels), and down the plane s = u sin b t + g sin b t^2 / 2 after the contact.
    e, tilt = 0.8, 0.3
    ours = simulator.simulate(
        full(1, e),
        full(1, math.inf),
        bounces=4,
        tilt=tilt,
        start_velocity=torch.zeros(3, dtype=torch.float64),
        drop_height=HEIGHT,
        draw=seeded(),
    )
    speed = math.sqrt(2.0 * GRAVITY * HEIGHT)
    since = 2.0 * speed / GRAVITY * np.cumsum([0.0, e, e**2, e**3])
    down = math.sin(tilt) * (speed * since + 0.5 * GRAVITY * since**2)
    # Released above the origin, the ball first touches the plane at the origin.
    np.testing.assert_allclose(ours.times[0], speed / GRAVITY + since, rtol=1e-13)
    np.testing.assert_allclose(ours.positions[0, :, 0], down * math.cos(tilt), atol=1e-14)
    np.testing.assert_allclose(ours.positions[0, :, 2], -down * math.sin(tilt), atol=1e-14)


def test_each_drop_may_have_its_own_height() -> None:
    heights = torch.tensor([0.1, 0.4], dtype=torch.float64)
    ours = simulator.simulate(full(2, 0.8), full(2, math.inf), drop_height=heights, draw=seeded())
    torch.testing.assert_close(ours.times[:, 0], torch.sqrt(2.0 * heights / GRAVITY))


def test_a_hard_throw_down_keeps_its_digits() -> None:
    # (w + r) / g would lose 1e3 * 1e-16 of 2.6e-3 m/s: 4e-11 of the time.
    start = torch.tensor([0.0, 0.0, -1e3], dtype=torch.float64)
    ours = simulator.simulate(
        full(1, 0.8),
        full(1, math.inf),
        bounces=1,
        start_velocity=start,
        drop_height=HEIGHT,
        draw=seeded(),
    )
    w, pull, height = Decimal(-1000), Decimal(GRAVITY), Decimal(HEIGHT)
    exact = (w + (w * w + 2 * pull * height).sqrt()) / pull
    assert float(ours.times) == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"restitution": torch.tensor([0.8, 1.2])}, "restitution"),
        ({"restitution": torch.tensor([0.0, 0.5])}, "restitution"),
        ({"restitution": torch.tensor([math.nan])}, "restitution"),
        ({"concentration": torch.tensor([-1.0])}, "concentration"),
        ({"concentration": torch.tensor([math.nan])}, "concentration"),
        ({"bounces": 0}, "bounces"),
        ({"drop_height": 0.0}, "drop_height"),
        ({"horizontal_sd": -0.1}, "horizontal_sd"),
        ({"gravity": 0.0}, "gravity"),
        ({"tilt": 1.6}, "tilt"),
        ({"device": "meta"}, "draw"),
    ],
)
def test_values_out_of_range_are_refused_by_name(change: dict[str, object], names: str) -> None:
    good = {
        "restitution": torch.tensor([0.8]),
        "concentration": torch.tensor([100.0]),
        "drop_height": HEIGHT,
    }
    with pytest.raises(ValueError, match=names):
        simulator.simulate(**(good | change), draw=seeded())
