"""Where a paddle should be while it follows changing targets: smooth in the plane, within limits.

From (p0, v0) to rest at a goal, two motions run at once and add up, each over its own time:

    braking, over b:   v(s) = v0 (1 - 3 s^2 + 2 s^3),                s = t / b,
                       which ends at rest at  p1 = p0 + b v0 / 2
    reaching, over d:  p(s) = (goal - p1) (10 s^3 - 15 s^4 + 6 s^5),  s = t / d,

the second being the motion of least jerk between two points at rest (Flash and Hogan 1985). The sum
starts with the position and the velocity that the paddle has, so a new target may come at any time;
with b short, what is left of the old motion does not carry the paddle far, and with b = d the sum
is the quintic from (p0, v0) that starts and ends without acceleration. From rest it is a straight
line of least jerk.

Of the b tried the shortest is taken with which no joint is faster than `SPEED` nor accelerates more
than `ACCELERATION`; where none will do, d is stretched. Universal Robots publish no acceleration
limit for the UR5; ur_rtde accepts up to 40 rad/s^2. Half of it is taken: it asks at most half of
the largest torques of the arm's model
(tests/models/systems/bouncing_ball/tracking/test_paddle_arm.py) and leaves the rest to the rotors,
which the model lacks. It is a limit of ours: where braking alone needs more, after targets that
change on and on, up to about 25 rad/s^2 are used. The speed is the joints' own and is kept always.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import ur5

SPEED = ur5.JOINT_SPEED  # rad/s
ACCELERATION = 20.0  # rad/s^2
PLANNED = 0.95  # share of the limits that plans use; the rest is for what lies between samples
BRAKINGS = (0.7, 0.9, 1.1, 1.4, 1.8)  # b tried, in units of 1.5 speed / ACCELERATION
COARSE, FINE = 8, 6  # d tried between the duration asked for and `LONGEST`, then between two
LONGEST = 2.5  # s; a motion is stretched no further
SHORTEST = 1e-3  # s, of braking
SAMPLES = 17  # of braking and of reaching, at which a plan is compared with the limits


@dataclass(frozen=True)
class Plan:
    """A motion within the plane x = `plane`; places are (y, z).

    Attributes:
        start, position, velocity: When the motion starts, s, and the paddle then, m and m/s.
        braking: b, s.
        goal: Where it comes to rest, m.
        duration: d, s.
    """

    plane: float
    start: float
    position: Float[ndarray, "2"]
    velocity: Float[ndarray, "2"]
    braking: float
    goal: Float[ndarray, "2"]
    duration: float


@dataclass(frozen=True)
class Reference:
    """Where the paddle should be at some times: (y, z), m, and velocity, m/s."""

    position: Float[ndarray, "*batch 2"]
    velocity: Float[ndarray, "*batch 2"]


def rest(point: tuple[float, float], *, plane: float, now: float = 0.0) -> Plan:
    """Return the plan that stays at a point (y, z), m, since a time, s."""
    place = np.array(point, np.float64)
    return Plan(plane, now, place, np.zeros(2), SHORTEST, place, SHORTEST)


def reference(plan: Plan, times: Float[ndarray, "*batch"]) -> Reference:
    """Return where the paddle should be at times, s; before the start as there, later at rest."""
    elapsed = np.asarray(np.maximum(np.asarray(times, np.float64) - plan.start, 0.0))
    return _follow(plan, elapsed, np.array(plan.braking), np.array(plan.duration), plan.goal)


def joint_reference(
    plan: Plan, times: Float[ndarray, "*batch"]
) -> tuple[Float[ndarray, "*batch 6"], Float[ndarray, "*batch 6"]]:
    """Return the joint angles, rad, and joint speeds, rad/s, of a plan at some times, s."""
    return _joints(plan.plane, reference(plan, times))


def replan(plan: Plan, goal: tuple[float, float], *, now: float, duration: float) -> Plan:
    """Return a plan to a new goal from the motion under way.

    Args:
        goal: Where to come to rest (y, z), m; within the arm's reach.
        now: When to turn, s; not before the motion's start.
        duration: Time in which to arrive, s; stretched as the joints demand.

    Raises:
        ValueError: The goal is out of the arm's reach, or the duration is not positive.
    """
    if not np.isfinite(ur5.inverse(np.array((plan.plane, *goal)))).all():
        raise ValueError(f"goal: {goal} is out of the arm's reach")
    if not duration > 0.0:
        raise ValueError(f"duration: must be positive, got {duration}")
    start, brakings = _under_way(plan, now)
    place = np.array(goal, np.float64)
    as_asked = _shortest_braking(start, brakings, place, np.array([duration]))
    if as_asked[1] <= 1.0:
        return as_asked[0]
    longer = np.geomspace(duration, max(LONGEST, duration), COARSE + 1)
    coarse, _ = _shortest_braking(start, brakings, place, longer[1:])
    below = longer[np.searchsorted(longer, coarse.duration) - 1]
    between = np.geomspace(below, coarse.duration, FINE + 1)[1:]
    return _shortest_braking(start, brakings, place, between)[0]


def halt(plan: Plan, *, now: float) -> Plan:
    """Return the plan that brakes now, s, and stays where that ends."""
    start, brakings = _under_way(plan, now)
    goals = start.position + 0.5 * brakings[:, None] * start.velocity
    asked = demand(start, brakings, brakings, goals)
    best = int(np.argmin(np.maximum(asked, 1.0)))
    braking = float(brakings[best])
    return replace(start, braking=braking, goal=goals[best], duration=braking)


def demand(
    plan: Plan,
    brakings: Float[ndarray, " plan"],
    durations: Float[ndarray, " plan"],
    goals: Float[ndarray, " plan 2"],
) -> Float[ndarray, " plan"]:
    """Return the largest joint speed or acceleration of motions, as a share of what they may use.

    A speed that a motion starts with is not held against it; beyond it, speed weighs more than
    acceleration (the share's eighth power).

    Args:
        plan, brakings, durations, goals: Start of the motions, b and d of each, s, and ends, m.

    Returns:
        1 or less where every joint keeps its limits; infinite where the way is out of reach.
    """
    s = np.linspace(0.0, 1.0, SAMPLES)
    later = brakings[:, None] + (np.maximum(durations - brakings, SHORTEST))[:, None] * s[1:]
    times = np.concatenate((brakings[:, None] * s, later), -1)
    wanted = _follow(plan, times, brakings[:, None], durations[:, None], goals[:, None, :])
    _, speeds = _joints(plan.plane, wanted)
    accelerations = np.abs(np.diff(speeds, axis=1)).max(-1) / np.diff(times, axis=1)
    allowed = max(PLANNED * SPEED, 1.001 * float(np.abs(speeds[0, 0]).max()))
    fast = np.abs(speeds).max((1, 2)) / allowed
    asked = np.maximum(fast**8, accelerations.max(1) / (PLANNED * ACCELERATION))
    return np.where(np.isfinite(asked), asked, np.inf)


def _under_way(plan: Plan, now: float) -> tuple[Plan, Float[ndarray, " plan"]]:
    """Return a plan that starts with the present motion, and the times of braking to try, s."""
    found = reference(plan, np.array(now))
    _, speeds = _joints(plan.plane, found)
    quickest = max(1.5 * float(np.abs(speeds).max()) / ACCELERATION, SHORTEST)
    start = Plan(plan.plane, now, found.position, found.velocity, quickest, plan.goal, quickest)
    return start, quickest * np.array(BRAKINGS)


def _shortest_braking(
    start: Plan,
    brakings: Float[ndarray, " braking"],
    goal: Float[ndarray, "2"],
    durations: Float[ndarray, " duration"],
) -> tuple[Plan, float]:
    """Return the first motion within the limits, durations first, and its demand; or the least."""
    d = np.repeat(durations, len(brakings))
    b = np.minimum(np.tile(brakings, len(durations)), d)
    asked = demand(start, b, d, np.broadcast_to(goal, (len(d), 2)))
    best = int(np.argmin(np.maximum(asked, 1.0)))
    found = replace(start, braking=float(b[best]), goal=goal, duration=float(d[best]))
    return found, float(asked[best])


def _follow(
    plan: Plan,
    t: Float[ndarray, "*batch"],
    b: Float[ndarray, "*#batch"],
    d: Float[ndarray, "*#batch"],
    goal: Float[ndarray, "*#batch 2"],
) -> Reference:
    """Return position and velocity of braking plus reaching."""
    s, u = np.minimum(t / b, 1.0)[..., None], np.minimum(t / d, 1.0)[..., None]
    b, d = b[..., None], d[..., None]
    way = goal - plan.position - 0.5 * b * plan.velocity
    position = (
        plan.position
        + b * plan.velocity * s * (1.0 - s**2 + 0.5 * s**3)
        + way * u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    )
    brake = plan.velocity * (1.0 - s**2 * (3.0 - 2.0 * s))
    return Reference(position, brake + way / d * 30.0 * u**2 * (1.0 - u) ** 2)


def _joints(plane: float, wanted: Reference) -> tuple[ndarray, ndarray]:
    """Return joint angles and speeds of an upright paddle."""
    x = np.full((*wanted.position.shape[:-1], 1), plane)
    joints = ur5.inverse(np.concatenate((x, wanted.position), -1))
    return joints, ur5.joint_speeds(joints, wanted.velocity)
