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

from models.planners import run_ups, via_points
from models.planners.run_ups import BRAKE, HOLD, Limits
from models.planners.strokes import Contact
from models.planners.via_points import Path

PERIOD = 0.02  # s
FREEZE = 0.05
"""Time before the contact from when the plan stands, s."""
SAMPLES = 20
OVERLOAD = 1.015
"""What plans may use of path and joint speeds: 0.95 of the latter."""
STRAIN = 1.15
"""What they may use of acceleration, of 0.8 of what the joints can do."""
_PASSED = 1e-3
"""Time before the ready posture from when it counts as passed, s."""
_SETTLED = 0.12
"""Time before the ready posture from when it stands, s."""
_NOISE, _TIME_NOISE, _PRICE, _BETTER = 0.06, 0.1, 20.0, 0.85
_AGREES = 2e-3
"""Largest difference, rad or rad/s over ten, of a last command from what was planned."""
_BRAKES = (0.12, 0.16, 0.22)
_RESTS = np.array((0.3, 0.45, 0.6, 0.75, 0.9, 1.1, 1.3, 1.6, 2.0, 2.6))
_TIMES = np.linspace(0.3, 1.8, 31)
_DIFFERENCE = 1e-4


@dataclass(frozen=True)
class Plan:
    """What the arm will do.

    Attributes:
        path: The run-up, or the way to a rest, not yet levelled.
        contact: What it meets at the path's end; None for a rest.
        passed: Of the path's time, what is over, s.
        load: Largest ratio of what it uses to what it may use; 1 is the most.
        firm: The same without acceleration, of which plans use 0.8 of what there is.
    """

    path: Path
    contact: Contact | None
    passed: float = 0.0
    load: float = 0.0
    firm: float = 0.0

    @property
    def time_left(self) -> float:
        """Time until the contact or the rest, s; negative after it."""
        return float(self.path.times[-1]) - self.passed

    @property
    def possible(self) -> bool:
        """Whether the arm can follow it: its path or speed a little, acceleration more over 1."""
        return self.firm <= OVERLOAD and self.load <= STRAIN

    @property
    def over(self) -> bool:
        """Whether the arm is at rest by now."""
        return self.time_left < (-HOLD - BRAKE if self.contact else 0.0) + 1e-9

    def at(self, time: float) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
        """Return joint angles, rad, and speeds, rad/s.

        Args:
            time: From now, s; the path is at rest before its start and after its end.
        """
        late = time - self.time_left
        if self.contact is None or late <= 0.0:
            joints, speeds = self.raw(time)
            return _levelled(joints, speeds)
        return _after(self.contact, late)

    def raw(self, time: float) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
        """Return the same before it is levelled, up to the path's end."""
        joints, speeds = via_points.at(self.path, np.array((self.passed + time,)))
        return joints[0], speeds[0]


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
    last = _continued(memory.plan, joints, joint_speeds)
    if isinstance(target, Contact):
        chosen, aim = (
            _towards(last, joints, joint_speeds, target, time_left, memory.limits, draw),
            None,
        )
    elif last and memory.aim is not None and np.array_equal(memory.aim, target):
        chosen, aim = last, memory.aim
    else:
        chosen, aim = _rest(last, joints, joint_speeds, target, memory.limits), target
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
    paths = _run_ups((joints, joint_speeds), contact, times, ready, wind_up)
    possible = run_ups.use(paths, limits).load() <= 1.02
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
    joints: Float[ndarray, " 7"],
    joint_speeds: Float[ndarray, " 7"],
    contact: Contact,
    time_left: float,
    limits: Limits,
    draw: np.random.Generator,
) -> Plan:
    """Plan to a contact."""
    state = joints, joint_speeds
    warm: tuple[Float[ndarray, " 7"], float] | None = (contact.ready, contact.wind_up)
    time_left = max(time_left, FREEZE)
    if last is not None and last.contact is not None:
        if last.time_left < FREEZE:
            return last
        state, warm = last.raw(0.0), _last_ready(last, last.contact, contact, time_left)
    if warm is None or time_left - warm[1] < _PASSED:
        path = via_points.fit(
            np.array((0.0, time_left)),
            np.stack((state[0], contact.joints)),
            first=state[1],
            last=contact.joint_speeds,
        )
        used = run_ups.use(path, limits)
        return Plan(path, contact, load=float(used.load()), firm=float(used.firm()))
    ready, wind_up = _samples(warm, contact, time_left, draw)
    paths = _run_ups(state, contact, np.full(len(wind_up), time_left), ready, wind_up)
    return _best(paths, contact, limits)


