r"""Two robots at one table: the scene with a second arm, and rallies between two agents.

The second arm is the first turned half round the table's middle; each agent sees the table from its
own side, p -> -p in the plane, so that one agent plays either. A rally begins with a puck at rest
on one half, both arms at home, and ends as the challenge's tournament ends one: with a goal, with a
foul of the side on which the puck has been for `FOUL`, with a puck that stops in the middle, or off
the table. Sides are 0 for the robot at negative x and 1 for the other.

Source: public files of the 2023 Robot Air Hockey Challenge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import arm_motors, simulator
from ricochet.models.systems.air_hockey.arm_motors import Motors, Place
from ricochet.models.systems.air_hockey.interface import PERIOD, Agent
from ricochet.models.systems.air_hockey.simulator import PUCK, SCENE, Disturbance
from ricochet.models.systems.air_hockey.table import Table

SIDES = (0, 1)
FOUL = 15.0
"""Time after which a puck that stays on one half is a foul of that side, s."""
MIDDLE, STUCK = 0.15, 0.025
"""|x| about the middle, m, and |vx|, m/s, within which a puck is out of everybody's reach."""
_OTHER = "other-"  # begins the names of the second arm's parts
ARMS = (
    Place(slice(3, 10), slice(10, 12), "link7"),
    Place(slice(12, 19), slice(19, 21), f"{_OTHER}link7"),
)


@dataclass(frozen=True)
class Hall:
    """The scene with two arms (not shared between threads), and one whose mallet weighs nothing."""

    model: mujoco.MjModel
    data: mujoco.MjData
    unladen: tuple[mujoco.MjModel, mujoco.MjData]
    mallets: tuple[int, int]
    table: Table


@dataclass
class Rally:
    """One rally under way; changes as it is stepped.

    Attributes:
        airflow: Acceleration of the puck by it, m/s^2.
        motors: Of both arms.
        trace: At every period puck (x, y, yaw, vx, vy, yaw rate) and both mallets (x, y), in m and
            m/s in the table's frame.
        joints: Of both arms at every period, rad.
        speeds: Low-passed, rad/s.
        since: For how long the puck has been on its half, s.
        ended: "goal", "foul", "middle", "out" or "" while it goes on.
        winner: The side that gains by it; None if neither does.
    """

    hall: Hall
    disturbance: Disturbance
    draw: np.random.Generator
    airflow: Float[ndarray, " 2"]
    motors: tuple[Motors, Motors]
    trace: list[ndarray] = field(default_factory=list)
    joints: list[ndarray] = field(default_factory=list)
    speeds: list[ndarray] = field(default_factory=list)
    since: float = 0.0
    ended: str = ""
    winner: int | None = None


def build() -> Hall:
    """Load the scene with a second arm in place of the opponent's mallet."""
    spec, second = (mujoco.MjSpec.from_file(str(SCENE)) for _ in range(2))
    spec.delete(spec.body("opponent"))
    frame = spec.worldbody.add_frame(quat=(0.0, 0.0, 0.0, 1.0))
    frame.attach_body(second.body("base"), _OTHER, "")
    model = spec.compile()
    names = ("mallet", f"{_OTHER}mallet")
    mallets = model.geom(names[0]).id, model.geom(names[1]).id
    return Hall(model, mujoco.MjData(model), simulator.unladen(), mallets, Table())


def begin(
    hall: Hall, *, puck: Float[ndarray, " 2"], disturbance: Disturbance, draw: np.random.Generator
) -> Rally:
    """Begin a rally with a puck at rest at a place, m; an earlier one in the hall ends."""
    mujoco.mj_resetData(hall.model, hall.data)
    data, known = hall.data, disturbance.mallet_known
    data.qpos[PUCK] = (*puck, 0.0)
    unladen = None if known else hall.unladen
    motors = tuple(arm_motors.at_rest(place, iiwa.HOME, unladen) for place in ARMS)
    for place in ARMS:
        data.qpos[place.joints] = iiwa.HOME
    mujoco.mj_kinematics(hall.model, data)
    for place in ARMS:
        data.qpos[place.mallet] = arm_motors.upright(data, place.link7)
    mujoco.mj_forward(hall.model, data)
    angle = draw.uniform(-np.pi, np.pi)
    airflow = disturbance.airflow * np.array((np.cos(angle), np.sin(angle)))
    rally = Rally(hall, disturbance, draw, airflow, (motors[0], motors[1]))
    _record(rally)
    return rally


