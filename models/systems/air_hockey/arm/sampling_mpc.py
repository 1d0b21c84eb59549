r"""Sampling model-predictive control of strokes by their start posture.

VP-STO (Jankowski et al. 2023, doi 10.1109/ICRA48891.2023.10160214) as section V of Jankowski,
Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air Hockey", uses it: every
20 ms the path of least acceleration from the last command to the contact is planned again, through
a start posture that is sampled about the last one (`stroke_path`). Chosen is the least of

    effort T + price max(peak - 1, 0),

but the last plan is kept unless another is clearly better, so that commands stay smooth. When
nothing moved, the rest of the last path is the new path: what is continued is the path before it
was levelled onto the table. From `FREEZE` before the contact on the plan stands: it meets the
contact, goes on straight for 30 ms and brakes. A rest is reached on the quickest path that keeps to
the limits. Nothing here reads where the arm was observed: plans start from the last command.
Joint angles are in rad, speeds in rad/s, times in s; `state` is both, of the last command.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import splines
from ricochet.models.arms.splines import Path
from ricochet.models.systems.air_hockey.arm import stopping, stroke_path
from ricochet.models.systems.air_hockey.arm.plan import Plan
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits, LimitUsage
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.interface import PERIOD

FREEZE = 0.05
"""Time before the contact from when the plan stands, s."""
SAMPLES = 20
_PASSED = 1e-3
"""Time before the start posture from when it counts as passed, s."""
_SETTLED = 0.12
"""Time before the start posture from when it stands, s."""
_NOISE, _TIME_NOISE, _PRICE, _BETTER = 0.06, 0.1, 20.0, 0.85
_AGREES = 2e-3
"""Largest difference, rad or rad/s over ten, of a last command from what was planned."""
LONGEST = 1.8
"""Longest time in which a contact is sought to be met, s."""
_TIMES = np.linspace(0.3, LONGEST, 31)
_RUN = 0.1
"""Time before the start posture, at least, s."""


@dataclass(frozen=True)
class Memory:
    """What is kept from step to step: the last plan, and the posture that it rests at, if any."""

    limits: Limits = field(default_factory=Limits)
    plan: Plan | None = None
    rest: Float[ndarray, " 7"] | None = None


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
        joints, joint_speeds: Of the last command.
        target: A contact, or joint angles at the tip's height to rest at.
        time_left: Time until the contact; not used for a rest.

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
    if isinstance(target, Contact):
        time_left = max(time_left, FREEZE)
        chosen = _towards(
            last, state, contact=target, time_left=time_left, limits=limits, draw=draw
        )
        return replace(memory, plan=chosen, rest=None), chosen
    if last and memory.rest is not None and np.array_equal(memory.rest, target):
        return replace(memory, plan=last), last
    chosen = _stopping(last, state, target=target, limits=limits)
    return replace(memory, plan=chosen, rest=target), chosen


def least_time(
    joints: Float[ndarray, " 7"],
    joint_speeds: Float[ndarray, " 7"],
    contact: Contact,
    *,
    limits: Limits | None = None,
) -> float:
    """Return the shortest time in which a contact can be met; infinite if there is none."""
    limits = limits or Limits()
    times = _TIMES[contact.wind_up + _RUN < _TIMES]
    if len(times) == 0:
        return np.inf
    starts = np.broadcast_to(contact.start_posture, (len(times), 7))
    wind_up = np.full(len(times), contact.wind_up)
    state = joints, joint_speeds
    paths = _run_ups(state, contact, time_left=times, starts=starts, wind_up=wind_up)
    possible = stroke_path.usage(paths, limits, is_stop=contact.is_stop).peak() <= 1.02
    return float(times[possible][0]) if possible.any() else np.inf


def _continued(
    last: Plan | None, joints: Float[ndarray, " 7"], joint_speeds: Float[ndarray, " 7"]
) -> Plan | None:
    """Return the last plan one period on, if the last command is what it said."""
    if last is None:
        return None
    expected = last.next
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
    warm: tuple[Float[ndarray, " 7"], float] | None = (contact.start_posture, contact.wind_up)
    if last is not None and last.contact is not None:
        if last.time_left < FREEZE:
            return last
        state, warm = last.raw(0.0), _last_start(last, last.contact, contact, time_left)
    if warm is None or time_left - warm[1] < _PASSED:
        ends = np.stack((state[0], contact.joints))[None]
        path = splines.fit(
            np.array(((0.0, time_left),)), ends, first=state[1], last=contact.joint_speeds
        )
        used = stroke_path.usage(path, limits, is_stop=contact.is_stop)
        return _taken(path, used, 0, contact)
    starts, wind_up = _samples(warm, contact, time_left, draw)
    left = np.full(len(wind_up), time_left)
    paths = _run_ups(state, contact, time_left=left, starts=starts, wind_up=wind_up)
    return _best(paths, contact, limits)


def _last_start(
    last: Plan, before: Contact, contact: Contact, time_left: float
) -> tuple[Float[ndarray, " 7"], float] | None:
    """Return the last start posture, moved as the contact has moved; None once it is passed."""
    if len(last.path.times) < 3:
        return None
    start, wind_up = last.path.points[1], float(last.path.times[2] - last.path.times[1])
    if time_left - wind_up > _SETTLED:
        start = splines.level(start + contact.joints - before.joints, steps=2)
    return start, wind_up


def _samples(
    warm: tuple[Float[ndarray, " 7"], float],
    contact: Contact,
    time_left: float,
    draw: np.random.Generator,
) -> tuple[Float[ndarray, "sample 7"], Float[ndarray, " sample"]]:
    """Return the last start posture and wind-up, the table's, and samples about the last."""
    if time_left - warm[1] < _SETTLED:
        return warm[0][None], np.array((warm[1],))
    starts = warm[0] + _NOISE * draw.standard_normal((SAMPLES, 7)) * (np.arange(7) < 6)
    wind_up = warm[1] * np.exp(_TIME_NOISE * draw.standard_normal(SAMPLES))
    starts[0], wind_up[0] = warm
    starts[1], wind_up[1] = contact.start_posture, contact.wind_up
    starts[1:] = splines.level(starts[1:], steps=2)
    return starts, np.minimum(wind_up, time_left - 0.5 * _SETTLED)


