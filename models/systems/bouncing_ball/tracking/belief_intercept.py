r"""Intercept a bouncing ball by a belief about it: simulation in the loop (Matl et al., section 5).

Every event updates a mixture of Gaussians over place, velocity, contact and which events to believe
(`bounce_filter`); the belief is continued to the robot's plane by simulation (`crossing_samples`);
the paddle goes where it will touch the ball at the least expected energy (`paddle_placement`). So
an outlier in the first or second bounce is one of two histories, and the third bounce decides
which; an uncertain crossing moves the paddle slowly and only as far as the disc needs.

After a single bounce the belief is as wide as tosses are and the paddle moves little or not at all.
Crossings outside the workspace are not waited for, and targets lie inside it.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound.impact_stream import BounceEvent
from ricochet.models.systems.bouncing_ball import contact_table
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.contact_table import ContactTable
from ricochet.models.systems.bouncing_ball.tracking import (
    bounce_filter,
    crossing_samples,
    event_checks,
    late_arrivals,
    paddle_placement,
)
from ricochet.models.systems.bouncing_ball.tracking.bounce_filter import Belief, TossPrior
from ricochet.models.systems.bouncing_ball.tracking.crossing_samples import Continuations
from ricochet.models.systems.bouncing_ball.tracking.event_hypotheses import Detection, SensorModel
from ricochet.models.systems.bouncing_ball.tracking.late_arrivals import Detour, PositionEstimate
from ricochet.models.systems.bouncing_ball.tracking.paddle_placement import Choice, Crossings, Reach
from ricochet.models.systems.bouncing_ball.tracking.workspace import MotionTarget, Workspace

DRAWS = 8
"""Draws of the contact that the belief keeps."""
SAMPLES = 160
"""Continuations of the ball."""
DETECTION_DELAY = 0.020
"""From a contact until its event can move the arm, s: 11 ms of buffer, 6 ms of wait, computing."""
MARGIN = 0.008
"""By how much nearer than a touch the paddle is placed, m."""
PRICE = 0.6
"""Energy that a touch is worth, m^2/s."""
LEAST_MOVE = 2e-3
"""Moves shorter than this are not made, m."""


@dataclass(frozen=True)
class State:
    """The controller's state.

    Attributes:
        touch: Distance of centres at which paddle and ball touch, m.
        price: Energy that a touch is worth, m^2/s.
        detour: By how much late arrivals are late.
        microphones: Their positions, m, where there are three; None if unknown.
        last_event_time, bounces: Time of the last good event, s, and how many there were.
    """

    contacts: ContactTable
    workspace: Workspace
    touch: float
    seed: int
    toss_prior: TossPrior
    sensor: SensorModel
    reach: Reach
    price: float
    detour: Detour
    microphones: Float[ndarray, "3 3"] | None = None
    belief: Belief | None = None
    last_event_time: float | None = None
    bounces: int = 0
    refused: tuple[str, ...] = ()


def init(
    draws: ContactDraws,
    workspace: Workspace,
    *,
    ball_radius: float,
    seed: int = 0,
    toss_prior: TossPrior | None = None,
    sensor: SensorModel | None = None,
    reach: Reach | None = None,
    price: float = PRICE,
    detour: Detour | None = None,
    microphones: Float[ndarray, "microphone 3"] | None = None,
) -> State:
    """Return the state before the first bounce.

    Args:
        draws: Of the calibrated posterior (`contact_draws.of_pairs` makes them of the paper's).
        seed: Seed of the samples; the same seed and events give the same targets.
        microphones: Their positions, m. With three, a wrong position tells where the contact may
            have been if one of them was reached late; None or another number tells nothing.

    Raises:
        ValueError: If there is no draw, one that is not finite or a restitution outside (0, 1], or
            if the radius or the price is not positive.
    """
    _check(draws)
    if not (0.0 < ball_radius < math.inf and 0.0 < price < math.inf):
        raise ValueError(f"ball_radius and price must be positive, got {ball_radius} and {price}")
    count = len(draws.drag)
    chosen = np.random.default_rng(seed).choice(count, DRAWS, replace=count < DRAWS)
    return State(
        contact_table.tabulate(draws.rows(chosen)),
        workspace,
        workspace.paddle_radius + ball_radius,
        seed,
        toss_prior or TossPrior(),
        sensor or SensorModel(),
        reach or Reach(),
        price,
        detour or Detour(),
        microphones if microphones is not None and len(microphones) == 3 else None,
    )


def step(
    state: State, event: BounceEvent, *, now: float, paddle: tuple[float, float]
) -> tuple[State, MotionTarget | None]:
    """Take in one bounce known at `now`, s; return the state after it, and a target or None.

    A bad event leaves the state as it was but for one line in `refused`.
    """
    wrong = event_checks.fault(event, now=now, paddle=paddle, last=state.last_event_time)
    if wrong:
        return replace(state, refused=(*state.refused, wrong)), None
    belief = _updated(state, event)
    state = replace(state, belief=belief, last_event_time=event.time, bounces=state.bounces + 1)
    ahead = crossing_samples.sample(
        belief,
        plane=state.workspace.x,
        count=SAMPLES,
        prior=state.toss_prior,
        draw=np.random.default_rng((state.seed, state.bounces)),
    )
    return state, _target(state, belief, ahead, now, paddle)


def _check(draws: ContactDraws) -> None:
    columns = (*vars(draws.contact).values(), draws.drag)
    e = draws.contact.restitution
    good = len(e) > 0 and all(bool(torch.isfinite(column).all()) for column in columns)
    if not (good and bool(((e > 0.0) & (e <= 1.0)).all())):
        raise ValueError(f"draws: need finite ones with restitution in (0, 1], got {len(e)}")


def _updated(state: State, event: BounceEvent) -> Belief:
    where, late = event.position, tuple[PositionEstimate, ...]()
    if state.microphones is not None and where is not None:
        late = late_arrivals.estimates(where, state.microphones, detour=state.detour)
    detection = Detection(event.time, event.arrival, where, event.covariance, event.outlier, late)
    prior, sensor = state.toss_prior, state.sensor
    if state.belief is None:
        return bounce_filter.begin(state.contacts, detection, prior=prior, sensor=sensor)
    return bounce_filter.update(state.belief, detection, prior=prior, sensor=sensor)


def _target(
    state: State, belief: Belief, ahead: Continuations, now: float, paddle: tuple[float, float]
) -> MotionTarget | None:
    """Return where the ball is touched at the least expected energy, unless here is as good."""
    crossings = _crossings(state, ahead, now)
    if crossings is None:
        return None
    choice = paddle_placement.choose(
        crossings,
        paddle,
        touch=state.touch - MARGIN,
        price=state.price,
        reach=state.reach,
        bounds=(state.workspace.y, state.workspace.z),
    )
    if np.hypot(*(choice.point - paddle)) < LEAST_MOVE:
        return None
    y, z = choice.point.tolist()
    return MotionTarget(now, y, z, choice.duration, _reason(belief, crossings, choice))


def _crossings(state: State, ahead: Continuations, now: float) -> Crossings | None:
    """Keep the crossings that the paddle can still touch."""
    points = np.stack((ahead.y, ahead.z), axis=-1)
    low, high = np.array((state.workspace.y, state.workspace.z)).T
    kept = ahead.crosses & (ahead.time > now)
    kept[kept] = np.hypot(*(points - points.clip(low, high))[kept].T) <= state.touch
    if not kept.any():
        return None
    event = np.maximum(ahead.next_contact[kept] + DETECTION_DELAY - now, 1e-3)
    wait = ahead.time[kept] - now
    return Crossings(
        points=points[kept],
        wait=wait,
        soon=(ahead.flight[kept] == 1) | (wait <= event),
        event=event,
        share=float(kept.mean()),
    )


def _reason(belief: Belief, crossings: Crossings, choice: Choice) -> str:
    probability = bounce_filter.outlier_probability(belief)
    wrong = ", ".join(f"{each:.0%}" for each in probability)
    soon = crossings.share * crossings.soon.mean()
    return (
        f"{crossings.share:.0%} can be reached, {soon:.0%} in this flight, "
        f"{choice.touched:.0%} of those touched; events wrong: {wrong}"
    )