def step(rally: Rally, commands: Sequence[ndarray]) -> None:
    """Let one period pass under both agents' commands; note whether it ends the rally.

    Raises:
        ValueError: If a command is not finite or of another shape.
    """
    model, data = rally.hall.model, rally.hall.data
    paths = [
        arm_motors.references(each, command)
        for each, command in zip(rally.motors, commands, strict=True)
    ]
    data.qfrc_applied[:2] = float(model.body("puck").mass[0]) * rally.airflow
    for number in range(arm_motors.SUBSTEPS):
        mujoco.mj_step1(model, data)
        for each, path in zip(rally.motors, paths, strict=True):
            arm_motors.drive(each, model, data, path, number)
        mujoco.mj_step2(model, data)
        for each in rally.motors:
            arm_motors.observe_speeds(each, data)
    for each, command, path in zip(rally.motors, commands, paths, strict=True):
        arm_motors.accept(each, command, path)
    _record(rally)
    _referee(rally)


def observe(rally: Rally, side: int) -> Float[ndarray, " 23"]:
    """Return what a side's agent observes, in its robot's frame."""
    row, turn = rally.trace[-1], 1.0 - 2.0 * side
    noise = rally.disturbance.position_noise * rally.draw.standard_normal(2)
    base = np.array(rally.hall.table.robot_base[:2])
    place = turn * row[:2] + noise - base
    other = turn * row[8 - 2 * side : 10 - 2 * side] - base
    puck = (*place, row[2] + np.pi * side, *(turn * row[3:5]), row[5])
    motion = rally.joints[-1][side], rally.speeds[-1][side]
    return np.concatenate((puck, *motion, other, (iiwa.TIP_HEIGHT,)))


def serve(side: int, *, draw: np.random.Generator) -> Float[ndarray, " 2"]:
    """Return where a puck is laid for a side, m in the table's frame."""
    table = Table()
    wide = table.half_width - table.puck_radius - 2.0 * table.mallet_radius
    return np.asarray((1.0 - 2.0 * side) * draw.uniform((-0.7, -wide), (-0.2, wide)))


def play(
    rally: Rally,
    agents: Sequence[Agent],
    *,
    longest: float,
    watch: Callable[[Rally], None] = lambda rally: None,
) -> None:
    """Play a rally to its end, or for a while, s.

    Args:
        agents: Of sides 0 and 1; both are reset.
        watch: Called after every period.
    """
    for agent in agents:
        agent.reset()
    while not rally.ended and PERIOD * (len(rally.trace) - 1) < longest - 1e-9:
        step(rally, [agents[side].draw_action(observe(rally, side)) for side in SIDES])
        watch(rally)


def _record(rally: Rally) -> None:
    """Record puck, mallets and joints at a period's end."""
    model, data = rally.hall.model, rally.hall.data
    mujoco.mj_kinematics(model, data)
    mallets = [data.geom_xpos[mallet][:2] for mallet in rally.hall.mallets]
    rally.trace.append(np.concatenate((data.qpos[PUCK], data.qvel[PUCK], *mallets)))
    rally.joints.append(np.stack([data.qpos[place.joints] for place in ARMS]))
    rally.speeds.append(np.stack([each.speeds for each in rally.motors]))


def _referee(rally: Rally) -> None:
    """Note how the last period ends the rally, if it does."""
    x, y, _, vx = rally.trace[-1][:4]
    table, side = rally.hall.table, int(x > 0.0)
    stays = x * rally.trace[-2][0] > 0.0
    rally.since = rally.since + PERIOD if stays else 0.0
    if abs(x) > table.half_length and abs(y) < table.goal_half_width:
        rally.ended, rally.winner = "goal", 1 - side
    elif not table.contains(np.array((x, y))):
        rally.ended = "out"
    elif rally.since > FOUL and abs(x) >= MIDDLE:
        rally.ended, rally.winner = "foul", 1 - side
    elif abs(x) < MIDDLE and abs(vx) < STUCK:
        rally.ended = "middle"
