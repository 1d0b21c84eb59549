"""Joints: what they predict, against points that are moved one by one."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ricochet.models.systems.drawers.kinematics import joints
from ricochet.models.systems.drawers.kinematics.joints import Joint, Kind


def test_a_hinge_stays_where_it_is() -> None:
    """Whatever turns about an axis through c: a point of the axis does not move."""
    draw = np.random.default_rng(0)
    for _ in range(20):
        state = np.concatenate([draw.uniform(-1.0, 1.0, 4), draw.uniform(-1.0, 1.0, 3)])
        z = joints.change(Kind.REVOLUTE, state)
        for along in (-0.5, 0.0, 0.7):
            point = state[4:7] + along * joints.axis(state)
            moved = Rotation.from_rotvec(z[3:]).apply(point) + z[:3]
            np.testing.assert_allclose(moved, point, atol=1e-12)


@pytest.mark.parametrize("kind", [Kind.PRISMATIC, Kind.REVOLUTE])
def test_derivatives_are_those_of_small_steps(kind: Kind) -> None:
    state = np.array([0.4, -0.3, 0.2, 0.1, 0.3, -0.2, 0.5])[: 4 if kind is Kind.PRISMATIC else 7]
    joint = Joint(kind, state, np.eye(len(state)), 0.0, np.zeros(6))
    _, slopes = joints.linearised(joint)
    for place in range(len(state)):
        step = 1e-4 * np.eye(len(state))[place]
        both = (joints.change(kind, state + step) - joints.change(kind, state - step)) / 2e-4
        np.testing.assert_allclose(slopes[:, place], both, atol=1e-5)


def test_an_axis_is_found_from_the_first_clear_shift() -> None:
    way = np.array([0.1, -0.7, 0.5]) / np.linalg.norm([0.1, -0.7, 0.5])
    joint = next(each for each in joints.born() if each.kind is Kind.PRISMATIC)
    for size in (0.001, 0.01, 0.03, 0.05, 0.1):
        seen = np.concatenate([size * way, np.zeros(3)])
        joint = joints.update(joints.predict(joint, 1 / 30), seen, 1e-8 * np.eye(6))
        assert (joint.state is None) == (size < joints.CLEAR)
    assert joint.state is not None
    np.testing.assert_allclose(joints.axis(joint.state), way, atol=1e-3)
    assert joint.state[2] == pytest.approx(0.1, abs=1e-3)


def test_probabilities_are_those_of_the_likelihoods() -> None:
    made = joints.born()
    scored = tuple(
        Joint(joint.kind, None, None, score, np.zeros(6))
        for joint, score in zip(made, np.log([0.1, 0.2, 0.3, 0.4]) - 5000.0, strict=True)
    )
    found = joints.probabilities(scored)
    np.testing.assert_allclose(list(found.values()), [0.1, 0.2, 0.3, 0.4])
