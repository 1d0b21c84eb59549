r"""What the bounces heard so far say of a ball, and which of them to believe.

A ball reaches contact i at p_i with horizontal velocity u_i and vertical speed w_i, the speed with
which it left contact i - 1. By the law of models.systems.bouncing_ball.simulator it leaves with

    s^2 = |u_i|^2 + (e w_i)^2,      speed s in a direction from von Mises-Fisher(k) about the old.

The time t to the next contact tells the vertical part, w_{i+1} = g t / 2, so with theta = (e, k)
all that stays unknown is the heading. Given w_{i+1} the horizontal velocity has the length

    v = sqrt(s^2 - w_{i+1}^2),      turned from u_i by von Mises(c),      c = k |u_i| v / s^2,

hence, with A = I_1(c) / I_0(c), d along u_i and n across it, exactly

    E[u_{i+1}] = v A d,     Cov = v^2 [(1 - A / c - A^2) d d^T + (A / c) n n^T],

and p_{i+1} = p_i + u_{i+1} t. A Kalman filter over (p, u) with these moments (its first-order map
from u_i is A [(|u_i| / v) d d^T + (v / |u_i|) n n^T]) takes in places with the localiser's
covariance. Before a first flight nothing is known but where tosses come from (`Toss`).

Ears err (`Ears`): an event's place is wrong with a probability, then where one late arrival puts it
(`late_arrivals`) or anywhere; rarely an event is
invented or a contact missed. Every event splits each history of such verdicts, and Bayes' rule
weighs them, jointly with draws of theta; the heaviest `MOST_HISTORIES` are kept. So the belief is a
mixture of Gaussians, one for each history and draw. Robust Kalman filters by mixtures: Alspach and
Sorenson 1972, doi 10.1109/TAC.1972.1100034.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy import special

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.tracking.late_arrivals import Place

MOST_HISTORIES = 8
TRAVEL = 0.8e-3
"""Time from a contact to the first microphone where the place is unknown, s; at most twice this."""
_SLOWEST = 0.05  # m/s; below, a heading means nothing
_LARGE = 1e4  # concentration; what the series leaves out is below 1e-13
_STEEPEST = 2.0  # bound of the map's two slopes, where v or |u| is near 0

GOOD, WRONG, INVENTED, AFTER_MISSED, WRONG_AFTER_MISSED, LATE = range(6)
"""Verdicts on an event. A missed contact is one between the event and the one before; a late event
is one that a microphone heard late (`late_arrivals`)."""


@dataclass(frozen=True)
class Toss:
    """Where tosses come from, before anything is heard; means and standard deviations.

    Attributes:
        place: Of the first contact, m.
        place_sd: m.
        velocity: Horizontal, after the first contact, m/s.
        velocity_sd: m/s.
        flight: Time from the first contact to the second, s.
        flight_sd: s.
    """

    place: tuple[float, float] = (-0.14, 0.0)
    place_sd: tuple[float, float] = (0.15, 0.15)
    velocity: tuple[float, float] = (0.5, 0.0)
    velocity_sd: tuple[float, float] = (0.2, 0.15)
    flight: float = 0.35
    flight_sd: float = 0.10


@dataclass(frozen=True)
class Ears:
    """How the ears err.

    Attributes:
        wrong: Probability that an event's place is wrong.
        wrong_flagged: The same where the localiser doubts it.
        late: Share of wrong places that come of one late arrival, where that can be told.
        area: Area over which the other wrong places spread, m^2.
        invented: Probability that an event is no contact.
        missed: Probability that a contact makes no event.
        survey_sd: Error of a place through the microphones' own places, m, beside its covariance.
        unstated_sd: Error of a place that comes without covariance, m.
        restitution_sd: By how much one contact's restitution differs from the ball's.
    """

    wrong: float = 0.15
    wrong_flagged: float = 0.9
    late: float = 0.8
    area: float = 0.4
    invented: float = 0.003
    missed: float = 0.003
    survey_sd: float = 3e-3
    unstated_sd: float = 5e-3
    restitution_sd: float = 0.005


@dataclass(frozen=True)
class Heard:
    """One event.

    Attributes:
        time: When the contact was, if the place is right, s.
        arrival: First arrival at a microphone, s.
        place: m, or None.
        covariance: Of the place, m^2, or None.
        flagged: Whether the localiser doubts the place.
        late: Where the contact may have been if a microphone heard it late.
    """

    time: float
    arrival: float
    place: Float[ndarray, " 2"] | None
    covariance: Float[ndarray, "2 2"] | None
    flagged: bool
    late: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Belief:
    """A mixture over histories and draws of theta.

    Attributes:
        restitution: e of each draw.
        concentration: k of each draw.
        mean: Of (p, u) on reaching the last contact; u on leaving it after a first contact.
        covariance: m^2, m^2/s, m^2/s^2.
        entry: Vertical speed on reaching the last contact, m/s; NaN after a first contact.
        time: When the last contact was, s.
        log_weight: Of each history and draw, summing to one.
        verdicts: What each history holds of the events.
    """

    restitution: Float[ndarray, " draw"]
    concentration: Float[ndarray, " draw"]
    mean: Float[ndarray, "history draw 4"]
    covariance: Float[ndarray, "history draw 4 4"]
    entry: Float[ndarray, "history draw"]
    time: Float[ndarray, " history"]
    log_weight: Float[ndarray, "history draw"]
    verdicts: Int[ndarray, "history event"]


def begin(theta: Float[ndarray, "draw 2"], heard: Heard, *, toss: Toss, ears: Ears) -> Belief:
    """Believe the first event.

    Args:
        theta: Draws of restitution and log10 concentration.
        heard: The event.
        toss: Where tosses come from.
        ears: How the ears err.

    Returns:
        The belief after it.
    """
    draws = len(theta)
    mean = np.broadcast_to(np.array([*toss.place, *toss.velocity]), (1, draws, 4))
    covariance = np.diag(np.square([*toss.place_sd, *toss.velocity_sd]))
    before = Belief(
        theta[:, 0],
        10.0 ** theta[:, 1],
        mean,
        np.broadcast_to(covariance, (1, draws, 4, 4)),
        np.full((1, draws), np.nan),
        np.array([heard.time]),
        np.full((1, draws), -math.log(draws)),
        np.zeros((1, 0), dtype=int),
    )
    return _weigh([_verdict(before, heard, *kind, ears) for kind in _verdicts(heard)])


def update(belief: Belief, heard: Heard, *, toss: Toss, ears: Ears) -> Belief:
    """Believe a further event.

    Args:
        belief: The belief before it.
        heard: The event, later than every one before.
        toss: Where tosses come from.
        ears: How the ears err.

    Returns:
        The belief after it.
    """
    invented = _verdict(belief, heard, INVENTED, None, ears)
    parts = [replace(invented, log_weight=invented.log_weight - math.log(toss.flight))]
    verdicts = {False: _verdicts(heard), True: ((AFTER_MISSED, None), (WRONG_AFTER_MISSED, None))}
    for missed, judged in verdicts.items():
        right, wrong = _fly(belief, heard, missed, toss=toss, ears=ears)
        for kind, late in judged:
            flown = wrong if kind in (WRONG, WRONG_AFTER_MISSED) else right
            parts.append(_verdict(flown, heard, kind, late, ears))
    return _weigh(parts)


def _verdicts(heard: Heard) -> tuple[tuple[int, Place | None], ...]:
    """What an event may be if no contact was missed."""
    return ((GOOD, None), (WRONG, None), *((LATE, place) for place in heard.late))


def wrong_probability(belief: Belief) -> Float[ndarray, " event"]:
    """Return the probability that each event's place is wrong, or that it is no contact.

    Args:
        belief: The belief.
    """
    weight = np.exp(belief.log_weight).sum(axis=1)
    doubted = (belief.verdicts != GOOD) & (belief.verdicts != AFTER_MISSED)
    return weight @ doubted


def turn(
    mean: Float[ndarray, "*batch 4"],
    covariance: Float[ndarray, "*batch 4 4"],
    *,
    rise: Float[ndarray, "*batch"],
    exit_speed: Float[ndarray, "*batch"],
    concentration: Float[ndarray, "*batch"],
    speed_sd: Float[ndarray, "*batch"] | float = 0.0,
) -> tuple[Float[ndarray, "*batch 4"], Float[ndarray, "*batch 4 4"]]:
    """Redraw the horizontal velocity at a contact, given the vertical exit speed that was heard.

    Args:
        mean: Of (p, u) on reaching the contact.
        covariance: Of the same.
        rise: Vertical speed after the contact without redraw, e w, m/s.
        exit_speed: Vertical speed after the redraw, m/s.
        concentration: k.
        speed_sd: Standard deviation of `rise`, m/s.

    Returns:
        Mean and covariance of (p, u) on leaving it.
    """
    u = mean[..., 2:]
    before = np.hypot(u[..., 0], u[..., 1])
    energy = before**2 + rise**2
    after = np.sqrt(np.maximum(energy - exit_speed**2, _SLOWEST**2))
    c = np.maximum(concentration * before * after / energy, 1e-9)
    A = _mean_cosine(c)  # noqa: N806  as in the equations
    d = u / np.maximum(before, 1e-12)[..., None]
    along = d[..., :, None] * d[..., None, :]
    across = np.eye(2) - along
    ratio = np.clip(before / after, 1.0 / _STEEPEST, _STEEPEST)
    slope = (A * ratio)[..., None, None] * along + (A / ratio)[..., None, None] * across
    spread = np.maximum(1.0 - A / c - A**2, 0.0) * after**2 + np.square(
        np.minimum(rise / after, 10.0) * speed_sd
    )
    sideways = A / c * after**2
    turned = covariance.copy()
    turned[..., :2, 2:] = covariance[..., :2, 2:] @ slope  # the slope is symmetric
    turned[..., 2:, :2] = np.swapaxes(turned[..., :2, 2:], -1, -2)
    turned[..., 2:, 2:] = slope @ covariance[..., 2:, 2:] @ slope
    turned[..., 2:, 2:] += spread[..., None, None] * along + sideways[..., None, None] * across
    return np.concatenate((mean[..., :2], (after * A)[..., None] * d), axis=-1), turned


def _mean_cosine(c: Float[ndarray, "*batch"]) -> Float[ndarray, "*batch"]:
    """I_1(c) / I_0(c), the mean cosine of the von Mises law; by its series where c is large."""
    small = np.minimum(c, _LARGE)
    series = 1.0 - 0.5 / np.maximum(c, _LARGE) * (1.0 + 0.25 / np.maximum(c, _LARGE))
    return np.where(c < _LARGE, special.ive(1, small) / special.ive(0, small), series)


def locate(
    mean: Float[ndarray, "*batch 4"],
    covariance: Float[ndarray, "*batch 4 4"],
    place: Float[ndarray, " 2"],
    noise: Float[ndarray, "2 2"],
) -> tuple[Float[ndarray, "*batch 4"], Float[ndarray, "*batch 4 4"], Float[ndarray, "*batch"]]:
    """Take in a place: the Kalman update and the place's log density.

    Args:
        mean: Of (p, u).
        covariance: Of the same.
        place: What was heard, m.
        noise: Its covariance, m^2.

    Returns:
        Mean and covariance given the place, and its log density before, per m^2.
    """
    innovation = covariance[..., :2, :2] + noise
    a, b, d = innovation[..., 0, 0], innovation[..., 0, 1], innovation[..., 1, 1]
    determinant = a * d - b * b
    inverse = np.stack((d, -b, -b, a), -1).reshape(innovation.shape) / determinant[..., None, None]
    residual = (place - mean[..., :2])[..., None]
    gain = covariance[..., :, :2] @ inverse
    squared = (np.swapaxes(residual, -1, -2) @ inverse @ residual)[..., 0, 0]
    log_density = -0.5 * (squared + np.log(determinant)) - math.log(2.0 * math.pi)
    updated = covariance - gain @ covariance[..., :2, :]
    return mean + (gain @ residual)[..., 0], updated, log_density


def _fly(
    belief: Belief, heard: Heard, missed: bool, *, toss: Toss, ears: Ears
) -> tuple[Belief, Belief]:
    """Bring every component to the event's contact, over one flight or two, and weigh the time.

    Returns what holds if the event's place is right, and if it is wrong: the times then differ.
    """
    histories = len(belief.time)
    when = np.repeat((heard.time, heard.arrival - TRAVEL), histories)
    both = _take(belief, np.tile(np.arange(histories), 2))
    elapsed = np.maximum(when - both.time, 1e-3)[:, None]
    expected, sd = _expected_flight(both, np.isnan(both.entry), toss, ears)
    e, odds = both.restitution, ears.missed if missed else 1.0 - ears.missed
    flights: tuple[ndarray, ...] = (elapsed + 0.0 * e,)
    if missed:
        expected, sd = (1.0 + e) * expected, (1.0 + e) * sd
        flights = elapsed / (1.0 + e), elapsed * e / (1.0 + e)
    score = (elapsed - expected) / sd
    log_weight = both.log_weight - 0.5 * score**2 - np.log(sd * math.sqrt(2.0 * math.pi) / odds)
    mean, covariance, entry = both.mean, both.covariance, both.entry
    for flight in flights:
        mean, covariance = _leave(both, mean, covariance, entry, flight, ears)
        mean, covariance = _glide(mean, covariance, flight)
        entry = 0.5 * GRAVITY * flight
    flown = replace(
        both, mean=mean, covariance=covariance, entry=entry, time=when, log_weight=log_weight
    )
    order = np.arange(2 * histories)
    return _take(flown, order[:histories]), _take(flown, order[histories:])


def _take(belief: Belief, rows: Int[ndarray, " row"]) -> Belief:
    """Return some of the histories, by their numbers."""
    names = ("mean", "covariance", "entry", "time", "log_weight", "verdicts")
    return replace(belief, **{name: getattr(belief, name)[rows] for name in names})


def _expected_flight(
    belief: Belief, first: ndarray, toss: Toss, ears: Ears
) -> tuple[Float[ndarray, "history draw"], Float[ndarray, "history draw"]]:
    """Mean and standard deviation of the next flight's time, s."""
    e, k = belief.restitution, belief.concentration
    w = np.where(first, 1.0, belief.entry)
    squared = (belief.mean[..., 2:] ** 2).sum(-1) + np.trace(
        belief.covariance[..., 2:, 2:], axis1=-2, axis2=-1
    )
    energy = squared + (e * w) ** 2
    variance = squared / k + energy / k**2 + (ears.restitution_sd * w) ** 2
    mean = 2.0 / GRAVITY * e * w * (1.0 - 1.0 / k)
    sd = 2.0 / GRAVITY * np.sqrt(variance) + 0.2e-3
    return np.where(first, toss.flight, mean), np.where(first, toss.flight_sd, sd)


