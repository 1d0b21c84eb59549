r"""An air-hockey table with a seven-joint arm in MuJoCo: 1 kHz physics under 50 Hz commands.

A command is the joints' positions and speeds at the end of the coming 20 ms. From the last command
to it goes a cubic in each joint. Its set-points q* follow it as fast as the limits of speed allow,
near the ends of the ranges at most at k = 20 /s times what is left, and the joints' motors give

    tau = M(q) ddq* + c(q, dq) + g(q) + Kp (q* - q) + Kd (dq* - dq),    clipped,

with dq the low-passed speeds that are observed too, not the joints' own: where joints 1 and 3 are
in line, next to nothing turns against both, and with its own speed 1 kHz would be too slow a law.

The universal joint under the rod's tip is held by a weaker law of the same kind at the angles that
keep the mallet upright. Observations are laid out as `interface` says; where there is no opponent,
its mallet is observed at its robot's base, off the table.

`Disturbance` is ours: a steady airflow that pushes the puck, noise of the observed place, tracking
losses (the puck's numbers are NaN) and delay. As on the challenge's arm the law does not know the
mallet that it carries (M, c and g are those without it), so the arm hangs through and lags by
millimetres, unless `mallet_known`. Facts: public files of the 2023 Robot Air Hockey Challenge. Only
the puck touches anything; an opponent's mallet moves as it is scripted (`opponent.scripts`),
whatever it meets.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.arms.iiwa_dynamics import DAMPING, STIFFNESS, TORQUE_LIMIT
from ricochet.models.systems.air_hockey.arm import mallet_offset
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.opponent.scripts import Opponent
from ricochet.models.systems.air_hockey.table import Table

SCENE = Path(__file__).with_name("air_hockey.xml")
SUBSTEPS = 20
STEP = PERIOD / SUBSTEPS  # s, 1 ms
_RANGE_GAIN = 20.0  # 1/s
_SLACK = 1e-6  # rad/s
_FEATHER = 1e-6
_LOW_PASS = 0.274
_PARKED = (1.51, 0.0)  # m, in the table's frame
PUCK, ARM, MALLET, OPPONENT = slice(0, 3), slice(3, 10), slice(10, 12), slice(12, 14)
"""Where their coordinates stand in MuJoCo's vectors."""
RIMS = ("left", "right", "far_left", "far_right", "near_left", "near_right")


@dataclass(frozen=True)
class Disturbance:
    """What disturbs an episode, unknown to the agent.

    Attributes:
        airflow: Steady acceleration of the puck in a direction drawn per episode, m/s^2.
        position_noise: Standard deviation of the observed place, m per axis.
        loss: Probability per period that tracking is lost.
        lost: Periods for which it then is.
        delay: Periods by which the puck's place is observed late.
        mallet_known: Whether the motors' law includes the mallet.
    """

    airflow: float = 0.1
    position_noise: float = 2e-3
    loss: float = 0.0
    lost: int = 0
    delay: int = 0
    mallet_known: bool = False


CALM = Disturbance(airflow=0.0, position_noise=0.0, mallet_known=True)


@dataclass(frozen=True)
class World:
    """The scene (not shared between threads), and one whose mallet has next to no mass."""

    model: mujoco.MjModel
    data: mujoco.MjData
    unladen: tuple[mujoco.MjModel, mujoco.MjData]
    touched: dict[int, str]
    puck: frozenset[int]
    mallet: int
    table: Table


@dataclass
class Episode:
    """One episode under way; changes as it is stepped.

    Attributes:
        airflow: Acceleration of the puck by it, m/s^2.
        command: Last command, joint positions, rad, and speeds, rad/s.
        setpoint: The motors' last set-points, rad; the last command unless limited.
        speeds: Low-passed joint speeds, rad/s.
        trace: At every millisecond puck (x, y, yaw, vx, vy, yaw rate), mallet (x, y, z) and
            opponent (x, y), m.
        touches: At every millisecond what the puck touched: rims by name, "mallet" or "opponent".
        observed: The joints at every period, positions and speeds.
        seen: The puck at every period, as observed without delay and losses.
        blind: Periods for which tracking is still lost.
    """

    world: World
    disturbance: Disturbance
    draw: np.random.Generator
    airflow: Float[ndarray, " 2"]
    opponent: Opponent | None
    command: Float[ndarray, "2 7"]
    setpoint: Float[ndarray, " 7"]
    speeds: Float[ndarray, " 7"]
    trace: list[ndarray] = field(default_factory=list)
    touches: list[tuple[str, ...]] = field(default_factory=list)
    observed: list[ndarray] = field(default_factory=list)
    seen: list[ndarray] = field(default_factory=list)
    blind: int = 0


