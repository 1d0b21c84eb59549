r"""Where a ball is, and which of its detected bounces are right: a filter by Gaussian mixtures.

A ball reaches contact i at p_i with horizontal velocity u_i and vertical speed w_i, the speed with
which it left contact i - 1. The time t to the next contact tells the vertical part, w_{i+1} = g t /
2, so with a draw of the contact all that stays unknown is the heading, whose moments
(`flight_moments`) a Kalman filter over (p, u) takes. Positions enter with the localiser's
covariance. Before a first flight only the prior of tosses is known (`TossPrior`).

A draw is one of the family (`contact_table`): the ball rises with e(w) w, keeps a share of u, and
its wide redirections have the variance of both components together. In air the flight began with
g t / 2 exp(A) and ended with g t / 2 exp(-A), and u lost its share (`flight_expansion`), A and B at
the mean of u.

Detection errs: an event may be an outlier, a false alarm, or follow a miss (`event_hypotheses`).
Every event splits each history of such hypotheses, and Bayes' rule weighs them, jointly with draws
of the contact; the heaviest `MOST_HISTORIES` are kept. So the belief is a mixture of Gaussians, one
for each history and draw. Robust Kalman filters by mixtures: Alspach and Sorenson 1972, doi
10.1109/TAC.1972.1100034.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.filters import kalman
from ricochet.models.systems.bouncing_ball import contact_table, flight_expansion
from ricochet.models.systems.bouncing_ball.contact_table import ContactTable
from ricochet.models.systems.bouncing_ball.flight_expansion import Losses
from ricochet.models.systems.bouncing_ball.tracking import event_hypotheses, flight_moments
from ricochet.models.systems.bouncing_ball.tracking.event_hypotheses import (
    Detection,
    EventHypothesis,
    Hypothesis,
    SensorModel,
)

MOST_HISTORIES = 8
TRAVEL = 0.8e-3
"""Time from a contact to the first microphone where the position is unknown, s; at most twice."""
_STRAIGHT = 1e-12  # rad^2; a narrower redirection is none
_LOWEST_SHARE = 1e-3  # of a rise that redirections leave: a flight of no time has no speed
_POSITION = np.eye(2, 4)  # H, the position of a state


@dataclass(frozen=True)
class TossPrior:
    """Where tosses come from, before any detection: means and deviations in m, m/s and s.

    Attributes:
        position: Of the first contact.
        velocity: Horizontal, after the first contact.
        flight: From the first contact to the second.
    """

    position: tuple[float, float] = (-0.14, 0.0)
    position_sd: tuple[float, float] = (0.15, 0.15)
    velocity: tuple[float, float] = (0.5, 0.0)
    velocity_sd: tuple[float, float] = (0.2, 0.15)
    flight: float = 0.35
    flight_sd: float = 0.10


@dataclass(frozen=True)
class Belief:
    """A mixture over histories and draws of the contact.

    Attributes:
        contacts: The draws.
        mean: Of (p, u) on reaching the last contact; u on leaving it after a first contact.
        covariance: m^2, m^2/s, m^2/s^2.
        entry: Vertical speed on reaching the last contact, m/s; NaN after a first contact.
        time: When the last contact was, s.
        log_weight: Of each history and draw, summing to one.
        hypotheses: What each history holds of the events.
    """

    contacts: ContactTable
    mean: Float[ndarray, "history draw 4"]
    covariance: Float[ndarray, "history draw 4 4"]
    entry: Float[ndarray, "history draw"]
    time: Float[ndarray, " history"]
    log_weight: Float[ndarray, "history draw"]
    hypotheses: Int[ndarray, "history event"]


def begin(
    contacts: ContactTable, detection: Detection, *, prior: TossPrior, sensor: SensorModel
) -> Belief:
    """Return the belief after the first event, given draws of the contact."""
    draws = len(contacts)
    covariance = np.diag(np.square([*prior.position_sd, *prior.velocity_sd]))
    before = Belief(
        contacts,
        np.broadcast_to(np.array([*prior.position, *prior.velocity]), (1, draws, 4)),
        np.broadcast_to(covariance, (1, draws, 4, 4)),
        np.full((1, draws), np.nan),
        np.array([detection.time]),
        np.full((1, draws), -math.log(draws)),
        np.zeros((1, 0), dtype=int),
    )
    kinds = event_hypotheses.hypotheses(detection, sensor)
    return _normalised([_weigh_hypothesis(before, each) for each in kinds])


def update(
    belief: Belief, detection: Detection, *, prior: TossPrior, sensor: SensorModel
) -> Belief:
    """Return the belief after a further event, which is later than every one before."""
    false_alarm = _weigh_hypothesis(belief, event_hypotheses.false_alarm(detection, sensor))
    density = -math.log(prior.flight)  # of its time: anywhere in a flight
    branches = [replace(false_alarm, log_weight=false_alarm.log_weight + density)]
    histories = len(belief.time)
    # The contact was at the emission if the position is right, else TRAVEL before the arrival.
    when = np.repeat((detection.time, detection.arrival - TRAVEL), histories)
    twice = _take(belief, np.tile(np.arange(histories), 2))
    for missed in (False, True):
        flown = _propagate_flight(twice, when, missed, prior=prior, sensor=sensor)
        right, wrong = _take(flown, slice(histories)), _take(flown, slice(histories, None))
        for each in event_hypotheses.hypotheses(detection, sensor, after_miss=missed):
            branches.append(_weigh_hypothesis(wrong if each.position is None else right, each))
    return _normalised(branches)


def outlier_probability(belief: Belief) -> Float[ndarray, " event"]:
    """Return the probability that each event's position is wrong, or that it is no contact."""
    weight = np.exp(belief.log_weight).sum(axis=1)
    kinds = belief.hypotheses
    return weight @ (
        (kinds != EventHypothesis.INLIER) & (kinds != EventHypothesis.INLIER_AFTER_MISS)
    )


