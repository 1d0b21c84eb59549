"""The arm in MuJoCo follows its plan, within its motors' torques, and counts its energy."""

import mujoco
import numpy as np
import pytest

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import paddle_arm, paddle_motion, scene

PLANE = 0.30
ARM = paddle_arm.build()
JOINT_TORQUE = np.array((150.0, 150.0, 150.0, 28.0, 28.0, 28.0))  # N m
"""The UR5's largest: Universal Robots, article "Max. joint torques"."""


def travel(seed: int, targets: int = 4) -> list[tuple[paddle_arm.Motion, paddle_arm.Track]]:
    draw = np.random.default_rng(seed)
    motion, legs = paddle_arm.at_rest((0.0, 0.2), plane=PLANE), []
    for _ in range(targets):
        goal = (draw.uniform(-0.35, 0.35), draw.uniform(0.0, 0.5))
        motion = paddle_arm.retarget(motion, goal, duration=draw.uniform(0.1, 0.5))
        motion, track = paddle_arm.advance(ARM, motion, draw.uniform(0.1, 0.5))
        legs.append((motion, track))
    return legs


@pytest.mark.parametrize("seed", range(4))
def test_the_paddle_follows_its_plan_within_a_millimetre(seed):
    for motion, track in travel(seed):
        planned = paddle_motion.reference(motion.plan, track.times)
        assert np.abs(track.paddle[:, 1:] - planned.position).max() < 1e-3
        assert np.abs(track.paddle[:, 0] - PLANE).max() < 1e-3
        assert np.abs(track.joint_speeds).max() <= ur5.JOINT_SPEED


@pytest.mark.parametrize("seed", range(4))
def test_motors_need_at_most_half_of_their_torque(seed):
    """What the actuators gave, from their law: control - kp q - kd dq."""
    kp, kd = -ARM.model.actuator_biasprm[:, 1], -ARM.model.actuator_biasprm[:, 2]
    for _, track in travel(seed):
        torque = track.controls - kp * track.joints[:-1] - kd * track.joint_speeds[:-1]
        assert (np.abs(torque) <= 0.5 * JOINT_TORQUE).all()
    np.testing.assert_array_equal(ARM.model.actuator_forcerange[:, 1], JOINT_TORQUE)


def test_energy_of_a_straight_motion_is_that_of_least_jerk():
    """Of d in T: v = 30 d/T s^2 (1-s)^2, so the integral of v^2 / 2 is (450 / 630) d^2 / T."""
    motion = paddle_arm.at_rest((-0.1, 0.15), plane=PLANE)
    motion = paddle_arm.retarget(motion, (0.1, 0.3), duration=0.6)
    motion, track = paddle_arm.advance(ARM, motion, 1.0)
    assert motion.plan.duration == 0.6
    closed = 450.0 / 630.0 * (0.2**2 + 0.15**2) / 0.6
    # The paddle lags by less than 1 mm in 250; the energy by less than half a per cent.
    assert motion.energy == pytest.approx(closed, rel=5e-3)
    again = 0.5 * (track.velocity**2).sum(-1)
    assert motion.energy == pytest.approx(np.trapezoid(again, track.times), rel=1e-9)


def test_no_target_no_energy_and_no_sag():
    motion = paddle_arm.at_rest((0.2, 0.4), plane=PLANE)
    motion, track = paddle_arm.advance(ARM, motion, 2.0)
    assert motion.energy < 1e-9
    assert np.abs(track.paddle - (PLANE, 0.2, 0.4)).max() < 1e-5


def test_many_short_stretches_are_one_long_one():
    start = paddle_arm.retarget(
        paddle_arm.at_rest((0.0, 0.2), plane=PLANE), (0.2, 0.3), duration=0.4
    )
    whole, _ = paddle_arm.advance(ARM, start, 0.55)
    pieces = start
    for _ in range(50):
        pieces, _ = paddle_arm.advance(ARM, pieces, 0.011)
    assert pieces.time == pytest.approx(whole.time, abs=1e-9)
    # The feed-forward's last difference of a stretch is the only thing a seam could change.
    np.testing.assert_allclose(pieces.joints, whole.joints, atol=1e-9)
    assert pieces.energy == pytest.approx(whole.energy, rel=1e-6)


def test_the_track_is_the_motion_that_mujoco_steps():
    motion = paddle_arm.at_rest((0.0, 0.2), plane=PLANE)
    motion = paddle_arm.retarget(motion, (0.2, 0.1), duration=0.5)
    _, track = paddle_arm.advance(ARM, motion, 0.3)
    data = mujoco.MjData(ARM.model)
    data.qpos[:] = motion.joints
    for i, control in enumerate(track.controls):
        data.ctrl[:] = control
        mujoco.mj_step(ARM.model, data)
        np.testing.assert_allclose(data.qpos, track.joints[i + 1], atol=1e-10)
    mujoco.mj_kinematics(ARM.model, data)
    np.testing.assert_allclose(data.site("paddle").xpos, track.paddle[-1], atol=1e-9)
    slope = np.gradient(track.paddle, track.times, axis=0)[1:-1]
    # Central differences over 2 ms steps of at most 1000 m/s^3 jerk: h^2/6 of it.
    np.testing.assert_allclose(slope, track.velocity[1:-1], atol=7e-3)


def test_the_scene_carries_the_published_frames_and_the_places_asked_for():
    places = [(0.1, 0.2, 0.3), (0.2, 0.3, 0.4), (0.3, 0.4, 0.5)]
    tilt = 0.187
    model = scene.build(tilt=tilt, microphones=places, ball_radius=0.0335)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(data.body("base").xpos, ur5.BASE)
    np.testing.assert_allclose([data.body(f"microphone_{i}").xpos for i in range(3)], places)
    normal = data.body("table").xmat.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(normal, (-np.sin(tilt), 0.0, np.cos(tilt)), atol=1e-12)
    foot = data.body("table").xmat.reshape(3, 3) @ (-0.275, 0.0, 0.0)
    gap = foot - data.body("cup").xpos
    np.testing.assert_allclose(gap, (8.6 * 0.0254, 0.0, 0.0), atol=1e-12)
    assert model.geom("ball").size[0] == 0.0335
    with pytest.raises(ValueError, match="three"):
        scene.build(microphones=[places[0]] * 4)


def test_time_does_not_run_backwards():
    with pytest.raises(ValueError, match="negative"):
        paddle_arm.advance(ARM, paddle_arm.at_rest((0.0, 0.2), plane=PLANE), -0.1)
    with pytest.raises(ValueError, match="reach"):
        paddle_arm.at_rest((0.0, 3.0), plane=PLANE)
