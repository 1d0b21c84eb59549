r"""Sampling model-predictive control of strokes by their ready posture.

VP-STO (Jankowski et al. 2023, doi 10.1109/ICRA48891.2023.10160214) as section V of Jankowski,
Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air Hockey", uses it: every
20 ms the path of least acceleration from the last command to the contact is planned again, through
a ready posture that is sampled about the last one (`run_ups`). Chosen is the least of

    effort T + price max(load - 1, 0),

but what was planned is kept unless another is clearly better, so that commands stay smooth. When
nothing moved, the rest of the last path is the new path: what is continued is the path before it
was levelled onto the table. From `FREEZE` before the contact on the plan stands: it meets the
contact, goes on straight for 30 ms and brakes. A rest is reached on the quickest path that keeps to
the limits. Nothing here reads where the arm was observed: plans start from the last command.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import splines
from ricochet.models.arms.splines import Path
from ricochet.models.systems.air_hockey.arm import stopping, stroke_path
from ricochet.models.systems.air_hockey.arm.plan import Plan
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits, Use
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.interface import PERIOD

FREEZE = 0.05
"""Time before the contact from when the plan stands, s."""
SAMPLES = 20
_PASSED = 1e-3
"""Time before the ready posture from when it counts as passed, s."""
_SETTLED = 0.12
"""Time before the ready posture from when it stands, s."""
_NOISE, _TIME_NOISE, _PRICE, _BETTER = 0.06, 0.1, 20.0, 0.85
_AGREES = 2e-3
"""Largest difference, rad or rad/s over ten, of a last command from what was planned."""
_TIMES = np.linspace(0.3, 1.8, 31)


@dataclass(frozen=True)
class Memory:
    """What is kept from step to step.

    Attributes:
        limits: What plans keep to.
        plan: The last one, as of the last step.
        aim: The rest it goes to; None for a contact.
    """

    limits: Limits = field(default_factory=Limits)
    plan: Plan | None = None
    aim: Float[ndarray, " 7"] | None = None


def plan(
    memory: Memory,
    *,
    joints: Float[ndarray, " 7"],
    joint_speeds: Float[ndarray, " 7"],
    target: Contact | Float[ndarray, " 7"],
    time_left: float = 0.0,
    draw: np.random.Generator,
) -> tuple[Memory, Plan]:
    """Plan once more; called every `PERIOD`.

    Args:
        memory: From the last call.
        joints: Joint angles of the last command, rad.
        joint_speeds: Joint speeds of the last command, rad/s.
        target: A contact, or joint angles at the tip's height to rest at.
        time_left: Time until the contact, s; not used for a rest.
        draw: Source of randomness.

    Returns:
        What to keep and the plan from now on; a next command is `plan.at(PERIOD)`. A plan that is
        not `possible` cannot be followed: ask for a slower or a later contact.

    Raises:
        ValueError: If a command or the time left is not finite.
    """
    if not (np.isfinite(joints).all() and np.isfinite(joint_speeds).all()):
        raise ValueError("joints, joint_speeds: must be finite")
    if not np.isfinite(time_left):
        raise ValueError(f"time_left: must be finite, got {time_left}")
    state, limits = (joints, joint_speeds), memory.limits
    last = _continued(memory.plan, joints, joint_speeds)
    aim = None if isinstance(target, Contact) else target
    if isinstance(target, Contact):
        time_left = max(time_left, FREEZE)
        chosen = _towards(
            last, state, contact=target, time_left=time_left, limits=limits, draw=draw
        )
    elif last and memory.aim is not None and np.array_equal(memory.aim, target):
        chosen, aim = last, memory.aim
    else:
        chosen = _rest(last, state, target=target, limits=limits)
    return replace(memory, plan=chosen, aim=aim), chosen


def least_time(
    joints: Float[ndarray, " 7"],
    joint_speeds: Float[ndarray, " 7"],
    contact: Contact,
    *,
    limits: Limits | None = None,
) -> float:
    """Return the shortest time in which a contact can be met, s; infinite if there is none.

    Args:
        joints: Joint angles now, rad.
        joint_speeds: Joint speeds now, rad/s.
        contact: What to meet.
        limits: What the stroke keeps to.
    """
    limits = limits or Limits()
    times = _TIMES[contact.wind_up + 0.1 < _TIMES]
    ready = np.broadcast_to(contact.ready, (len(times), 7))
    wind_up = np.full(len(times), contact.wind_up)
    state = joints, joint_speeds
    paths = _run_ups(state, contact, time_left=times, ready=ready, wind_up=wind_up)
    possible = stroke_path.use(paths, limits).load() <= 1.02
    return float(times[possible][0]) if possible.any() else np.inf


def _continued(
    last: Plan | None, joints: Float[ndarray, " 7"], joint_speeds: Float[ndarray, " 7"]
) -> Plan | None:
    """Return the last plan one period on, if the last command is what it said."""
    if last is None:
        return None
    expected = last.at(PERIOD)
    error = np.abs(expected[0] - joints).max(), 0.1 * np.abs(expected[1] - joint_speeds).max()
    return replace(last, passed=last.passed + PERIOD) if max(error) < _AGREES else None


def _towards(
    last: Plan | None,
    state: tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]],
    *,
    contact: Contact,
    time_left: float,
    limits: Limits,
    draw: np.random.Generator,
) -> Plan:
    """Plan to a contact."""
    warm: tuple[Float[ndarray, " 7"], float] | None = (contact.ready, contact.wind_up)
    if last is not None and last.contact is not None:
        if last.time_left < FREEZE:
            return last
        state, warm = last.raw(0.0), _last_ready(last, last.contact, contact, time_left)
    if warm is None or time_left - warm[1] < _PASSED:
        path = splines.fit(
            np.array((0.0, time_left)),
            np.stack((state[0], contact.joints)),
            first=state[1],
            last=contact.joint_speeds,
        )
        used = stroke_path.use(path, limits)
        return Plan(path, contact, load=float(used.load()), firm=float(used.firm()))
    ready, wind_up = _samples(warm, contact, time_left, draw)
    left = np.full(len(wind_up), time_left)
    paths = _run_ups(state, contact, time_left=left, ready=ready, wind_up=wind_up)
    return _best(paths, contact, limits)


def _last_ready(
    last: Plan, before: Contact, contact: Contact, time_left: float
) -> tuple[Float[ndarray, " 7"], float] | None:
    """Return the last ready posture, moved as the contact has moved; None once it is passed."""
    if len(last.path.times) < 3:
        return None
    ready, wind_up = last.path.points[1], float(last.path.times[2] - last.path.times[1])
    if time_left - wind_up > _SETTLED:
        ready = splines.level(ready + contact.joints - before.joints, steps=2)
    return ready, wind_up


def _samples(
    warm: tuple[Float[ndarray, " 7"], float],
    contact: Contact,
    time_left: float,
    draw: np.random.Generator,
) -> tuple[Float[ndarray, "sample 7"], Float[ndarray, " sample"]]:
    """Return the last ready posture, the table's, and samples about the last."""
    if time_left - warm[1] < _SETTLED:
        return warm[0][None], np.array((warm[1],))
    ready = warm[0] + _NOISE * draw.standard_normal((SAMPLES, 7)) * (np.arange(7) < 6)
    wind_up = warm[1] * np.exp(_TIME_NOISE * draw.standard_normal(SAMPLES))
    ready[0], wind_up[0] = warm
    ready[1], wind_up[1] = contact.ready, contact.wind_up
    ready[1:] = splines.level(ready[1:], steps=2)
    return ready, np.minimum(wind_up, time_left - 0.5 * _SETTLED)


