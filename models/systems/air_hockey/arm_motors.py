r"""The motors of a simulated arm: set-points at 1 kHz from commands at 50 Hz, and torques.

A command is the joints' positions and speeds at the end of the coming period. From the last command
to it goes a cubic in each joint. Its set-points q* follow it as fast as the limits of speed allow,
near the ends of the ranges at most at k = 20 /s times what is left, and the joints' motors give

    tau = M(q) ddq* + c(q, dq) + g(q) + Kp (q* - q) + Kd (dq* - dq),    clipped,

with dq the low-passed speeds that are observed too, not the joints' own: where joints 1 and 3 are
in line, next to nothing turns against both, and with its own speed 1 kHz would be too slow a law.

The universal joint under the rod's tip is held by a weaker law of the same kind at the angles that
keep the mallet upright. A law that does not know the mallet has M, c and g of an arm without it.
Joint angles are in rad, speeds in rad/s. Facts: public files of the 2023 Robot Air Hockey
Challenge.
"""

from dataclasses import dataclass, field

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.arms.iiwa_dynamics import DAMPING, STIFFNESS, TORQUE_LIMIT
from ricochet.models.systems.air_hockey.arm import mallet_offset
from ricochet.models.systems.air_hockey.interface import PERIOD

SUBSTEPS = 20
STEP = PERIOD / SUBSTEPS
"""One millisecond, s."""
_RANGE_GAIN = 20.0  # 1/s
_SLACK = 1e-6  # rad/s
_LOW_PASS = 0.274


@dataclass(frozen=True)
class Reference:
    """Set-points of a period at each step's end, with their rates."""

    position: Float[ndarray, "step 7"]
    speed: Float[ndarray, "step 7"]
    acceleration: Float[ndarray, "step 7"]


@dataclass(frozen=True)
class Place:
    """Where an arm stands in MuJoCo's vectors, and the name of its seventh link."""

    joints: slice
    mallet: slice
    link7: str = "link7"


@dataclass
class Motors:
    """The motors of one arm; changes as they are driven.

    Attributes:
        unladen: A scene of one arm, at `UNLADEN`, whose mallet has next to no mass, by which the
            law computes; None for a law that knows the mallet.
        command: Last command, joint positions and speeds.
        setpoint: The last set-points; the last command unless limited.
        speeds: Low-passed joint speeds.
    """

    place: Place
    unladen: tuple[mujoco.MjModel, mujoco.MjData] | None
    command: Float[ndarray, "2 7"]
    setpoint: Float[ndarray, " 7"]
    speeds: Float[ndarray, " 7"] = field(default_factory=lambda: np.zeros(7))


UNLADEN = Place(slice(3, 10), slice(10, 12))
"""The arm of the scene of one."""


def at_rest(
    place: Place, joints: Float[ndarray, " 7"], unladen: tuple[mujoco.MjModel, mujoco.MjData] | None
) -> Motors:
    """Return the motors of an arm that rests."""
    rests = np.array(joints, float)
    return Motors(place, unladen, np.stack((rests, np.zeros(7))), rests)


def references(motors: Motors, command: ndarray) -> Reference:
    """Return the set-points of the period under a command.

    Raises:
        ValueError: If the command is not finite or of another shape.
    """
    if command.shape != (2, 7) or not np.isfinite(command).all():
        raise ValueError(f"command: found shape {command.shape}, expected (2, 7) of finite numbers")
    return limited(motors.setpoint, interpolated(motors.command, command))


def accept(motors: Motors, command: Float[ndarray, "2 7"], reference: Reference) -> None:
    """Note that a period under a command is over."""
    motors.command, motors.setpoint = np.array(command, float), reference.position[-1]


def drive(
    motors: Motors, model: mujoco.MjModel, data: mujoco.MjData, reference: Reference, step: int
) -> None:
    """Apply the torques of a step, after MuJoCo's first half of it."""
    data.qfrc_applied[motors.place.joints] = _torques(motors, model, data, reference, step)
    mallet = motors.place.mallet
    data.qfrc_applied[mallet] = (
        mallet_offset.STIFFNESS * (upright(data, motors.place.link7) - data.qpos[mallet])
        - mallet_offset.DAMPING * data.qvel[mallet]
    )