def _propagate_flight(
    belief: Belief,
    when: Float[ndarray, " history"],
    missed: bool,
    *,
    prior: TossPrior,
    sensor: SensorModel,
) -> Belief:
    """Bring every component to its next contact, s, over one flight or two, and weigh the time."""
    elapsed = np.maximum(when - belief.time, 1e-3)[:, None]
    expected, sd = _expected_flight(belief, np.isnan(belief.entry), prior, sensor)
    odds = sensor.miss_rate if missed else 1.0 - sensor.miss_rate
    flights: tuple[ndarray, ...] = (elapsed + 0.0 * expected,)
    if missed:
        ratio = _second_flight(belief, expected)
        expected, sd = (1.0 + ratio) * expected, (1.0 + ratio) * sd
        flights = elapsed / (1.0 + ratio), elapsed * ratio / (1.0 + ratio)
    score = (elapsed - expected) / sd
    log_weight = belief.log_weight - 0.5 * score**2 - np.log(sd * math.sqrt(2.0 * math.pi) / odds)
    mean, covariance, entry = belief.mean, belief.covariance, belief.entry
    for flight in flights:
        lost = _losses(belief, mean, flight)
        up, down = (1.0, 1.0) if lost is None else np.exp((lost.vertical, -lost.vertical))
        left = 0.5 * GRAVITY * flight * up
        mean, covariance = _apply_bounce(belief, mean, covariance, entry, left, sensor)
        slowed = None if lost is None else lost.horizontal
        mean, covariance = flight_moments.propagate_straight(mean, covariance, flight, slowed)
        entry = 0.5 * GRAVITY * flight * down
    return replace(
        belief, mean=mean, covariance=covariance, entry=entry, time=when, log_weight=log_weight
    )


def _take(belief: Belief, rows: Int[ndarray, " row"] | slice) -> Belief:
    """Return some of the histories."""
    names = ("mean", "covariance", "entry", "time", "log_weight", "hypotheses")
    return replace(belief, **{name: getattr(belief, name)[rows] for name in names})


def _expected_flight(
    belief: Belief, first: ndarray, prior: TossPrior, sensor: SensorModel
) -> tuple[Float[ndarray, "history draw"], Float[ndarray, "history draw"]]:
    """Mean and standard deviation of the next flight's time, s."""
    contacts = belief.contacts
    w = np.where(first, 1.0, belief.entry)
    rise = contact_table.restitution(contacts, np.arange(len(contacts)), w) * w
    squared = (belief.mean[..., 2:] ** 2).sum(-1) + np.trace(
        belief.covariance[..., 2:, 2:], axis1=-2, axis2=-1
    )
    squared = contacts.kept**2 * squared
    energy, spread = squared + rise**2, contacts.spread
    variance = squared * spread + energy * spread**2
    variance += (sensor.restitution_sd * w) ** 2 + (contacts.scatter * rise) ** 2
    mean = 2.0 / GRAVITY * rise * np.maximum(1.0 - spread, _LOWEST_SHARE)
    if not contacts.airless:
        mean *= np.exp(-flight_expansion.losses(rise, np.sqrt(squared), contacts.drag).vertical)
    sd = 2.0 / GRAVITY * np.sqrt(variance) + 0.2e-3
    return np.where(first, prior.flight, mean), np.where(first, prior.flight_sd, sd)


