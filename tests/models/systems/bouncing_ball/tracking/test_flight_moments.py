"""Moments of a contact against simulated exits, and of a flight against moved samples."""

import numpy as np
import pytest
import torch

from ricochet.models.probability import von_mises_fisher
from ricochet.models.systems.bouncing_ball.tracking import flight_moments


@pytest.mark.parametrize("concentration", [63.0, 1000.0])
def test_a_bounce_has_the_moments_of_the_simulated_exits_that_rise_as_fast(
    concentration: float,
) -> None:
    """The law itself, cut to the exits whose vertical speed lies within 1 cm/s of the given one."""
    velocity, exit_speed = np.array([0.5, 0.2, 1.7]), 1.69
    count = 400_000
    drawn = von_mises_fisher.redirect(
        torch.tensor(velocity)[:, None].expand(3, count).clone(),
        torch.full((count,), concentration, dtype=torch.float64),
        draw=torch.Generator().manual_seed(0),
    ).numpy()
    exits = drawn[:2, np.abs(drawn[2] - exit_speed) < 0.01].T
    mean, covariance = flight_moments.bounce_moments(
        np.array([0.0, 0.0, *velocity[:2]]),
        np.zeros((4, 4)),
        rise=np.array(velocity[2]),
        exit_speed=np.array(exit_speed),
        concentration=np.array(concentration),
    )
    # Three standard errors of the mean, and 1 % for the width of the cut (it moves v by +-0.03 m/s
    # at both ends, so that the means differ in second order only).
    error = 3.0 * exits.std(axis=0) / np.sqrt(len(exits)) + 0.01 * 0.54
    assert (np.abs(exits.mean(axis=0) - mean[2:]) < error).all()
    # The cut adds the variance of v over it, (0.02 w / v)^2 / 12 = 3.3e-4; the rest is sampling,
    # 3 sqrt(2 / n) of each variance with n > 10,000, that is 4 %.
    away = np.cov(exits.T) - covariance[2:, 2:]
    assert (np.abs(away) < 4e-4 + 0.05 * np.abs(np.diag(covariance[2:, 2:])).max()).all()


def test_a_straight_flight_moves_the_mean_and_spreads_by_the_velocity() -> None:
    """Against F m and F P F^T with F = [[1, t], [0, 1]], written out."""
    draw = np.random.default_rng(0)
    root = draw.normal(size=(3, 4, 4))
    mean, covariance = draw.normal(size=(3, 4)), root @ np.swapaxes(root, -1, -2)
    flight = np.array([0.1, 0.25, 0.4])
    found = flight_moments.propagate_straight(mean, covariance, flight)
    for i, t in enumerate(flight):
        map_ = np.block([[np.eye(2), t * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
        np.testing.assert_allclose(found[0][i], map_ @ mean[i], atol=1e-12)
        np.testing.assert_allclose(found[1][i], map_ @ covariance[i] @ map_.T, atol=1e-12)


def test_a_scatter_of_the_speed_widens_the_horizontal_speed_that_is_left() -> None:
    """v = sqrt(s^2 - w'^2) for a straight ball, s drawn: 200,000 draws, to second order."""
    s, rise, sd = np.hypot(1.0, 1.5), 1.5, 0.01
    drawn = s * (1.0 + sd * np.random.default_rng(0).standard_normal(200_000))
    v = np.sqrt(drawn**2 - rise**2)
    _, covariance = flight_moments.bounce_moments(
        np.array([0.0, 0.0, 1.0, 0.0]),
        np.zeros((4, 4)),
        rise=np.array(rise),
        exit_speed=np.array(rise),
        concentration=np.array(1e12),
        scatter=np.array(sd),
    )
    # three standard errors are 0.5 %; the second order of dv adds (s^2 sd / v^2)^2 of itself, 0.1 %
    assert covariance[2, 2] == pytest.approx(v.var(), rel=0.01)


def test_a_flight_in_air_is_the_shorter_one_that_ends_slower() -> None:
    """F = [[1, t exp(-B)], [0, exp(-2 B)]], written out."""
    draw = np.random.default_rng(0)
    root = draw.normal(size=(2, 4, 4))
    mean, covariance = draw.normal(size=(2, 4)), root @ np.swapaxes(root, -1, -2)
    flight, lost = np.array([0.1, 0.4]), np.array([0.02, 0.05])
    found = flight_moments.propagate_straight(mean, covariance, flight, lost)
    for i, (t, b) in enumerate(zip(flight, lost, strict=True)):
        map_ = np.block(
            [
                [np.eye(2), t * np.exp(-b) * np.eye(2)],
                [np.zeros((2, 2)), np.exp(-2.0 * b) * np.eye(2)],
            ]
        )
        np.testing.assert_allclose(found[0][i], map_ @ mean[i], atol=1e-12)
        np.testing.assert_allclose(found[1][i], map_ @ covariance[i] @ map_.T, atol=1e-12)