def _run_ups(
    state: tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]],
    contact: Contact,
    *,
    time_left: Float[ndarray, " sample"],
    ready: Float[ndarray, "sample 7"],
    wind_up: Float[ndarray, " sample"],
) -> Path:
    first, end = (np.broadcast_to(value, ready.shape) for value in (state[0], contact.joints))
    times = np.stack((0.0 * time_left, time_left - wind_up, time_left), -1)
    leaving, arriving = np.array((state[1], contact.joint_speeds))
    speeds = {"first": leaving + 0.0 * ready, "last": arriving + 0.0 * ready}
    return splines.fit(times, np.stack((first, ready, end), -2), **speeds)


def _best(paths: Path, contact: Contact, limits: Limits) -> Plan:
    """Choose among paths, the first of which is kept unless another is clearly better."""
    used = stroke_path.use(paths, limits)
    cost = used.effort * paths.times[:, -1] + _PRICE * np.maximum(used.load() - 1.0, 0.0)
    best = int(cost.argmin())
    best = best if cost[best] < _BETTER * cost[0] else 0
    return _taken(paths, used, number=best, contact=contact)


def _rest(
    last: Plan | None,
    state: tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]],
    *,
    target: Float[ndarray, " 7"],
    limits: Limits,
) -> Plan:
    """Plan to come to rest at a posture."""
    if last is not None and (last.contact is None or last.time_left > 0.0):
        state = last.raw(0.0)
    paths = stopping.ways(*state, target)
    used = stroke_path.use(paths, limits)
    return _taken(paths, used, number=stopping.best(used), contact=None)


def _taken(paths: Path, used: Use, *, number: int, contact: Contact | None) -> Plan:
    """Return the plan that one of some paths is."""
    path = Path(paths.times[number], paths.points[number], paths.speeds[number])
    load, firm = float(used.load()[number]), float(used.firm()[number])
    return Plan(path, contact, load=load, firm=firm)
