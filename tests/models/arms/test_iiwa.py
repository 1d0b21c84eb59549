"""Kinematics of the iiwa14: against published poses, MuJoCo, finite differences, and themselves."""

import mujoco
import numpy as np
import pytest

from ricochet.models.arms import iiwa
from tests.oracles.iiwa_mirror import MIRROR

PUBLISHED = [  # joints, tip, link 4, link 7: 2023 Robot Air Hockey Challenge, public files
    (np.zeros(7), (0.0, 0.0, 1.846), 0.78, 1.261),
    (iiwa.HOME, (0.65004, 0.0, 0.16456), None, None),
    ((0.3, 0.5, -0.2, -1.2, 0.4, 1.1, -0.6), (0.79758, 0.30656, 0.08212), 0.72858, 0.60782),
]


def chain() -> mujoco.MjModel:
    """Return the arm as nested bodies with the published offsets and turns."""
    turned, back = "0 0 0.70710678 0.70710678", "0.70710678 0.70710678 0 0"
    links = [("0 0 0.1575", "1 0 0 0"), ("0 0 0.2025", turned), ("0 0.2045 0", turned),
             ("0 0 0.2155", back), ("0 0.1845 0", turned), ("0 0 0.2155", back),
             ("0 0.081 0", turned)]  # fmt: skip
    opening = "".join(
        f'<body name="link{k + 1}" pos="{place}" quat="{turn}"><joint axis="0 0 1"/>'
        '<geom size="0.01" mass="1"/>'
        for k, (place, turn) in enumerate(links)
    )
    tip = '<site name="tip" pos="0 0 0.585"/>'
    xml = f"<mujoco><worldbody>{opening}{tip}{'</body>' * 7}</worldbody></mujoco>"
    return mujoco.MjModel.from_xml_string(xml)


def some(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (*shape, 7))


@pytest.mark.parametrize(("joints", "tip", "link4", "link7"), PUBLISHED)
def test_poses_equal_the_published(joints, tip, link4, link7):
    """To the 1e-4 m; the joints of home are published rounded."""
    place, elbow, last = iiwa.places(np.array(joints))
    np.testing.assert_allclose(place, tip, atol=1e-4)
    for found, known in ((elbow, link4), (last, link7)):
        if known is not None:
            assert found == pytest.approx(known, abs=1e-4)


def test_poses_equal_mujocos():
    model = chain()
    data = mujoco.MjData(model)
    for joints in some(1, 20):
        data.qpos[:] = joints
        mujoco.mj_kinematics(model, data)
        tip, link4, link7 = iiwa.places(joints)
        np.testing.assert_allclose(tip, data.site("tip").xpos, atol=1e-7)
        assert link4 == pytest.approx(data.body("link4").xpos[2], abs=1e-7)
        assert link7 == pytest.approx(data.body("link7").xpos[2], abs=1e-7)


def test_slopes_equal_finite_differences():
    """Central differences of step 1e-6: 1e-12 of curvature and 1e-10 of rounding."""
    joints = some(2, 6)
    pose = iiwa.pose(joints)
    slopes = iiwa.link_gradients(joints)
    for joint in range(7):
        step = 1e-6 * np.eye(7)[joint]
        ahead, behind = iiwa.places(joints + step), iiwa.places(joints - step)
        tip, *links = ((a - b) / 2e-6 for a, b in zip(ahead, behind, strict=True))
        np.testing.assert_allclose(pose.jacobian[..., joint], tip, atol=1e-8)
        for found, known in zip(slopes, links, strict=True):
            np.testing.assert_allclose(found[..., joint], known, atol=1e-8)


def test_the_parts_agree_with_the_whole():
    joints = some(3, 4)
    pose, (tip, slope) = iiwa.pose(joints), iiwa.tip_slope(joints)
    np.testing.assert_allclose(iiwa.tip(joints), pose.tip, atol=1e-14)
    np.testing.assert_allclose(tip, pose.tip, atol=1e-14)
    np.testing.assert_allclose(slope, pose.jacobian[:, 2], atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(pose.axes, axis=-1), 1.0, atol=1e-14)


def test_a_batch_equals_its_members():
    joints = some(4, 2, 3)
    pose = iiwa.pose(joints)
    for index in np.ndindex(2, 3):
        one = iiwa.pose(joints[index])
        np.testing.assert_allclose(pose.jacobian[index], one.jacobian, atol=1e-14)
        np.testing.assert_allclose(pose.link7[index], one.link7, atol=1e-14)


def test_the_mirror_of_a_posture_mirrors_the_tip():
    joints = some(5, 5)
    tip, mirrored = iiwa.pose(joints), iiwa.pose(MIRROR * joints)
    np.testing.assert_allclose(mirrored.tip, tip.tip * (1, -1, 1), atol=1e-14)
    np.testing.assert_allclose(mirrored.link7, tip.link7, atol=1e-14)


def test_the_last_joint_does_not_move_the_tip():
    np.testing.assert_allclose(iiwa.pose(some(6, 5)).jacobian[..., 6], 0.0, atol=1e-15)