def build(edit: Callable[[mujoco.MjModel], None] | None = None) -> World:
    """Load the scene.

    Args:
        edit: Makes another table of it, by changing the compiled model in place.
    """
    model = mujoco.MjModel.from_xml_path(str(SCENE))
    if edit is not None:
        edit(model)
    data = mujoco.MjData(model)
    touched = {model.geom(name).id: name for name in (*RIMS, "mallet", "opponent")}
    puck = frozenset(model.geom(name).id for name in ("puck", "puck_outline"))
    return World(model, data, _unladen(), touched, puck, model.geom("mallet").id, Table())


def _unladen() -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the scene with a mallet of next to no mass that touches nothing."""
    model = mujoco.MjModel.from_xml_path(str(SCENE))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
    model.body("mallet").mass[:] *= _FEATHER
    model.body("mallet").inertia[:] *= _FEATHER
    return model, mujoco.MjData(model)


def reset(
    world: World,
    *,
    puck: Float[ndarray, " n"],
    disturbance: Disturbance,
    draw: np.random.Generator,
    joints: Float[ndarray, " 7"] = iiwa.HOME,
    opponent: Opponent | None = None,
) -> tuple[Episode, Float[ndarray, " 23"]]:
    """Begin an episode with the arm at rest; return it and the first observation.

    Args:
        world: The scene; an earlier episode in it ends.
        puck: Its x, y (m, table frame) and velocity (m/s); then its spin, rad/s, if it has any.
        opponent: Fresh: it may keep how it moves.
    """
    mujoco.mj_resetData(world.model, world.data)
    world.data.qpos[PUCK], world.data.qpos[ARM] = (*puck[:2], 0.0), joints
    world.data.qvel[PUCK] = (*puck[2:], 0.0)[:3]
    if opponent is None:
        world.data.qpos[OPPONENT] = _PARKED
    else:
        _move_opponent(world, opponent, 0.0)
    mujoco.mj_kinematics(world.model, world.data)
    world.data.qpos[MALLET] = upright(world.data)
    mujoco.mj_forward(world.model, world.data)
    angle = draw.uniform(-np.pi, np.pi)
    airflow = disturbance.airflow * np.array((np.cos(angle), np.sin(angle)))
    command = np.stack((np.array(joints, float), np.zeros(7)))
    begun = command, command[0], np.zeros(7)
    episode = Episode(world, disturbance, draw, airflow, opponent, *begun)
    return episode, _observe(episode)


def step(episode: Episode, command: ndarray) -> Float[ndarray, " 23"]:
    """Let one period pass under a command; return the observation at its end.

    Args:
        command: Joint positions, rad, and speeds, rad/s, at the end of the period, shape (2, 7).

    Raises:
        ValueError: If the command is not finite or of another shape.
    """
    if command.shape != (2, 7) or not np.isfinite(command).all():
        raise ValueError(f"command: found shape {command.shape}, expected (2, 7) of finite numbers")
    world, data = episode.world, episode.world.data
    references = _limit(episode.setpoint, *_interpolate(episode.command, command))
    mass = float(world.model.body("puck").mass[0])
    data.qfrc_applied[:2] = mass * episode.airflow
    for position, speed, acceleration in zip(*references, strict=True):
        if episode.opponent is not None:
            _move_opponent(world, episode.opponent, STEP * len(episode.trace))
        mujoco.mj_step1(world.model, data)
        data.qfrc_applied[ARM] = _torques(episode, position, speed, acceleration)
        data.qfrc_applied[MALLET] = (
            mallet_offset.STIFFNESS * (upright(data) - data.qpos[MALLET])
            - mallet_offset.DAMPING * data.qvel[MALLET]
        )
        mujoco.mj_step2(world.model, data)
        episode.speeds += _LOW_PASS * (data.qvel[ARM] - episode.speeds)
        _record(episode)
    episode.command, episode.setpoint = np.array(command, float), references[0][-1]
    return _observe(episode)


def _move_opponent(world: World, opponent: Opponent, time: float) -> None:
    """Put the opponent's mallet where it is at a time."""
    place, velocity = opponent.move(time, world.data.qpos[:2])
    world.data.qpos[OPPONENT], world.data.qvel[OPPONENT] = place, velocity


def _interpolate(
    before: Float[ndarray, "2 7"], after: Float[ndarray, "2 7"]
) -> tuple[Float[ndarray, "step 7"], Float[ndarray, "step 7"], Float[ndarray, "step 7"]]:
    """Return the cubic from command to command at each step's end, and its derivatives."""
    s = np.arange(1, SUBSTEPS + 1)[:, None] / SUBSTEPS
    way, first, last = after[0] - before[0], PERIOD * before[1], PERIOD * after[1]
    square, cube = 3.0 * way - 2.0 * first - last, first + last - 2.0 * way
    position = before[0] + s * (first + s * (square + s * cube))
    speed = (first + s * (2.0 * square + 3.0 * s * cube)) / PERIOD
    acceleration = (2.0 * square + 6.0 * s * cube) / PERIOD**2
    return position, speed, acceleration


