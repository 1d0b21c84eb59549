"""Intercept a bouncing ball given how random bounces are: Algorithm 2 of Matl et al. (App. E).

First bounce: go to its y. From the second on, bounces are sampled k ahead (`lookahead`) and those
samples that cross the robot's plane have a mean and a standard deviation sigma. Line 9 moves a
distance proportional to 1 / sigma toward the mean:

    target = paddle + min(1, reach / sigma) (mean - paddle),    sigma^2 = sigma_y^2 + sigma_z^2,

before the next observation: within the mean time to the next bounce or, if earlier, the crossing,
counted from the bounce, less the delay of its detection. `reach` is the paddle's radius: the
whole way where the crossings lie within a paddle. If no sample crosses, nothing moves.

Lines 11 and 12: after the second bounce, a place outside the elliptic envelope of the samples of
this bounce (`elliptic_envelope`, 99 %) is replaced by their mean; its time is kept. The samples
know nothing of the localiser's error, so the envelope is widened by a stated one: a place
extrapolated from two others with restitution e has 1 + (1 + e)^2 + e^2 <= 6 times its variance.

The localiser's covariance and flag are not read. A bounce without any place is an outlier after the
second bounce; before, the controller waits and the next bounce counts as a first. Outliers in the
first two bounces are taken for right, as in the paper. Appendix E takes k = 4 for a
ping-pong or tennis ball, 2 for a moon ball. Targets may lie outside the workspace: the robot
refuses them.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.filters import elliptic_envelope
from ricochet.models.filters.elliptic_envelope import Envelope
from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball.prediction import lookahead
from ricochet.models.systems.bouncing_ball.prediction.lookahead import LastBounces, Law, LookAhead
from ricochet.models.systems.bouncing_ball.tracking import event_checks
from ricochet.models.systems.bouncing_ball.tracking.event_checks import Bounce
from ricochet.models.systems.bouncing_ball.tracking.workspace import (
    FIRST_MOVE,
    MotionTarget,
    Workspace,
)

POSITION_SD = 0.002
"""Error of one place per axis that the envelope allows for, m."""
ENVELOPE_SAMPLES = 500
"""Samples of the next bounce from which the envelope is made."""
_EXTRAPOLATED = 6.0


@dataclass(frozen=True)
class Expected:
    """The next bounce, as expected after the last: mean place, m, and the places it allows."""

    mean: Float[ndarray, " 2"]
    envelope: Envelope


@dataclass(frozen=True)
class State:
    """The controller's state.

    Attributes:
        reach: Standard deviation of the crossings up to which the whole way is gone, m.
        position_sd: Error of one place per axis that the envelope allows for, m.
        drag: k of the air in the flight that crosses, 1/m.
        last: The last bounce believed, None before the first.
        last_event_time, bounces: Time of the last good event, s, and how many there were.
        replaced: Times of the bounces whose place was replaced, s.
    """

    next_bounces: Law
    workspace: Workspace
    look_ahead: int
    branches: int
    seed: int
    reach: float
    position_sd: float
    drag: float
    last: Bounce | None = None
    expected: Expected | None = None
    last_event_time: float | None = None
    bounces: int = 0
    replaced: tuple[float, ...] = ()
    refused: tuple[str, ...] = ()


def init(
    transition: Law,
    workspace: Workspace,
    *,
    look_ahead: int,
    branches: int = 10,
    seed: int = 0,
    reach: float | None = None,
    position_sd: float = POSITION_SD,
    drag: float = 0.0,
) -> State:
    """Return the state before the first bounce.

    Args:
        transition: Law of the next bounce (`prediction.family_transitions`).
        seed: Seed of the samples; the same seed and events give the same targets.
        reach: Standard deviation of the crossings up to which the whole way is gone, m; None
            takes the paddle's radius.
        drag: k of the air in the flight that crosses, 1/m.

    Raises:
        ValueError: If k or n is below 1, n^k too large, a length not positive or drag negative.
    """
    reach = workspace.paddle_radius if reach is None else reach
    if look_ahead < 1 or branches < 1 or branches**look_ahead > lookahead.MOST_SAMPLES:
        raise ValueError(f"look_ahead and branches: got {look_ahead} and {branches}")
    if not (0.0 < reach < math.inf and 0.0 <= position_sd < math.inf):
        raise ValueError(f"reach and position_sd: got {reach} and {position_sd}")
    if not 0.0 <= drag < math.inf:
        raise ValueError(f"drag: got {drag}")
    return State(transition, workspace, look_ahead, branches, seed, reach, position_sd, drag)


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
    state = replace(state, last_event_time=event.time, bounces=state.bounces + 1)
    if state.expected is not None and _is_outlier(state.expected, bounce):
        bounce = Bounce(event.time, *state.expected.mean.tolist())
        state = replace(state, replaced=(*state.replaced, event.time))
    if bounce is None:
        return replace(state, last=None), None
    if state.last is None:
        target = MotionTarget(now, bounce.y, None, FIRST_MOVE, "first bounce: go to its y")
        return replace(state, last=bounce), target
    return _look_ahead(replace(state, last=bounce), _pair(state.last, bounce), now, paddle)


def _is_outlier(expected: Expected, bounce: Bounce | None) -> bool:
    if bounce is None:
        return True
    return bool(elliptic_envelope.is_outlier(expected.envelope, np.array([bounce.x, bounce.y])))


def _pair(before: Bounce, last: Bounce) -> LastBounces:
    step = (last.x - before.x, last.y - before.y)
    return LastBounces(last.time - before.time, (last.x, last.y), step)


def _look_ahead(
    state: State, last: LastBounces, now: float, paddle: tuple[float, float]
) -> tuple[State, MotionTarget | None]:
    """Expect the next bounce, and move toward the crossings (lines 6 to 9)."""
    draw = np.random.default_rng([state.seed, state.bounces])
    expected = _expect(state, last, draw)
    ahead = lookahead.sample(
        last,
        state.next_bounces,
        plane=state.workspace.x,
        depth=state.look_ahead,
        branches=state.branches,
        drag=state.drag,
        draw=draw,
    )
    return replace(state, expected=expected), _target(state, ahead, now, paddle)


def _expect(state: State, last: LastBounces, draw: np.random.Generator) -> Expected:
    """Sample the place of the next bounce."""
    places = lookahead.next_places(last, state.next_bounces, count=ENVELOPE_SAMPLES, draw=draw)
    noise = _EXTRAPOLATED * state.position_sd**2 * np.eye(2)
    return Expected(places.mean(axis=0), elliptic_envelope.fit(places, noise=noise))


def _target(
    state: State, ahead: LookAhead, now: float, paddle: tuple[float, float]
) -> MotionTarget | None:
    """Go toward the mean of the crossings, the farther the surer (line 9)."""
    spread = lookahead.spread(ahead)
    if spread is None or state.last is None:
        return None
    duration = state.last.time + ahead.next_event - now
    if not duration > 0.0:
        return None
    sigma = math.hypot(*spread.sd)
    share = 1.0 if sigma <= state.reach else state.reach / sigma
    y, z = (here + share * (there - here) for here, there in zip(paddle, spread.mean, strict=True))
    reason = f"{ahead.crossed:.0%} cross, spread {1e3 * sigma:.0f} mm: {share:.0%} of the way"
    return MotionTarget(now, y, z, duration, reason)
