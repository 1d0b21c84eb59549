"""The UR5 with its paddle inside MuJoCo, its joints under computed torque at 500 Hz.

Each joint's motor gives, within its largest torque,

    tau = kp (q* - q) + kd (dq* - dq) + [M(q*) ddq* + c(q*, dq*) + g(q*)],

with q*(t) the upright paddle's joint angles on the plan of `paddle_motion` and the bracket MuJoCo's
inverse dynamics there. The motors' part in q and dq is in the scene's actuators; so a motion is
one roll-out of controls known beforehand. Nothing is drawn: the same targets give the same motion.

The energy that Matl et al. (STReSSD, section 4.4) compare is the paddle's kinetic energy over its
mass, integrated over time: the integral of |v|^2 / 2, in J s/kg.
"""

from dataclasses import dataclass, replace

import mujoco
import numpy as np
from jaxtyping import Float
from mujoco import rollout
from numpy import ndarray

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import paddle_motion, scene
from ricochet.models.systems.bouncing_ball.tracking.paddle_motion import Plan

STEP = 0.002  # s


@dataclass(frozen=True)
class Arm:
    """The scene, and room to compute in (not shared between threads)."""

    model: mujoco.MjModel
    data: mujoco.MjData


@dataclass(frozen=True)
class Motion:
    """The arm at one instant.

    Attributes:
        time: Time simulated, a whole number of steps, s.
        clock: Time asked for so far, within half a step of `time`, s.
        joints, joint_speeds: rad and rad/s.
        energy: Integral of |v|^2 / 2 of the paddle so far, J s/kg.
    """

    time: float
    clock: float
    joints: Float[ndarray, "6"]
    joint_speeds: Float[ndarray, "6"]
    plan: Plan
    energy: float = 0.0


@dataclass(frozen=True)
class Track:
    """The arm at every step of a stretch of time, its start included.

    Attributes:
        joints, joint_speeds: rad and rad/s.
        paddle, velocity: Of the paddle's centre, m and m/s.
        controls: What the motors were given for each step, N m (with kp q* + kd dq*).
    """

    times: Float[ndarray, " time"]
    joints: Float[ndarray, "time 6"]
    joint_speeds: Float[ndarray, "time 6"]
    paddle: Float[ndarray, "time 3"]
    velocity: Float[ndarray, "time 3"]
    controls: Float[ndarray, "step 6"]


def build(model: mujoco.MjModel | None = None) -> Arm:
    """Return the arm in a scene of `scene.build`; in the plain one when absent."""
    model = scene.build() if model is None else model
    return Arm(model, mujoco.MjData(model))


def at_rest(point: tuple[float, float], *, plane: float) -> Motion:
    """Return the arm at rest with its paddle at (y, z) of the plane; refuse one out of reach."""
    joints = ur5.inverse(np.array((plane, *point)))
    if not np.isfinite(joints).all():
        raise ValueError(f"point: {point} is out of the arm's reach")
    return Motion(0.0, 0.0, joints, np.zeros(6), paddle_motion.rest(point, plane=plane))


def retarget(motion: Motion, goal: tuple[float, float], *, duration: float) -> Motion:
    """Turn to a goal (y, z), m, within reach, in a time > 0, s; see `paddle_motion.replan`."""
    plan = paddle_motion.replan(motion.plan, goal, now=motion.time, duration=duration)
    return replace(motion, plan=plan)


def halt(motion: Motion) -> Motion:
    """Brake now and stay."""
    return replace(motion, plan=paddle_motion.halt(motion.plan, now=motion.time))


def advance(arm: Arm, motion: Motion, seconds: float) -> tuple[Motion, Track]:
    """Let a time of at least 0, s, pass; return the arm at the end, and every step on the way."""
    if not seconds >= 0.0:
        raise ValueError(f"seconds: must not be negative, got {seconds}")
    clock = motion.clock + seconds
    steps = max(round((clock - motion.time) / STEP), 0)
    times = motion.time + STEP * np.arange(steps + 1)
    controls = _controls(arm, motion.plan, times)
    joints, speeds = _roll_out(arm, motion, controls)
    paddle, velocity = _paddle(joints, speeds)
    power = 0.5 * (velocity**2).sum(-1)
    energy = motion.energy + STEP * float((0.5 * (power[1:] + power[:-1])).sum())
    end = Motion(float(times[-1]), clock, joints[-1], speeds[-1], motion.plan, energy)
    return end, Track(times, joints, speeds, paddle, velocity, controls)


def paddle(motion: Motion) -> tuple[Float[ndarray, "3"], Float[ndarray, "3"]]:
    """Return the paddle's centre, m, and velocity, m/s."""
    places, velocities = _paddle(motion.joints[None], motion.joint_speeds[None])
    return places[0], velocities[0]


def _controls(arm: Arm, plan: Plan, times: Float[ndarray, " time"]) -> Float[ndarray, "step 6"]:
    """Return kp q* + kd dq* + the torque of the inverse dynamics, for each step between times."""
    joints, speeds = paddle_motion.joint_reference(plan, times)
    accelerations = np.diff(speeds, axis=0) / STEP
    joints, speeds = joints[:-1], speeds[:-1]
    torques = _inverse_dynamics(arm, joints, speeds, accelerations)
    stiffness, damping = -arm.model.actuator_biasprm[:, 1], -arm.model.actuator_biasprm[:, 2]
    return stiffness * joints + damping * speeds + torques


def _inverse_dynamics(
    arm: Arm,
    joints: Float[ndarray, "step 6"],
    speeds: Float[ndarray, "step 6"],
    accelerations: Float[ndarray, "step 6"],
) -> Float[ndarray, "step 6"]:
    """Return the torques that MuJoCo's model of the arm needs, N m; the same at rest once."""
    torques, data = np.empty_like(joints), arm.data
    for i in range(len(joints)):
        if i and not (speeds[i].any() or accelerations[i].any() or accelerations[i - 1].any()):
            torques[i] = torques[i - 1]
            continue
        data.qpos[:], data.qvel[:], data.qacc[:] = joints[i], speeds[i], accelerations[i]
        mujoco.mj_inverse(arm.model, data)
        torques[i] = data.qfrc_inverse
    return torques


def _roll_out(
    arm: Arm, motion: Motion, controls: Float[ndarray, "step 6"]
) -> tuple[Float[ndarray, "time 6"], Float[ndarray, "time 6"]]:
    """Return joint angles and speeds at the start and after each step."""
    first = np.concatenate(((motion.time,), motion.joints, motion.joint_speeds))[None]
    if len(controls):
        states, _ = rollout.rollout(arm.model, arm.data, first[None, 0], control=controls[None])
        first = np.concatenate((first, states[0]))
    return first[:, 1:7], first[:, 7:13]


def _paddle(
    joints: Float[ndarray, "time 6"], speeds: Float[ndarray, "time 6"]
) -> tuple[Float[ndarray, "time 3"], Float[ndarray, "time 3"]]:
    """Return the paddle's centres and velocities."""
    places, rates = ur5.paddle(joints)
    return places, (rates @ speeds[..., None])[..., 0]
