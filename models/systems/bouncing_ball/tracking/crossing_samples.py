r"""How a ball goes on until it crosses the robot's plane: samples of the belief about it.

A sample draws a component of the belief, (p, u) and a draw of the contact; at every contact the
velocity is redrawn as `contact_table.bounce` says, and a flight without air is a parabola,

    p(s) = p + u s,    z(s) = w s - g s^2 / 2,    0 <= s <= T = 2 w / g,

in air that of `flight_expansion`. It crosses where p_x(s) = x_R for an s <= T. Where it would land
between the table's far edge and the plane it flies on and crosses below the table's height. It is
lost where it lands off the table (|x| or |y| above 0.275 m) otherwise, or has not crossed after
`MOST_FLIGHTS`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import contact_table, flight_expansion
from ricochet.models.systems.bouncing_ball.flight_expansion import Losses
from ricochet.models.systems.bouncing_ball.tracking.bounce_filter import Belief, TossPrior
from ricochet.models.systems.bouncing_ball.tracking.workspace import HALF_TABLE, passes_edge

MOST_FLIGHTS = 6


@dataclass(frozen=True)
class Continuations:
    """What may happen after the last contact, equally weighted.

    Attributes:
        crosses: Whether the ball crosses the plane at all.
        flight: Number of the flight in which it does, 1 for the present; 0 where never.
        time: When it crosses, s in the stream's clock; NaN where never.
        y, z: Where, m.
        next_contact: When the present flight would end on the table, s in the stream's clock.
    """

    crosses: Bool[ndarray, " sample"]
    flight: Int[ndarray, " sample"]
    time: Float[ndarray, " sample"]
    y: Float[ndarray, " sample"]
    z: Float[ndarray, " sample"]
    next_contact: Float[ndarray, " sample"]


@dataclass(frozen=True)
class _Flown:
    """Flights: time, s, step, m, velocity on arrival but for the sign of its fall, m/s, losses."""

    duration: ndarray
    step: ndarray
    arrival: ndarray
    lost: Losses | None


def sample(
    belief: Belief, *, plane: float, count: int, prior: TossPrior, draw: np.random.Generator
) -> Continuations:
    """Sample how the ball goes on; the prior gives the first flight after a single contact."""
    time, place, velocity, row = _start(belief, count, prior, draw)
    found = np.full((5, count), np.nan)  # flight, time, y, z, next contact
    active, drag = np.arange(count), belief.contacts.drag
    for flight in range(1, MOST_FLIGHTS + 1):
        flown = _fly(velocity, drag[row], airless=belief.contacts.airless)
        landing = place + flown.step
        if flight == 1:
            found[4] = time + flown.duration
        crosses = passes_edge(landing, plane)
        share = (plane - place[0, crosses]) / flown.step[0, crosses]
        wait, height = _part(flown, velocity, share, crosses)
        found[:4, active[crosses]] = (
            np.full(len(wait), flight),
            time[crosses] + wait,
            place[1, crosses] + share * flown.step[1, crosses],
            height,
        )
        on = ~crosses & (np.abs(landing) <= HALF_TABLE).all(axis=0)
        active, time, place = active[on], (time + flown.duration)[on], landing[:, on]
        if len(active) == 0:
            break
        row = row[on]
        velocity = contact_table.bounce(belief.contacts, row, flown.arrival[:, on], draw=draw)
    crosses = np.isfinite(found[0])
    return Continuations(crosses, np.nan_to_num(found[0]).astype(int), *found[1:])


def _start(
    belief: Belief, count: int, prior: TossPrior, draw: np.random.Generator
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Draw time, place and velocity on leaving the last contact, and the contact's draw."""
    draws = len(belief.contacts)
    heights = np.cumsum(np.exp(belief.log_weight))
    chosen = np.searchsorted(heights, heights[-1] * draw.random(count), side="right")
    used, component = np.unique(chosen, return_inverse=True)
    history, row = np.divmod(used, draws)
    normal = draw.standard_normal((5, count))
    root = np.linalg.cholesky(belief.covariance[history, row] + 1e-12 * np.eye(4))
    history, row = history[component], row[component]
    state = belief.mean[history, row] + (root[component] @ normal[:4].T[..., None])[..., 0]
    entry = belief.entry[history, row]
    first = np.isnan(entry)
    velocity = np.concatenate((state[:, 2:].T, np.where(first, 1.0, entry)[None]))
    velocity = contact_table.bounce(belief.contacts, row, velocity, draw=draw)
    rise = 0.5 * GRAVITY * np.maximum(prior.flight + prior.flight_sd * normal[4], 0.1)
    untouched = np.concatenate((state[:, 2:].T, rise[None]))
    velocity = np.where(first, untouched, velocity)
    return belief.time[history], state[:, :2].T.copy(), velocity, row


def _fly(velocity: Float[ndarray, "3 sample"], drag: ndarray, *, airless: bool) -> _Flown:
    """Fly from contact to contact."""
    duration = 2.0 * velocity[2] / GRAVITY
    if airless:
        return _Flown(duration, velocity[:2] * duration, velocity, None)
    lost = flight_expansion.losses(velocity[2], np.hypot(velocity[0], velocity[1]), drag)
    along, down = np.exp(-lost.horizontal), np.exp(-lost.vertical)
    duration = duration * down
    arrival = velocity * np.stack((along * along, along * along, down * down))
    return _Flown(duration, velocity[:2] * (duration * along), arrival, lost)


def _part(
    flown: _Flown, velocity: Float[ndarray, "3 sample"], share: ndarray, chosen: ndarray
) -> tuple[ndarray, ndarray]:
    """Return the time, s, and the height, m, after a share of the way of the chosen flights."""
    if flown.lost is None:
        wait = share * flown.duration[chosen]
        return wait, velocity[2, chosen] * wait - 0.5 * GRAVITY * wait**2
    lost = Losses(flown.lost.vertical[chosen], flown.lost.horizontal[chosen])
    return flight_expansion.height(flown.duration[chosen], share, lost)
