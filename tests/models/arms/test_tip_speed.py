"""Fastest straight motions: against a linear programme, and against themselves."""

import numpy as np
import pytest
from scipy.optimize import linprog

from ricochet.models.arms import iiwa, tip_speed
from tests.oracles import fastest_tip

LIMITS = iiwa.USABLE * iiwa.SPEED_LIMIT


def cases(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Jacobians and directions in the table's plane."""
    draw = np.random.default_rng(seed)
    angles = draw.uniform(-np.pi, np.pi, count)
    directions = np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), -1)
    return iiwa.pose(draw.uniform(-1.5, 1.5, (count, 7))).jacobian, directions


def by_programme(jacobian: np.ndarray, direction: np.ndarray) -> float:
    """Solve Eq. 13 with HiGHS."""
    across = np.linalg.svd(direction[None])[2][1:]
    bounds = [(-limit, limit) for limit in LIMITS]
    found = linprog(-direction @ jacobian, A_eq=across @ jacobian, b_eq=(0, 0), bounds=bounds)
    return -found.fun


def moved(jacobian: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    return (jacobian @ speeds[..., None])[..., 0]


def test_fastest_equals_the_linear_programme():
    jacobians, directions = cases(0, 60)
    found = fastest_tip.fastest(jacobians, directions, limits=LIMITS)
    expected = [by_programme(j, e) for j, e in zip(jacobians, directions, strict=True)]
    np.testing.assert_allclose(found.speed, expected, rtol=1e-7)


def test_fastest_equals_the_linear_programme_in_the_plane_of_symmetry():
    """There the columns of three joints are parallel and many prices are as good."""
    jacobian = np.broadcast_to(iiwa.pose(iiwa.HOME).jacobian, (5, 3, 7))
    angles = np.array((0.0, 0.3, -0.3, 1.0, 1.5))
    directions = np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), -1)
    found = fastest_tip.fastest(jacobian, directions, limits=LIMITS)
    expected = [by_programme(j, e) for j, e in zip(jacobian, directions, strict=True)]
    np.testing.assert_allclose(found.speed, expected, rtol=1e-6)
    assert (np.abs(found.joint_speeds) <= LIMITS * (1 + 1e-6)).all()


@pytest.mark.parametrize("power", [None, 6.0, 20.0, 40.0])
def test_joint_speeds_give_the_speed_along_the_direction_within_the_limits(power):
    jacobians, directions = cases(1, 200)
    if power is None:
        found = fastest_tip.fastest(jacobians, directions, limits=LIMITS)
    else:
        found = tip_speed.smooth(jacobians, directions, limits=LIMITS, power=power)
    velocity = moved(jacobians, found.joint_speeds)
    np.testing.assert_allclose(velocity, found.speed[:, None] * directions, atol=1e-6)
    assert (np.abs(found.joint_speeds) <= LIMITS * (1 + 1e-7)).all()


def test_smooth_with_power_two_is_the_weighted_pseudo_inverse():
    jacobians, directions = cases(2, 20)
    found = tip_speed.smooth(jacobians, directions, limits=LIMITS, power=2.0)
    ratios = moved(np.linalg.pinv(jacobians * LIMITS), directions)
    expected = 1.0 / np.abs(ratios).max(-1)
    np.testing.assert_allclose(found.speed, expected, rtol=1e-9)


def test_smooth_approaches_the_fastest_from_below():
    """7^(-1/p) bounds the share of a p-norm's minimum: 0.61 at 4, 0.72 at 6, 0.91 at 20."""
    jacobians, directions = cases(3, 100)
    best = fastest_tip.fastest(jacobians, directions, limits=LIMITS).speed
    shares = [
        tip_speed.smooth(jacobians, directions, limits=LIMITS, power=power).speed / best
        for power in (2.0, 4.0, 6.0, 20.0)
    ]
    assert max(share.max() for share in shares) <= 1.0 + 1e-6
    assert shares[1].min() > 7 ** (-1 / 4)
    assert shares[2].min() > 7 ** (-1 / 6)
    assert shares[3].min() > 7 ** (-1 / 20)
    assert shares[0].mean() < shares[1].mean() < shares[2].mean() < shares[3].mean()


def test_a_joint_that_moves_nothing_rests():
    """Its column is rounding, as that of the rod's turning about itself."""
    jacobians, directions = cases(7, 50)
    jacobians[..., -1] = 1e-17 * np.random.default_rng(7).standard_normal((50, 3))
    found = tip_speed.smooth(jacobians, directions, limits=LIMITS, power=20.0)
    assert not found.joint_speeds[:, -1].any()
    without = tip_speed.smooth(jacobians[..., :-1], directions, limits=LIMITS[:-1], power=20.0)
    np.testing.assert_allclose(found.speed, without.speed, rtol=1e-6)


def test_twice_the_limits_is_twice_the_speed():
    jacobians, directions = cases(4, 20)
    once = fastest_tip.fastest(jacobians, directions, limits=LIMITS)
    twice = fastest_tip.fastest(jacobians, directions, limits=2 * LIMITS)
    np.testing.assert_allclose(twice.speed, 2 * once.speed, rtol=1e-7)


def test_forth_is_as_fast_as_back():
    jacobians, directions = cases(5, 20)
    forth = fastest_tip.fastest(jacobians, directions, limits=LIMITS).speed
    back = fastest_tip.fastest(jacobians, -directions, limits=LIMITS).speed
    np.testing.assert_allclose(forth, back, rtol=1e-7)


def test_a_batch_equals_its_members():
    jacobians, directions = cases(6, 5)
    for solve in (
        lambda j, e: fastest_tip.fastest(j, e, limits=LIMITS),
        lambda j, e: tip_speed.smooth(j, e, limits=LIMITS, power=4.0),
    ):
        whole = solve(jacobians, directions)
        for k in range(5):
            one = solve(jacobians[k], directions[k])
            np.testing.assert_allclose(whole.joint_speeds[k], one.joint_speeds, atol=1e-9)