def _leave(
    belief: Belief,
    mean: Float[ndarray, "history draw 4"],
    covariance: Float[ndarray, "history draw 4 4"],
    entry: Float[ndarray, "history draw"],
    flight: Float[ndarray, "history draw"],
    ears: Ears,
) -> tuple[Float[ndarray, "history draw 4"], Float[ndarray, "history draw 4 4"]]:
    """Turn at the contact; after a first contact u is that of leaving it already."""
    first = np.isnan(entry)
    speed = np.where(first, 1.0, entry)
    turned, wider = turn(
        mean,
        covariance,
        rise=belief.restitution * speed,
        exit_speed=0.5 * GRAVITY * flight,
        concentration=belief.concentration,
        speed_sd=ears.restitution_sd * speed,
    )
    return (
        np.where(first[..., None], mean, turned),
        np.where(first[..., None, None], covariance, wider),
    )


def _glide(
    mean: Float[ndarray, "*batch 4"],
    covariance: Float[ndarray, "*batch 4 4"],
    flight: Float[ndarray, "*batch"],
) -> tuple[Float[ndarray, "*batch 4"], Float[ndarray, "*batch 4 4"]]:
    """Move on with the velocity for a time."""
    moved, wider, t = mean.copy(), covariance.copy(), flight[..., None, None]
    moved[..., :2] += flight[..., None] * mean[..., 2:]
    wider[..., :2, 2:] += t * covariance[..., 2:, 2:]
    wider[..., 2:, :2] = np.swapaxes(wider[..., :2, 2:], -1, -2)
    wider[..., :2, :2] += t * (covariance[..., :2, 2:] + wider[..., 2:, :2])
    return moved, wider


