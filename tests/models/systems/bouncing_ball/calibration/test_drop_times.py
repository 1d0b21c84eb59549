"""The filter of bounce times against the flight of the family and against brute force."""

import numpy as np
import pytest
import torch

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import contact, flight
from ricochet.models.systems.bouncing_ball.calibration import drop_times
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Ball, Drop


def ball(restitution=0.85, slope=0.0, drag=0.05, scatter=0.005, jitter=2e-4):
    values = (restitution, slope, drag, scatter, jitter)
    return Ball(*(np.array([value]) for value in values))


def bounces(of: Ball, count, draw, *, law=contact.constant, speed=3.0):
    """Times of one drop with scatter and jitter, without outliers."""
    drag, scatter = of.drag, of.scatter.item()
    w, times = np.array([speed]), [0.0]
    for _ in range(count - 1):
        at = law(of.restitution, of.slope, w)
        u = at * w * np.exp(scatter * draw.standard_normal())
        times.append(times[-1] + float(drop_times.duration(u, drag)[0]))
        w = drop_times.impact(u, drag)
    return np.array(times) + of.jitter.item() * draw.standard_normal(count) + 1.0


def brute_force(drop: Drop, of: Ball, draw, *, law, paths=400_000):
    """Average the density of the later times over paths that start at the first two."""

    def error(index):
        narrow = np.hypot(drop.time_sd[index], of.jitter.item())
        late = draw.uniform(size=paths) < drop_times.OUTLIERS
        return np.where(late, drop_times.WIDE, narrow) * draw.standard_normal(paths)

    def density(apart, index):
        narrow = np.hypot(drop.time_sd[index], of.jitter.item())
        parts = [(1.0 - drop_times.OUTLIERS, narrow), (drop_times.OUTLIERS, drop_times.WIDE)]
        each = [p / sd * np.exp(-0.5 * (apart / sd) ** 2) for p, sd in parts]
        return sum(each) / np.sqrt(2.0 * np.pi)

    k, scatter = of.drag.item(), of.scatter.item()
    tau = drop.times[1] - error(1)
    x = np.full(paths, np.log(0.5 * 9.80665 * (drop.times[1] - drop.times[0])))
    target = tau - (drop.times[0] - error(0))
    for _ in range(20):
        step = 1e-6
        value = drop_times.duration(np.exp(x), np.array(k))
        slope = (drop_times.duration(np.exp(x + step), np.array(k)) - value) / step
        x = x - (value - target) / slope
    weight = 1.0 / slope
    for index in range(2, len(drop.times)):
        for _ in range(1 + drop.missing.count(index - 1)):
            w = drop_times.impact(np.exp(x), np.array(k))
            at = law(of.restitution, of.slope, w)
            x = np.log(at * w) + scatter * draw.standard_normal(paths)
            tau = tau + drop_times.duration(np.exp(x), np.array(k))
        weight = weight * density(drop.times[index] - tau, index)
    return np.log(weight.mean()), weight.std() / weight.mean() / np.sqrt(paths)


@pytest.mark.parametrize("drag", [1e-3, 0.05, 0.2])
def test_a_vertical_flight_is_that_of_the_family(drag):
    speed, k = np.array([0.3, 1.0, 3.0]), np.full(3, drag)
    velocity = torch.zeros(3, 3, dtype=torch.float64)
    velocity[:, 2] = torch.from_numpy(speed)
    flown = flight.fly(velocity, drag=torch.from_numpy(k))
    # the family's integration is right to 1e-5
    np.testing.assert_allclose(drop_times.duration(speed, k), flown.duration, rtol=3e-5)
    np.testing.assert_allclose(drop_times.impact(speed, k), -flown.impact[:, 2], rtol=3e-5)