def _second_flight(
    belief: Belief, flight: Float[ndarray, "history draw"]
) -> Float[ndarray, "history draw"]:
    """Return how long the flight after one of a time, s, is expected to last, relative to it.

    It begins with e w' and is shorter by what the air takes of both, which goes with their squares.
    """
    lost = _losses(belief, belief.mean, flight)
    vertical = 0.0 if lost is None else lost.vertical
    arrival = 0.5 * GRAVITY * flight * np.exp(-vertical)
    e = contact_table.restitution(belief.contacts, np.arange(len(belief.contacts)), arrival)
    return e if lost is None else e * np.exp(-(1.0 + e**2) * vertical)


def _losses(
    belief: Belief, mean: Float[ndarray, "history draw 4"], flight: Float[ndarray, "history draw"]
) -> Losses | None:
    """Return what air takes in flights of a time, s, at the mean of u; None without air."""
    if belief.contacts.airless:
        return None
    distance = np.hypot(mean[..., 2], mean[..., 3]) * flight
    return flight_expansion.losses_between(flight, distance, belief.contacts.drag)


def _apply_bounce(
    belief: Belief,
    mean: Float[ndarray, "history draw 4"],
    covariance: Float[ndarray, "history draw 4 4"],
    entry: Float[ndarray, "history draw"],
    exit_speed: Float[ndarray, "history draw"],
    sensor: SensorModel,
) -> tuple[Float[ndarray, "history draw 4"], Float[ndarray, "history draw 4 4"]]:
    """Scatter the velocity at a contact; after a first contact u is that of leaving it already."""
    first, contacts = np.isnan(entry), belief.contacts
    speed = np.where(first, 1.0, entry)
    scattered, wider = flight_moments.bounce_moments(
        *_kept(mean, covariance, contacts.kept),
        rise=contact_table.restitution(contacts, np.arange(len(contacts)), speed) * speed,
        exit_speed=exit_speed,
        concentration=1.0 / np.maximum(contacts.spread, _STRAIGHT),
        speed_sd=sensor.restitution_sd * speed,
        scatter=contacts.scatter,
    )
    return (
        np.where(first[..., None], mean, scattered),
        np.where(first[..., None, None], covariance, wider),
    )


def _kept(
    mean: Float[ndarray, "history draw 4"],
    covariance: Float[ndarray, "history draw 4 4"],
    kept: Float[ndarray, " draw"],
) -> tuple[Float[ndarray, "history draw 4"], Float[ndarray, "history draw 4 4"]]:
    """Leave a share of the horizontal velocity."""
    if (kept == 1.0).all():
        return mean, covariance
    scale = np.ones((len(kept), 4))
    scale[:, 2:] = kept[:, None]
    return mean * scale, covariance * scale[:, :, None] * scale[:, None, :]


def _weigh_hypothesis(belief: Belief, hypothesis: Hypothesis) -> Belief:
    """Take one reading of an event for true, in components that have reached its contact."""
    mean, covariance, log_weight = belief.mean, belief.covariance, belief.log_weight
    if hypothesis.position is not None:
        found = kalman.update(
            mean,
            covariance,
            hypothesis.position.mean,
            observation=_POSITION,
            noise=hypothesis.position.covariance,
        )
        mean, covariance = found.mean, found.covariance
        log_weight = log_weight + found.log_density
    prior = math.log(hypothesis.probability) if hypothesis.probability > 0.0 else -math.inf
    kind = np.full((len(belief.hypotheses), 1), hypothesis.kind)
    return replace(
        belief,
        mean=mean,
        covariance=covariance,
        log_weight=log_weight + prior,
        hypotheses=np.concatenate((belief.hypotheses, kind), axis=1),
    )


def _normalised(branches: list[Belief]) -> Belief:
    """Join branches, keep the heaviest histories and let all weights sum to one."""
    log_weight = np.concatenate([part.log_weight for part in branches])
    total = _log_sum(log_weight)
    kept = np.argsort(-total, kind="stable")[:MOST_HISTORIES]
    kept = kept[np.isfinite(total[kept])]
    normaliser = _log_sum(total[kept])
    names = ("mean", "covariance", "entry", "time", "hypotheses")
    joined = {name: np.concatenate([getattr(p, name) for p in branches])[kept] for name in names}
    return replace(branches[0], log_weight=log_weight[kept] - normaliser, **joined)


def _log_sum(log_values: Float[ndarray, "*batch term"]) -> Float[ndarray, "*batch"]:
    """Log of the sum of exponentials along the last axis; an eighth of scipy's time at 12 terms."""
    highest = np.maximum(log_values.max(axis=-1), -1e300)
    with np.errstate(divide="ignore"):
        rest: ndarray = np.log(np.exp(log_values - highest[..., None]).sum(axis=-1))
    return np.asarray(highest + rest)
