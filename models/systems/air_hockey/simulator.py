r"""An air-hockey table with a seven-joint arm in MuJoCo: 1 kHz physics under 50 Hz commands.

The arm's motors follow commands as `arm_motors` says. Observations are laid out as `interface`
says; where there is no opponent, its mallet is observed at its robot's base, off the table.

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
from ricochet.models.systems.air_hockey import arm_motors
from ricochet.models.systems.air_hockey.arm_motors import SUBSTEPS, Motors
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.opponent.scripts import Opponent
from ricochet.models.systems.air_hockey.table import Table

SCENE = Path(__file__).with_name("air_hockey.xml")
STEP = arm_motors.STEP
_FEATHER = 1e-6
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
        motors: Of the arm, with the last command.
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
    motors: Motors
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
    return World(model, data, unladen(), touched, puck, model.geom("mallet").id, Table())


def unladen() -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Load the scene with a mallet of next to no mass that touches nothing."""
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
    world.data.qpos[MALLET] = arm_motors.upright(world.data)
    mujoco.mj_forward(world.model, world.data)
    angle = draw.uniform(-np.pi, np.pi)
    airflow = disturbance.airflow * np.array((np.cos(angle), np.sin(angle)))
    unladen = None if disturbance.mallet_known else world.unladen
    motors = arm_motors.at_rest(arm_motors.Place(ARM, MALLET), joints, unladen)
    episode = Episode(world, disturbance, draw, airflow, opponent, motors)
    return episode, _observe(episode)


def step(episode: Episode, command: ndarray) -> Float[ndarray, " 23"]:
    """Let one period pass under a command; return the observation at its end.

    Args:
        command: Joint positions, rad, and speeds, rad/s, at the end of the period, shape (2, 7).

    Raises:
        ValueError: If the command is not finite or of another shape.
    """
    world, data = episode.world, episode.world.data
    motors, reference = episode.motors, arm_motors.references(episode.motors, command)
    mass = float(world.model.body("puck").mass[0])
    data.qfrc_applied[:2] = mass * episode.airflow
    for number in range(SUBSTEPS):
        if episode.opponent is not None:
            _move_opponent(world, episode.opponent, STEP * len(episode.trace))
        mujoco.mj_step1(world.model, data)
        arm_motors.drive(motors, world.model, data, reference, number)
        mujoco.mj_step2(world.model, data)
        arm_motors.observe_speeds(motors, data)
        _record(episode)
    arm_motors.accept(motors, command, reference)
    return _observe(episode)


def _move_opponent(world: World, opponent: Opponent, time: float) -> None:
    """Put the opponent's mallet where it is at a time."""
    place, velocity = opponent.move(time, world.data.qpos[:2])
    world.data.qpos[OPPONENT], world.data.qvel[OPPONENT] = place, velocity


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
    episode.observed.append(np.stack((joints, episode.motors.speeds)))
    base = episode.world.table.robot_base
    opponent = np.append(episode.world.data.qpos[OPPONENT] - base[:2], iiwa.TIP_HEIGHT)
    return np.concatenate((_observed_puck(episode), joints, episode.motors.speeds, opponent))


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
