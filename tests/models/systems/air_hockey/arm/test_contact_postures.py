"""Postures that climb: the slope against finite differences, and what the top keeps to."""

import numpy as np
import pytest

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.arm import contact_postures, stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits
from tests.oracles import fastest_tip

LIMITS = Limits()


def grid(count: int = 3) -> tuple[np.ndarray, np.ndarray]:
    x, angle = np.meshgrid(np.linspace(0.8, 1.1, count), np.linspace(-0.4, 0.4, 3), indexing="ij")
    points = np.stack((x, 0.0 * x + 0.05, 0.0 * x + iiwa.TIP_HEIGHT), -1)
    return points, stroke_table.direction(angle)


def speeds(joints: np.ndarray, directions: np.ndarray) -> np.ndarray:
    jacobian = iiwa.pose(joints).jacobian
    return fastest_tip.fastest(jacobian, directions, limits=LIMITS.joint_speed).speed


def test_the_slope_equals_finite_differences():
    """The weighted least squares of p = 4 have converged to 1e-5 after their steps."""
    draw = np.random.default_rng(0)
    joints = draw.uniform(-1.0, 1.0, (6, 7))
    directions = stroke_table.direction(draw.uniform(-1.3, 1.3, 6))

    def speed(at: np.ndarray) -> np.ndarray:
        return contact_postures.speed_slope(at, directions, limits=LIMITS.joint_speed, power=4.0)[0]

    _, slope = contact_postures.speed_slope(
        joints, directions, limits=LIMITS.joint_speed, power=4.0
    )
    for joint in range(7):
        step = 1e-5 * np.eye(7)[joint]
        change = (speed(joints + step) - speed(joints - step)) / 2e-5
        np.testing.assert_allclose(slope[:, joint], change, atol=1e-4)


def test_the_top_is_faster_than_the_nominal_posture_and_keeps_to_the_limits():
    """The null space is worth at least 1.4 times, close to the 1.6 of the challenge's facts."""
    points, directions = grid()
    joints = contact_postures.climb(points, directions, limits=LIMITS, steps=150)
    tip, link4, link7 = iiwa.places(joints)
    np.testing.assert_allclose(tip, points, atol=1e-9)
    assert min(link4.min(), link7.min()) > LIMITS.link_height
    assert (np.abs(joints) < LIMITS.joint_range).all()
    straight = joints[:, 1], directions[:, 1]
    # From planar inverse kinematics with the rod 40 degrees from upright: x = 0.80 and 1.10 m.
    nominal = np.array((0.99, 1.24)) * iiwa.USABLE
    assert (speeds(*straight)[[0, 2]] > 1.15 * nominal).all()
    assert speeds(*straight)[0] > 1.5 * nominal[0]


def test_neighbours_are_alike():
    points, directions = grid(5)
    joints = contact_postures.climb(points, directions, limits=LIMITS, steps=150)
    assert max(np.abs(np.diff(joints, axis=axis)).max() for axis in (0, 1)) < 0.6


@pytest.mark.proof
def test_other_starts_find_no_faster_posture():
    """Forty random starts as in the facts file, each alone: at most a tenth better."""
    points, directions = np.array((0.95, 0.0, iiwa.TIP_HEIGHT)), np.array((1.0, 0.0, 0.0))
    joints = contact_postures.climb(points[None], directions[None], limits=LIMITS)
    ours = speeds(joints, directions[None])[0]
    draw = np.random.default_rng(1)
    others = []
    for _ in range(40):
        start = iiwa.HOME + draw.normal(0.0, 0.5, 7) * (np.arange(7) < 6)
        found = contact_postures.climb(
            points[None], directions[None], limits=LIMITS, start=start, steps=200
        )
        others.append(speeds(found, directions[None])[0])
    assert ours > 0.9 * max(others)