def _run_ups(
    state: tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]],
    contact: Contact,
    *,
    time_left: Float[ndarray, " sample"],
    starts: Float[ndarray, "sample 7"],
    wind_up: Float[ndarray, " sample"],
) -> Path:
    """Return the paths of least acceleration through start postures to the contact."""
    first, end = (np.broadcast_to(value, starts.shape) for value in (state[0], contact.joints))
    times = np.stack((0.0 * time_left, time_left - wind_up, time_left), -1)
    leaving, arriving = np.array((state[1], contact.joint_speeds))
    speeds = {"first": leaving + 0.0 * starts, "last": arriving + 0.0 * starts}
    return splines.fit(times, np.stack((first, starts, end), -2), **speeds)


def _best(paths: Path, contact: Contact, limits: Limits) -> Plan:
    """Choose among paths, the first of which is kept unless another is clearly better."""
    used = stroke_path.usage(paths, limits, is_stop=contact.is_stop)
    cost = used.effort * paths.times[:, -1] + _PRICE * np.maximum(used.peak() - 1.0, 0.0)
    best = int(cost.argmin())
    best = best if cost[best] < _BETTER * cost[0] else 0
    return _taken(paths, used, best, contact)


def _stopping(
    last: Plan | None,
    state: tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]],
    *,
    target: Float[ndarray, " 7"],
    limits: Limits,
) -> Plan:
    """Plan to come to rest at a posture."""
    if last is not None and (last.contact is None or last.time_left > 0.0):
        state = last.raw(0.0)
    paths = stopping.stopping_paths(*state, target)
    used = stroke_path.usage(paths, limits)
    return _taken(paths, used, stopping.choose_path(used), None)


def _taken(paths: Path, used: LimitUsage, number: int, contact: Contact | None) -> Plan:
    """Return one of some paths as a plan."""
    path = Path(paths.times[number], paths.points[number], paths.speeds[number])
    peak, without = used.peak()[number], used.peak_without_acceleration()[number]
    return Plan(path, contact, peak=float(peak), peak_without_acceleration=float(without))
