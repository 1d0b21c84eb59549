r"""Records of the puck on the simulated table, to learn its modes from.

As in Sec. V-A1 of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for
Robot Air Hockey": 100 episodes of 50 periods, half of them with the mallet stroking into the puck
at random, half with a fast puck and the arm at rest. A stroke is a straight line of the rod's tip
that passes the puck within `OFF` of its centre: from rest over `RUN` at a constant acceleration,
then at a constant speed until the contact is over, then braking. Its joints follow by
dq = J^+ dx from the home posture; a stroke that the joints cannot follow is slowed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from models.core.hockey_table import Table
from models.inference.puck_contacts import Recording
from models.probability.puck_modes import PERIOD
from models.simulators import air_hockey, iiwa
from models.simulators.air_hockey import Disturbance, World

RUN = 0.2  # m
OFF = 0.03  # m
_HOLD = 0.05  # s at constant speed, the contact in it
_DRAG = 0.5  # 1/s, by which a stroke foresees where a slow puck will be
_SHARE = 0.9  # of the usable joint speeds


@dataclass(frozen=True)
class Stroke:
    """One stroke into a puck.

    Attributes:
        puck: Place and velocity at the start, m and m/s.
        commands: Joint positions and speeds at the end of each period, rad and rad/s.
        joints: Posture at the start, rad.
    """

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
    """Return episodes on the simulated table, strokes and fast pucks by turns.

    Args:
        world: The table; an episode under way in it ends.
        episodes: How many.
        steps: Periods of each.
        disturbance: The airflow; observation noise does not enter a record.
        draw: Source of randomness.
        progress: Told how many episodes are done.
    """
    rows = []
    for number in range(episodes):
        if number % 2:
            puck, commands, joints = fast_puck(world.table, draw=draw), None, iiwa.HOME
        else:
            stroke = random_stroke(world.table, steps=steps, draw=draw)
            puck, commands, joints = stroke.puck, stroke.commands, stroke.joints
        episode, _ = air_hockey.reset(
            world, puck=puck, disturbance=disturbance, draw=draw, joints=joints
        )
        rest = np.stack((joints, np.zeros(7)))
        for period in range(steps):
            air_hockey.step(episode, rest if commands is None else commands[period])
        rows.append(np.array(episode.trace))
        progress(number + 1)
    return sampled(np.stack(rows))


def sampled(trace: Float[ndarray, "episode millisecond 9"]) -> Recording:
    """Return what a recorder keeps of traces at 1 kHz: one sample a period, mallet included.

    Args:
        trace: Puck (x, y, yaw, vx, vy, yaw rate) and mallet (x, y, z), as `air_hockey` notes them.
    """
    every = round(PERIOD / air_hockey.STEP)
    velocity = np.gradient(trace[..., 6:8], air_hockey.STEP, axis=1)
    kept = slice(every - 1, None, every)
    parts = (trace[..., 0:2], trace[..., 3:5], trace[..., 6:8], velocity)
    return Recording(*(part[:, kept] for part in parts))


def fast_puck(table: Table, *, draw: np.random.Generator) -> Float[ndarray, " 4"]:
    """Return a puck anywhere in front of the resting mallet, at 0.5 to 3 m/s in any direction."""
    place = draw.uniform((-0.6, -table.wall_y), (table.wall_x, table.wall_y))
    angle, speed = draw.uniform(-np.pi, np.pi), draw.uniform(0.5, 3.0)
    return np.array((*place, speed * np.cos(angle), speed * np.sin(angle)))


def random_stroke(table: Table, *, steps: int, draw: np.random.Generator) -> Stroke:
    """Return a stroke into a puck at rest or slow, of random place, direction, speed and offset."""
    while True:
        place = draw.uniform((-0.7, -0.39), (-0.2, 0.39))
        angle, speed = draw.uniform(-1.2, 1.2), draw.uniform(0.4, 2.2)
        along = np.array((np.cos(angle), np.sin(angle)))
        across = np.array((-along[1], along[0]))
        slow = draw.uniform(0.0, 0.3) * _heading(draw)
        off = draw.uniform(-OFF, OFF)
        gap = np.sqrt(table.contact_radius**2 - off**2)
        touch = place - gap * along + off * across
        start = touch - RUN * along
        if start[0] < table.mallet_front or abs(start[1]) > table.mallet_side - 0.01:
            continue
        for pace in speed * np.array((1.0, 0.8, 0.6, 0.4)):
            when = 2.0 * RUN / pace
            before = place - slow * np.expm1(_DRAG * when) / _DRAG
            found = follow(start, along, pace=pace, steps=steps, table=table)
            if found is not None and _clear(before, start, table):
                puck = np.concatenate((before, slow * np.exp(_DRAG * when)))
                return Stroke(puck, found[1:], found[0, 0])


def follow(
    start: Float[ndarray, " 2"],
    along: Float[ndarray, " 2"],
    *,
    pace: float,
    steps: int,
    table: Table,
) -> Float[ndarray, "time 2 7"] | None:
    """Return joint positions and speeds of a stroke, or None if the joints cannot follow.

    Args:
        start: Where the tip starts from rest, m, in the table's frame.
        along: Unit vector of the stroke.
        pace: Speed at the contact, m/s.
        steps: Periods.
        table: Where the robot stands and the mallet may be.
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
    if np.abs(path[:, 1]).max() > table.mallet_side:
        return None
    joints = _settle(iiwa.HOME, path[0])
    found = []
    for target, rate in zip(path, speed, strict=True):
        joints = _settle(joints, target)
        inverse = np.linalg.pinv(iiwa.pose(joints).jacobian)
        found.append(np.stack((joints, inverse @ np.array((*(rate * along), 0.0)))))
    commands = np.array(found)
    return commands if _within(commands) else None


def _settle(joints: Float[ndarray, " 7"], target: Float[ndarray, " 3"]) -> Float[ndarray, " 7"]:
    """Return the nearest joint angles with the tip at a target, by Newton's steps."""
    for _ in range(8):
        pose = iiwa.pose(joints)
        error = target - pose.tip
        joints = joints + np.linalg.pinv(pose.jacobian) @ np.clip(error, -0.1, 0.1)
        if np.abs(error).max() < 1e-6:
            break
    return joints


def _within(commands: Float[ndarray, "time 2 7"]) -> bool:
    """Return whether all commands lie within what may be used of joints and heights."""
    joints, speeds = commands[:, 0], commands[:, 1]
    fast = np.abs(speeds) > _SHARE * iiwa.USABLE * iiwa.SPEED_LIMIT
    far = np.abs(joints) > iiwa.USABLE * iiwa.JOINT_LIMIT
    tip, link4, link7 = iiwa.places(joints)
    low = np.minimum(link4, link7) < iiwa.LINK_HEIGHT
    off = np.abs(tip[:, 2] - iiwa.TIP_HEIGHT) > 1e-3
    return not (fast.any() or far.any() or low.any() or off.any())


def _clear(puck: Float[ndarray, " 2"], mallet: Float[ndarray, " 2"], table: Table) -> bool:
    """Return whether a puck is on the table and does not touch the mallet."""
    inside = (np.abs(puck) < (table.wall_x, table.wall_y)).all()
    return bool(inside and np.linalg.norm(puck - mallet) > table.contact_radius)


def _heading(draw: np.random.Generator) -> Float[ndarray, " 2"]:
    """Return a unit vector of any direction."""
    angle = draw.uniform(-np.pi, np.pi)
    return np.array((np.cos(angle), np.sin(angle)))
