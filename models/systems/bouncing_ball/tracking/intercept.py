"""Intercept a bouncing ball as if bounces had no noise: Algorithm 1 of Matl et al. (App. D).

From the last two bounces, a distance d_i and a time t_i apart, and the restitution e,

    Eq. 11   v_xy = e d_i / t_i,    v_z = e g t_i / 2            exit velocity at the last bounce
    Eq. 12   d_{i+1} = e^2 d_i,     t_{i+1} = e t_i              the next flight
    Eq. 13   d_{i+1} > d_R                                       does it cross the robot's plane?
    Eq. 14   y_R = y_i + (y_i - y_{i-1}) / (x_i - x_{i-1}) (x_R - x_i)
    Eq. 15   t_R = d_R / v_xy
    Eq. 16   z_R = v_z t_R - g t_R^2 / 2

with d_R the distance to the plane along the direction of travel. First bounce: go to its y. Later:
if Eq. 13 holds, be at (y_R, z_R) in t_R, else at y_R in t_{i+1}, at the present height.

Eqs. 11 and 12 take the horizontal speed down by e as well. Where contacts have no friction (as in
`simulator`) it stays; `horizontal=1` puts 1 for that e, and Eq. 12 reads d_{i+1} = e d_i.

Times count from the bounce; a target's duration counts from when the event was known, so that the
delay of detection is taken off. What is due already makes no target. The algorithm trusts every
place: it reads neither the localiser's covariance nor its flag. A bounce without a place leaves
it waiting, and the next one counts as a first. A ball that moves away from the plane, or beyond
it, will not cross it; one that moves along it has no y_R. Targets may lie outside the workspace:
the robot refuses them.
"""

import math
from dataclasses import dataclass, replace

from ricochet.models.core.constants import GRAVITY
from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.tracking import event_checks
from ricochet.models.systems.bouncing_ball.tracking.event_checks import Bounce
from ricochet.models.systems.bouncing_ball.tracking.workspace import (
    FIRST_MOVE,
    MotionTarget,
    Workspace,
)


@dataclass(frozen=True)
class State:
    """The controller's state.

    Attributes:
        restitution: e, in (0, 1].
        horizontal: Share of the horizontal speed that a contact leaves.
        last: The last bounce, None before the first and after one without a place.
    """

    restitution: float
    horizontal: float
    workspace: Workspace
    last: Bounce | None = None
    last_event_time: float | None = None
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prediction:
    """Where a ball without noise goes.

    Attributes:
        crosses: Whether the next flight crosses the plane (Eq. 13).
        y, z: y_R (Eq. 14) and z_R (Eq. 16), m; no z_R if it does not cross.
        due: t_R (Eq. 15) if it crosses, else t_{i+1} (Eq. 12), s after the last bounce.
    """

    crosses: bool
    y: float
    z: float | None
    due: float


def init(restitution: float, workspace: Workspace, *, horizontal: float | None = None) -> State:
    """Return the state before the first bounce.

    Args:
        restitution: e, in (0, 1].
        horizontal: Share of the horizontal speed that a contact leaves; None takes e, as printed.

    Raises:
        ValueError: If a share is outside (0, 1].
    """
    share = restitution if horizontal is None else horizontal
    for name, value in (("restitution", restitution), ("horizontal", share)):
        if not 0.0 < value <= 1.0:
            raise ValueError(f"{name} must lie in (0, 1], got {value}")
    return State(restitution, share, workspace)


def step(
    state: State, event: BounceEvent, *, now: float, paddle: tuple[float, float]
) -> tuple[State, MotionTarget | None]:
    """Take in one bounce, its time and place; return the state after it, and a target or None.

    A bad event leaves the state as it was but for one line in `refused`.
    """
    wrong = event_checks.fault(event, now=now, paddle=paddle, last=state.last_event_time)
    if wrong:
        return replace(state, refused=(*state.refused, wrong)), None
    bounce = event_checks.located(event)
    after = replace(state, last=bounce, last_event_time=event.time)
    if bounce is None:
        return after, None
    if state.last is None:
        return after, MotionTarget(now, bounce.y, None, FIRST_MOVE, "first bounce: go to its y")
    prediction = predict(state, state.last, bounce)
    return after, None if prediction is None else _target(prediction, event.time, now)


def predict(state: State, before: Bounce, last: Bounce) -> Prediction | None:
    """Extrapolate two bounces to the plane (Eqs. 11 to 16); None where their line misses it."""
    step_x, step_y = last.x - before.x, last.y - before.y
    slope = step_y / step_x if step_x != 0.0 else math.inf
    y = last.y + slope * (state.workspace.x - last.x)
    if not math.isfinite(y):
        return None
    e, c, t = state.restitution, state.horizontal, last.time - before.time
    d = math.hypot(step_x, step_y)
    d_plane = (state.workspace.x - last.x) * d / step_x
    if step_x < 0.0 or d_plane < 0.0 or not c * e * d > d_plane:
        return Prediction(False, y, None, e * t)
    v_xy, v_z = c * d / t, e * GRAVITY * t / 2.0
    t_plane = d_plane / v_xy
    return Prediction(True, y, v_z * t_plane - 0.5 * GRAVITY * t_plane**2, t_plane)


def _target(prediction: Prediction, bounced: float, now: float) -> MotionTarget | None:
    """Turn a prediction into a target, unless it is due already or too large for a number."""
    duration = bounced + prediction.due - now
    numbers = (prediction.y, prediction.z or 0.0, duration)
    if not (duration > 0.0 and all(math.isfinite(number) for number in numbers)):
        return None
    reason = "crosses in this flight" if prediction.crosses else "crosses later: go to its y"
    return MotionTarget(now, prediction.y, prediction.z, duration, reason)