def _limit(
    reached: Float[ndarray, " 7"], position: ndarray, speed: ndarray, acceleration: ndarray
) -> tuple[ndarray, ndarray, ndarray]:
    """Let the set-points follow a path from where they are, no faster than is allowed."""
    before = np.concatenate((reached[None], position[:-1]))
    least, most = _fastest(before)
    moved = (position - before) / STEP
    within = (speed >= least) & (speed <= most) & (moved > least - _SLACK) & (moved < most + _SLACK)
    if within.all():
        return position, speed, acceleration
    kept, rates = np.empty_like(position), np.empty_like(speed)
    for k in range(len(position)):
        least, most = _fastest(reached)
        rates[k] = np.clip(speed[k], least, most)
        kept[k] = reached = np.clip(position[k], reached + STEP * least, reached + STEP * most)
    return kept, rates, np.where(rates == speed, acceleration, 0.0)


def _fastest(position: ndarray) -> tuple[ndarray, ndarray]:
    """Return least and largest joint speeds at positions, rad/s."""
    limit, speed = iiwa.JOINT_LIMIT, iiwa.SPEED_LIMIT
    down, up = _RANGE_GAIN * (-limit - position), _RANGE_GAIN * (limit - position)
    return np.clip(down, -speed, speed), np.clip(up, -speed, speed)


def _torques(episode: Episode, position: ndarray, speed: ndarray, acceleration: ndarray) -> ndarray:
    """Return the motors' torques, N m."""
    model, data = episode.world.model, episode.world.data
    assumed = data
    if not episode.disturbance.mallet_known:
        model, assumed = episode.world.unladen
        assumed.qpos[:], assumed.qvel[:] = data.qpos, data.qvel
        assumed.qvel[ARM] = episode.speeds
        mujoco.mj_step1(model, assumed)
    wanted, inertial = np.zeros(model.nv), np.zeros(model.nv)
    wanted[ARM] = acceleration
    mujoco.mj_mulM(model, assumed, inertial, wanted)
    feedback = STIFFNESS * (position - data.qpos[ARM]) + DAMPING * (speed - episode.speeds)
    torque = inertial[ARM] + assumed.qfrc_bias[ARM] + feedback
    return np.asarray(np.clip(torque, -TORQUE_LIMIT, TORQUE_LIMIT))


def upright(data: mujoco.MjData) -> Float[ndarray, " 2"]:
    """Return the angles of the universal joint at which the mallet's axis points down, rad."""
    down = -data.body("link7").xmat.reshape(3, 3)[2]
    return np.array((np.arctan2(down[0], down[2]), -np.arcsin(np.clip(down[1], -1.0, 1.0))))


def _record(episode: Episode) -> None:
    """Record where puck and mallet are and what the puck touches."""
    world, data = episode.world, episode.world.data
    mujoco.mj_kinematics(world.model, data)  # the mallet as late as the puck
    mallets = data.geom_xpos[world.mallet], data.qpos[OPPONENT]
    episode.trace.append(np.concatenate((data.qpos[PUCK], data.qvel[PUCK], *mallets)))
    pairs = data.contact.geom[: data.ncon] if data.ncon else ()  # the look-up is slow
    others = {int(geometry) for pair in pairs for geometry in pair} - world.puck
    episode.touches.append(tuple(world.touched[other] for other in sorted(others)))


def _observe(episode: Episode) -> Float[ndarray, " 23"]:
    """Return the observation at the end of a period."""
    joints = episode.world.data.qpos[ARM].copy()
    episode.observed.append(np.stack((joints, episode.speeds)))
    base = episode.world.table.robot_base
    opponent = np.append(episode.world.data.qpos[OPPONENT] - base[:2], iiwa.TIP_HEIGHT)
    return np.concatenate((_observed_puck(episode), joints, episode.speeds, opponent))


def _observed_puck(episode: Episode) -> Float[ndarray, " 6"]:
    """Return the puck as observed, with noise, losses and delay."""
    data, about, draw = episode.world.data, episode.disturbance, episode.draw
    place = data.qpos[PUCK].copy()
    place[:2] += about.position_noise * draw.standard_normal(2)
    place[:2] -= np.array(episode.world.table.robot_base[:2])
    rate = (place - episode.seen[-1][:3]) / PERIOD if episode.seen else np.zeros(3)
    if about.position_noise == 0.0:
        rate = data.qvel[PUCK]
    episode.seen.append(np.concatenate((place, rate)))
    if episode.blind == 0 and about.loss > 0.0 and draw.random() < about.loss:
        episode.blind = about.lost
    puck = episode.seen[max(0, len(episode.seen) - 1 - about.delay)]
    if episode.blind > 0:
        episode.blind -= 1
        return np.full(6, np.nan)
    return puck