def observe_speeds(motors: Motors, data: mujoco.MjData) -> None:
    """Low-pass the joints' speeds at a step's end."""
    motors.speeds += _LOW_PASS * (data.qvel[motors.place.joints] - motors.speeds)


def upright(data: mujoco.MjData, link7: str = "link7") -> Float[ndarray, " 2"]:
    """Return the angles of the universal joint at which the mallet's axis points down, rad."""
    down = -data.body(link7).xmat.reshape(3, 3)[2]
    return np.array((np.arctan2(down[0], down[2]), -np.arcsin(np.clip(down[1], -1.0, 1.0))))


def interpolated(before: Float[ndarray, "2 7"], after: Float[ndarray, "2 7"]) -> Reference:
    """Return the cubic from command to command at each step's end, and its derivatives."""
    s = np.arange(1, SUBSTEPS + 1)[:, None] / SUBSTEPS
    way, first, last = after[0] - before[0], PERIOD * before[1], PERIOD * after[1]
    square, cube = 3.0 * way - 2.0 * first - last, first + last - 2.0 * way
    position = before[0] + s * (first + s * (square + s * cube))
    speed = (first + s * (2.0 * square + 3.0 * s * cube)) / PERIOD
    return Reference(position, speed, (2.0 * square + 6.0 * s * cube) / PERIOD**2)


def limited(reached: Float[ndarray, " 7"], path: Reference) -> Reference:
    """Let the set-points follow a path from where they are, no faster than is allowed."""
    position, speed = path.position, path.speed
    before = np.concatenate((reached[None], position[:-1]))
    least, most = _fastest(before)
    moved = (position - before) / STEP
    within = (speed >= least) & (speed <= most) & (moved > least - _SLACK) & (moved < most + _SLACK)
    if within.all():
        return path
    kept, rates = np.empty_like(position), np.empty_like(speed)
    for k in range(len(position)):
        least, most = _fastest(reached)
        rates[k] = np.clip(speed[k], least, most)
        kept[k] = reached = np.clip(position[k], reached + STEP * least, reached + STEP * most)
    return Reference(kept, rates, np.where(rates == speed, path.acceleration, 0.0))


def _fastest(position: ndarray) -> tuple[ndarray, ndarray]:
    """Return least and largest joint speeds at positions, rad/s."""
    limit, speed = iiwa.JOINT_LIMIT, iiwa.SPEED_LIMIT
    down, up = _RANGE_GAIN * (-limit - position), _RANGE_GAIN * (limit - position)
    return np.clip(down, -speed, speed), np.clip(up, -speed, speed)


def _torques(
    motors: Motors, model: mujoco.MjModel, data: mujoco.MjData, reference: Reference, step: int
) -> Float[ndarray, " 7"]:
    """Return the motors' torques, N m."""
    assumed, joints = data, motors.place.joints
    if motors.unladen is not None:
        model, assumed = motors.unladen
        joints = UNLADEN.joints
        for here, there in (
            (UNLADEN.joints, motors.place.joints),
            (UNLADEN.mallet, motors.place.mallet),
        ):
            assumed.qpos[here], assumed.qvel[here] = data.qpos[there], data.qvel[there]
        assumed.qvel[joints] = motors.speeds
        mujoco.mj_step1(model, assumed)
    wanted, inertial = np.zeros(model.nv), np.zeros(model.nv)
    wanted[joints] = reference.acceleration[step]
    mujoco.mj_mulM(model, assumed, inertial, wanted)
    off = reference.position[step] - data.qpos[motors.place.joints]
    feedback = STIFFNESS * off + DAMPING * (reference.speed[step] - motors.speeds)
    torque = inertial[joints] + assumed.qfrc_bias[joints] + feedback
    return np.asarray(np.clip(torque, -TORQUE_LIMIT, TORQUE_LIMIT))