def _verdict(belief: Belief, heard: Heard, kind: int, late: Place | None, ears: Ears) -> Belief:
    """Judge an event's place in every component that has been brought to it."""
    wrong = ears.wrong_flagged if heard.flagged else ears.wrong
    lates = ears.late if heard.late else 0.0
    mean, covariance = belief.mean, belief.covariance
    gained = np.zeros(belief.log_weight.shape)
    if late is not None:
        mean, covariance, gained = locate(mean, covariance, late.mean, late.covariance)
        odds = wrong * lates / len(heard.late) * math.exp(late.log_stretch)
    elif kind in (GOOD, AFTER_MISSED) and heard.place is not None:
        mean, covariance, gained = locate(mean, covariance, heard.place, _noise(heard, ears))
        odds = 1.0 - wrong
    elif kind in (GOOD, AFTER_MISSED):
        odds = 0.0
    else:
        odds = ears.invented if kind == INVENTED else wrong * (1.0 - lates)
        odds /= 1.0 if heard.place is None else ears.area
    if kind != INVENTED:
        odds *= 1.0 - ears.invented
    verdicts = np.full((len(belief.verdicts), 1), kind)
    return replace(
        belief,
        mean=mean,
        covariance=covariance,
        log_weight=belief.log_weight + gained + (math.log(odds) if odds > 0.0 else -math.inf),
        verdicts=np.concatenate((belief.verdicts, verdicts), axis=1),
    )