def _last_ready(
    last: Plan, before: Contact, contact: Contact, time_left: float
) -> tuple[Float[ndarray, " 7"], float] | None:
    """Return the last ready posture, moved as the contact has moved; None once it is passed."""
    if len(last.path.times) < 3:
        return None
    ready, wind_up = last.path.points[1], float(last.path.times[2] - last.path.times[1])
    if time_left - wind_up > _SETTLED:
        ready = via_points.level(ready + contact.joints - before.joints, steps=2)
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
    ready[1:] = via_points.level(ready[1:], steps=2)
    return ready, np.minimum(wind_up, time_left - 0.5 * _SETTLED)


def _run_ups(
    state: tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]],
    contact: Contact,
    time_left: Float[ndarray, " sample"],
    ready: Float[ndarray, "sample 7"],
    wind_up: Float[ndarray, " sample"],
) -> Path:
    first, end = (np.broadcast_to(value, ready.shape) for value in (state[0], contact.joints))
    times = np.stack((0.0 * time_left, time_left - wind_up, time_left), -1)
    leaving, arriving = np.array((state[1], contact.joint_speeds))
    speeds = {"first": leaving + 0.0 * ready, "last": arriving + 0.0 * ready}
    return via_points.fit(times, np.stack((first, ready, end), -2), **speeds)


def _best(paths: Path, contact: Contact, limits: Limits) -> Plan:
    """Choose among paths, the first of which is kept unless another is clearly better."""
    used = run_ups.use(paths, limits)
    load = used.load()
    cost = used.effort * paths.times[:, -1] + _PRICE * np.maximum(load - 1.0, 0.0)
    best = int(cost.argmin())
    best = best if cost[best] < _BETTER * cost[0] else 0
    path = Path(paths.times[best], paths.points[best], paths.speeds[best])
    return Plan(path, contact, load=float(load[best]), firm=float(used.firm()[best]))


def _rest(
    last: Plan | None,
    joints: Float[ndarray, " 7"],
    joint_speeds: Float[ndarray, " 7"],
    target: Float[ndarray, " 7"],
    limits: Limits,
) -> Plan:
    """Plan to come to rest at a posture."""
    state = joints, joint_speeds
    if last is not None and (last.contact is None or last.time_left > 0.0):
        state = last.raw(0.0)
    paths = _ways_home(*state, target)
    used = run_ups.use(paths, limits)
    moves = np.maximum(used.speed, used.acceleration)
    moves = np.maximum(moves, max(1.0, float(moves.min())))
    room = np.where(moves <= moves.min(), np.maximum(used.room, 1.0), np.inf)
    best = int((room <= room.min() + 0.05).argmax())
    path = Path(paths.times[best], paths.points[best], paths.speeds[best])
    return Plan(path, None, load=float(used.load()[best]), firm=float(used.firm()[best]))


def _ways_home(
    joints: Float[ndarray, " 7"], joint_speeds: Float[ndarray, " 7"], target: Float[ndarray, " 7"]
) -> Path:
    """Return paths to a rest, the quickest first: straight there, or steadily braking before."""
    ways = [(0.5 * rest, 0.5 * rest) for rest in _RESTS]
    braked = [(brake, rest) for brake in _BRAKES for rest in _RESTS]
    spans = np.array(ways + braked)
    times = np.stack((0.0 * spans[:, 0], spans[:, 0], spans.sum(-1)), -1)
    first = np.broadcast_to(joints, (len(spans), 7))
    middle = first + 0.5 * spans[:, :1] * joint_speeds
    speeds = np.zeros((len(spans), 3, 7))
    speeds[:, 0] = joint_speeds
    straight = len(ways)
    ends = [
        first[:straight],
        0.0 * first[:straight] + target,
        speeds[:straight, 0],
        speeds[:straight, 2],
    ]
    halves = via_points.cubic(ends, np.full(straight, 0.5), times[:straight, 2])
    middle[:straight], speeds[:straight, 1] = halves
    points = np.stack((first, middle, 0.0 * first + target), -2)
    order = np.argsort(times[:, 2], kind="stable")
    return Path(times[order], points[order], speeds[order])


def _levelled(
    joints: Float[ndarray, " 7"], speeds: Float[ndarray, " 7"]
) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
    """Bring a posture and its speeds onto the table."""
    near = joints + _DIFFERENCE * np.array((0.0, 1.0, -1.0))[:, None] * speeds
    here, ahead, behind = via_points.level(near, steps=5)
    return here, (ahead - behind) / (2.0 * _DIFFERENCE)


def _after(contact: Contact, late: float) -> tuple[Float[ndarray, " 7"], Float[ndarray, " 7"]]:
    """Go on straight, then brake."""
    times = late + _DIFFERENCE * np.array((0.0, 1.0, -1.0))
    here, ahead, behind = run_ups.follow(contact.joints, contact.joint_speeds, times)
    return here, (ahead - behind) / (2.0 * _DIFFERENCE)