def test_the_apex_is_where_an_integrated_flight_turns() -> None:
    """Steps of 10 microseconds; without air it is u^2 / (2 g)."""
    for speed, drag in ((3.0, 0.13), (1.0, 0.5)):
        height, up, step = 0.0, speed, 1e-5
        while up > 0.0:
            middle = up - 0.5 * step * (GRAVITY + drag * up * up)
            height, up = height + step * middle, up - step * (GRAVITY + drag * middle * middle)
        found = float(drop_times.apex(np.array(speed), np.array(drag)))
        assert found == pytest.approx(height, rel=1e-5)
    free = float(drop_times.apex(np.array(2.0), np.array(0.0)))
    assert free == pytest.approx(2.0**2 / (2.0 * GRAVITY), rel=1e-6)


def test_the_exit_speed_undoes_the_duration():
    drag = np.array([0.0, 0.05, 0.3])
    speed = drop_times.exit_speed(0.6, drag)
    np.testing.assert_allclose(drop_times.duration(speed, drag), 0.6, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_equals_an_average_over_paths(seed):
    draw = np.random.default_rng(seed)
    law = (contact.constant, contact.linear, contact.viscoelastic)[seed % 3]
    true = ball(draw.uniform(0.6, 0.9), 0.02, scatter=0.01, jitter=5e-4)
    times = bounces(true, 5, draw, law=law)
    missing = (2,) if seed > 2 else ()
    kept = np.delete(times, 3) if missing else times
    drop = Drop(kept, np.full(len(kept), 1e-4), missing)
    expected, error = brute_force(drop, true, draw, law=law)
    found = float(drop_times.log_likelihood(drop, true, law=law)[0])
    # three standard errors of the average, and 0.03 nats of linearising flights
    assert abs(found - expected) < 3.0 * error + 0.03


def test_a_late_detection_costs_a_few_nats_wherever_it_is():
    draw = np.random.default_rng(0)
    true = ball(scatter=5e-4)
    times = bounces(true, 12, draw)
    sound = float(
        drop_times.log_likelihood(Drop(times, np.full(12, 1e-5)), true, law=contact.constant)[0]
    )
    for index in range(12):
        spoilt = times.copy()
        spoilt[index] += 4e-3
        drop = Drop(spoilt, np.full(12, 1e-5))
        found = float(drop_times.log_likelihood(drop, true, law=contact.constant)[0])
        # log(p / (1 - p)), log(WIDE / jitter) and half of (4 / 3)^2 make 7.1
        assert 4.0 < sound - found < 12.0


def test_points_are_judged_one_by_one_and_time_has_no_origin():
    draw = np.random.default_rng(1)
    drop = Drop(bounces(ball(), 10, draw), np.full(10, 2e-5))
    many = Ball(
        *(np.array(row) for row in ([0.8, 0.85], [0.0, 0.0], [0.01, 0.1])),
        np.array([0.003, 0.01]),
        np.array([1e-4, 3e-4]),
    )
    both = drop_times.log_likelihood(drop, many, law=contact.constant)
    for index in range(2):
        one = Ball(*(value[[index]] for value in vars(many).values()))
        alone = drop_times.log_likelihood(drop, one, law=contact.constant)
        assert alone[0] == pytest.approx(both[index], abs=1e-9)
    later = Drop(drop.times + 50.0, drop.time_sd)
    moved = drop_times.log_likelihood(later, many, law=contact.constant)
    np.testing.assert_allclose(moved, both, atol=1e-6)


def test_surprises_of_the_true_ball_are_standard_normal():
    true = ball(scatter=0.01)
    z = []
    for seed in range(60):
        times = bounces(true, 12, np.random.default_rng(seed))
        z.append(
            drop_times.forecast(Drop(times, np.zeros(12)), true, law=contact.constant).surprise
        )
    z = np.concatenate(z)
    assert len(z) == 600
    # three standard errors: 1 / sqrt(600) = 0.041 and 1 / sqrt(1200) = 0.029
    assert abs(z.mean()) < 0.123
    assert abs(z.std() - 1.0) < 0.087