def _noise(heard: Heard, ears: Ears) -> Float[ndarray, "2 2"]:
    """Covariance of a right place, m^2."""
    if heard.covariance is None:
        return ears.unstated_sd**2 * np.eye(2)
    return heard.covariance + ears.survey_sd**2 * np.eye(2)


def _weigh(parts: list[Belief]) -> Belief:
    """Join branches, keep the heaviest histories and let all weights sum to one."""
    log_weight = np.concatenate([part.log_weight for part in parts])
    total = _log_sum(log_weight)
    kept = np.argsort(-total, kind="stable")[:MOST_HISTORIES]
    kept = kept[np.isfinite(total[kept])]
    normaliser = _log_sum(total[kept])
    names = ("mean", "covariance", "entry", "time", "verdicts")
    joined = {name: np.concatenate([getattr(p, name) for p in parts])[kept] for name in names}
    return replace(parts[0], log_weight=log_weight[kept] - normaliser, **joined)


def _log_sum(log_values: Float[ndarray, "*batch term"]) -> Float[ndarray, "*batch"]:
    """Log of the sum of exponentials along the last axis; an eighth of scipy's time at 12 terms."""
    highest = np.maximum(log_values.max(axis=-1), -1e300)
    with np.errstate(divide="ignore"):
        rest: ndarray = np.log(np.exp(log_values - highest[..., None]).sum(axis=-1))
    return highest + rest
