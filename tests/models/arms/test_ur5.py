"""Kinematics of the UR5: against MuJoCo, finite differences, and themselves."""

import mujoco
import numpy as np
import pytest

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import scene
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.systems import catalogue

WORKSPACE = Workspace()


def grid(y: int = 71, z: int = 48, margin: float = 0.0) -> np.ndarray:
    """Return points of the robot's plane, (y, z, 3)."""
    ys = np.linspace(WORKSPACE.y[0] - margin, WORKSPACE.y[1] + margin, y)
    zs = np.linspace(WORKSPACE.z[0] - margin, WORKSPACE.z[1] + margin, z)
    across, up = np.meshgrid(ys, zs, indexing="ij")
    return np.stack((np.full_like(across, WORKSPACE.x), across, up), -1)


def test_pose_equals_mujocos():
    model = scene.build()
    data = mujoco.MjData(model)
    for joints in np.random.default_rng(1).uniform(-6.0, 6.0, (30, 6)):
        data.qpos[:] = joints
        mujoco.mj_kinematics(model, data)
        pose = ur5.forward(joints)
        np.testing.assert_allclose(pose[:3, 3], data.site("paddle").xpos, atol=1e-9)
        axes = data.site("paddle").xmat.reshape(3, 3)
        np.testing.assert_allclose(pose[:3, :3], axes, atol=1e-9)


def test_a_batch_of_poses_and_rates_equals_its_members():
    joints = np.random.default_rng(2).uniform(-3.0, 3.0, (2, 3, 6))
    poses, rates = ur5.forward(joints), ur5.paddle(joints)[1]
    for index in np.ndindex(2, 3):
        np.testing.assert_allclose(poses[index], ur5.forward(joints[index]), atol=1e-14)
        np.testing.assert_allclose(rates[index], ur5.paddle(joints[index])[1], atol=1e-14)


def test_turning_the_base_turns_the_paddle_about_the_base():
    joints = np.random.default_rng(3).uniform(-3.0, 3.0, 6)
    turned = joints + np.array((0.7, 0, 0, 0, 0, 0))
    c, s = np.cos(0.7), np.sin(0.7)
    about = np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
    before = ur5.forward(joints)[:3, 3] - ur5.BASE
    after = ur5.forward(turned)[:3, 3] - ur5.BASE
    np.testing.assert_allclose(after, about @ before, atol=1e-12)


def test_rates_equal_finite_differences():
    """Central differences of step 1e-6: error 1e-12 of curvature and 1e-10 of rounding."""
    joints = np.random.default_rng(4).uniform(-3.0, 3.0, (20, 6))
    places, rates = ur5.paddle(joints)
    np.testing.assert_allclose(places, ur5.forward(joints)[..., :3, 3], atol=1e-14)
    for joint in range(6):
        step = 1e-6 * np.eye(6)[joint]
        ahead, behind = ur5.forward(joints + step), ur5.forward(joints - step)
        slope = (ahead - behind)[..., :3, 3] / 2e-6
        np.testing.assert_allclose(rates[..., joint], slope, atol=1e-8)


def test_inverse_returns_the_point_with_the_face_towards_the_table():
    points = grid(margin=0.1)
    poses = ur5.forward(ur5.inverse(points))
    np.testing.assert_allclose(poses[..., :3, 3], points, atol=1e-12)
    facing = np.broadcast_to((-1.0, 0.0, 0.0), points.shape)
    np.testing.assert_allclose(poses[..., :3, 2], facing, atol=1e-12)


def test_one_branch_covers_the_workspace_away_from_singularities_and_limits():
    """Neighbours 1 cm apart differ by no more than 1 cm times the largest rate, 3.4 rad/m."""
    joints = ur5.inverse(grid())
    for axis in (0, 1):
        assert np.abs(np.diff(joints, axis=axis)).max() <= 0.0101 * 3.4
    assert ur5.spread(joints).min() > 0.35
    assert np.abs(joints).max() < 0.5 * ur5.JOINT_RANGE
    assert np.isfinite(ur5.inverse(grid(margin=0.1))).all()


def test_a_metre_a_second_in_the_workspace_asks_at_most_3_5_rad_a_second():
    joints = ur5.inverse(grid(36, 24))
    angles = np.linspace(0.0, np.pi, 37)
    for velocity in np.stack((np.cos(angles), np.sin(angles)), -1):
        speeds = ur5.joint_speeds(joints, np.broadcast_to(velocity, (*joints.shape[:-1], 2)))
        assert np.abs(speeds).max() < 3.5


def test_joint_speeds_give_the_velocity_and_nothing_else():
    points = grid(15, 12)
    joints = ur5.inverse(points)
    velocity = np.random.default_rng(5).normal(size=(*points.shape[:-1], 2))
    speeds = ur5.joint_speeds(joints, velocity)
    moved = (ur5.paddle(joints)[1] @ speeds[..., None])[..., 0]
    np.testing.assert_allclose(moved[..., 1:], velocity, atol=1e-12)
    np.testing.assert_allclose(moved[..., 0], 0.0, atol=1e-12)
    # The face stays: one joint turns against another, about each axis.
    np.testing.assert_allclose(speeds[..., 1:4].sum(-1), 0.0, atol=1e-12)
    np.testing.assert_allclose(speeds[..., 4] - speeds[..., 0], 0.0, atol=1e-12)


@pytest.mark.parametrize("point", [(0.3, 1.5, 0.2), (0.3, 0.0, 1.6), (0.75, 0.11, 0.2)])
def test_out_of_reach_is_nan(point):
    assert np.isnan(ur5.inverse(np.array(point))).any()


def test_the_arm_keeps_clear_of_the_table_the_microphones_and_itself():
    """On a grid 12 cm beyond the workspace, as far as braking leads; neighbours are left out."""
    places = [(x, y, z) for x, y, z in catalogue.load_settings()[Capture].microphones]
    model = scene.build(microphones=places)
    data = mujoco.MjData(model)
    bodies = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3", "paddle")
    microphones = [f"microphone_{channel}" for channel in range(3)]
    of = {name: [g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body(name).id]
          for name in ("table", *microphones, *bodies)}  # fmt: skip
    least = {(thing, name): 0.015 for thing in ("table", *microphones) for name in bodies}
    least |= {(thing, "paddle"): 0.03 for thing in microphones}
    least |= {(a, b): 0.015 for i, a in enumerate(bodies) for b in bodies[i + 3 :]}
    for joints in ur5.inverse(grid(13, 9, margin=0.12)).reshape(-1, 6):
        data.qpos[:] = joints
        mujoco.mj_kinematics(model, data)
        for first, second in least:
            for a in of[first]:
                for b in of[second]:
                    gap = mujoco.mj_geomDistance(model, data, a, b, 0.2, None)
                    assert gap > least[first, second], (first, second, gap)
