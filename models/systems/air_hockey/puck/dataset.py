r"""Records of the puck on the simulated table, to fit its modes to.

As in Sec. V-A1 of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for
Robot Air Hockey": 100 episodes of 50 periods, half of them with the mallet stroking into the puck
at random, half with a fast puck and the arm at rest. A stroke is a straight line of the rod's tip
that passes the puck within `OFF` of its centre: from rest over `RUN` at a constant acceleration,
then at a constant speed until the contact is over, then braking. Its joints follow by the least dq
in units of the joints' limits W, dq = W (J W)^+ dx, from that of `POSTURES` random postures in
which the stroke asks least of them, and at a random share of the speed that they then can: strokes
are as fast as those of shots, 1 m/s straight ahead and up to 3 m/s sideways.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck.segmentation import Recording
from ricochet.models.systems.air_hockey.simulator import Disturbance, World
from ricochet.models.systems.air_hockey.table import Table

RUN = 0.2  # m
OFF = 0.03  # m
POSTURES = 64
ROLLING = 0.3  # m/s, of the pucks that are struck, at most
_SPREAD = 0.8  # rad, standard deviation of a random posture's joints about home
SLOW, _FAST = 0.4, 3.2  # m/s, between which strokes are
_LEAST_SHARE = 0.6  # of the fastest speed, down to which a stroke is made
_HOLD = 0.05  # s at constant speed, the contact in it
_DRAG = 0.5  # 1/s, with which a stroke predicts where a slow puck will be
_SHARE = 0.9  # of the usable joint speeds


@dataclass(frozen=True)
class Stroke:
    """A stroke into a puck at (place, velocity): start posture, and commands of each period."""

    puck: Float[ndarray, " 4"]
    commands: Float[ndarray, "time 2 7"]
    joints: Float[ndarray, " 7"]


def collect(
    world: World,
    *,
    episodes: int = 100,
    steps: int = 50,
    disturbance: Disturbance,
    draw: np.random.Generator,
    progress: Callable[[int], None] = lambda done: None,
) -> Recording:
    """Return episodes on the simulated table, strokes and fast pucks in turn.

    Args:
        world: An episode under way in it ends.
        disturbance: The airflow; observation noise does not enter a record.
    """
    rows = []
    for number in range(episodes):
        if number % 2:
            puck, commands, joints = fast_puck(world.table, draw=draw), None, iiwa.HOME
        else:
            stroke = random_stroke(world.table, steps=steps, draw=draw)
            puck, commands, joints = stroke.puck, stroke.commands, stroke.joints
        episode, _ = simulator.reset(
            world, puck=puck, disturbance=disturbance, draw=draw, joints=joints
        )
        rest = np.stack((joints, np.zeros(7)))
        for period in range(steps):
            simulator.step(episode, rest if commands is None else commands[period])
        rows.append(np.array(episode.trace))
        progress(number + 1)
    return sampled(np.stack(rows))


def sampled(trace: Float[ndarray, "episode millisecond 11"]) -> Recording:
    """Return one sample a period of traces at 1 kHz, as `simulator.Episode` keeps them."""
    every = round(PERIOD / simulator.STEP)
    velocity = np.gradient(trace[..., 6:8], simulator.STEP, axis=1)
    kept = slice(every - 1, None, every)
    parts = (trace[..., 0:2], trace[..., 3:5], trace[..., 6:8], velocity)
    return Recording(*(part[:, kept] for part in parts))


def fast_puck(table: Table, *, draw: np.random.Generator) -> Float[ndarray, " 4"]:
    """Return a puck anywhere in front of the resting mallet, at 0.5 to 3 m/s in any direction."""
    place = draw.uniform((-0.6, -table.wall_y), (table.wall_x, table.wall_y))
    angle, speed = draw.uniform(-np.pi, np.pi), draw.uniform(0.5, 3.0)
    return np.array((*place, speed * np.cos(angle), speed * np.sin(angle)))


def random_stroke(
    table: Table, *, steps: int, draw: np.random.Generator, rolling: float = ROLLING
) -> Stroke:
    """Return a stroke into a puck of random place, direction, speed and offset.

    Args:
        rolling: Largest speed of the puck, m/s; 0 for pucks at rest.
    """
    while True:
        place = draw.uniform((-0.7, -0.39), (-0.2, 0.39))
        angle = draw.uniform(-1.3, 1.3)
        along = np.array((np.cos(angle), np.sin(angle)))
        across = np.array((-along[1], along[0]))
        slow = draw.uniform(0.0, rolling) * _heading(draw)
        off = draw.uniform(-OFF, OFF)
        gap = np.sqrt(table.contact_radius**2 - off**2)
        touch = place - gap * along + off * across
        start = touch - RUN * along
        if start[0] < table.mallet_front or abs(start[1]) > table.mallet_side - 0.01:
            continue
        found = _as_fast(start, along, steps=steps, table=table, draw=draw)
        if found is None:
            continue
        pace, commands = found
        when = 2.0 * RUN / pace
        before = place - slow * np.expm1(_DRAG * when) / _DRAG
        if _clear(before, start, table):
            puck = np.concatenate((before, slow * np.exp(_DRAG * when)))
            return Stroke(puck, commands[1:], commands[0, 0])


def _as_fast(
    start: Float[ndarray, " 2"],
    along: Float[ndarray, " 2"],
    *,
    steps: int,
    table: Table,
    draw: np.random.Generator,
) -> tuple[float, Float[ndarray, "time 2 7"]] | None:
    """Return pace and commands of a stroke at a random share of what the joints can do, or None."""
    joints = iiwa.HOME + _SPREAD * draw.standard_normal((POSTURES, 7))
    asked = effort(follow(start, along, pace=_FAST, steps=steps, table=table, joints=joints))
    pace = draw.uniform(_LEAST_SHARE, 1.0) * _FAST / max(1.0, 1.02 * asked.min())
    if pace < SLOW:
        return None
    easiest = joints[asked.argmin()][None]
    commands = follow(start, along, pace=pace, steps=steps, table=table, joints=easiest)[0]
    aside = np.abs(iiwa.tip(commands[:, 0])[:, 1]).max()
    return (pace, commands) if effort(commands) <= 1.0 and aside < table.mallet_side else None


def follow(
    start: Float[ndarray, " 2"],
    along: Float[ndarray, " 2"],
    *,
    pace: float,
    steps: int,
    table: Table,
    joints: Float[ndarray, "posture 7"],
) -> Float[ndarray, "posture time 2 7"]:
    """Return joint positions and speeds of a stroke, from each of some postures.

    Args:
        start: Where the tip starts from rest, m, in the table's frame.
        along, pace: Unit vector of the stroke, and speed at the contact, m/s.
        joints: Postures from which those at the start are sought, rad.
    """
    rise = 2.0 * RUN / pace
    times = PERIOD * np.arange(steps + 1)
    brake = np.clip((times - rise - _HOLD) / rise, 0.0, 1.0)
    speed = pace * np.clip(times / rise, 0.0, 1.0) * (1.0 - brake)
    way = RUN * np.clip(times / rise, 0.0, 1.0) ** 2 + pace * np.clip(times - rise, 0.0, _HOLD)
    way = way + pace * rise * (brake - 0.5 * brake**2)
    base = np.array(table.robot_base[:2])
    path = np.column_stack(
        ((start + way[:, None] * along) - base, np.full(len(way), iiwa.TIP_HEIGHT))
    )
    found: list[ndarray] = []
    for target, rate in zip(path, speed, strict=True):
        joints = _settle(joints, target, rounds=8 if found else 30)
        moving = _inverse(joints) @ np.array((*(rate * along), 0.0))
        found.append(np.stack((joints, moving), axis=-2))
    return np.stack(found, axis=-3)


def effort(commands: Float[ndarray, "*posture time 2 7"]) -> Float[ndarray, "*posture"]:
    """Return the largest share of a usable joint speed that strokes ask for.

    Infinite where an angle, the tip's height or a link's is out of range.
    """
    joints, speeds = commands[..., 0, :], commands[..., 1, :]
    share = np.abs(speeds) / (_SHARE * iiwa.USABLE * iiwa.SPEED_LIMIT)
    far = (np.abs(joints) > iiwa.USABLE * iiwa.JOINT_LIMIT).any(-1)
    tip, link4, link7 = iiwa.places(joints)
    low = np.minimum(link4, link7) < iiwa.LINK_HEIGHT
    off = np.abs(tip[..., 2] - iiwa.TIP_HEIGHT) > 1e-3
    bad = (far | low | off).any(-1)
    return np.asarray(np.where(bad, np.inf, share.max((-1, -2))))


def _settle(
    joints: Float[ndarray, "posture 7"], target: Float[ndarray, " 3"], *, rounds: int
) -> Float[ndarray, "posture 7"]:
    """Return the nearest joint angles with the tip at a target, by Newton's steps."""
    for _ in range(rounds):
        error = target - iiwa.tip(joints)
        if np.abs(error).max() < 1e-6:
            break
        step = _inverse(joints) @ np.clip(error, -0.1, 0.1)[..., None]
        joints = joints + step[..., 0]
    return joints


def _inverse(joints: Float[ndarray, "posture 7"]) -> Float[ndarray, "posture 7 3"]:
    """Return W (J W)^+, the joint speeds that move the tip, least in units of the limits W."""
    weighted = iiwa.pose(joints).jacobian * iiwa.SPEED_LIMIT
    return iiwa.SPEED_LIMIT[:, None] * np.linalg.pinv(weighted)


def _clear(puck: Float[ndarray, " 2"], mallet: Float[ndarray, " 2"], table: Table) -> bool:
    """Return whether a puck is on the table and does not touch the mallet."""
    inside = (np.abs(puck) < (table.wall_x, table.wall_y)).all()
    return bool(inside and np.linalg.norm(puck - mallet) > table.contact_radius)


def _heading(draw: np.random.Generator) -> Float[ndarray, " 2"]:
    """Return a unit vector of any direction."""
    angle = draw.uniform(-np.pi, np.pi)
    return np.array((np.cos(angle), np.sin(angle)))
