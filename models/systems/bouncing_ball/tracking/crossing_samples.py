r"""How a ball goes on until it crosses the robot's plane: samples of the belief about it.

A sample draws a component of the belief, (p, u) and theta; at every contact the velocity (u, e w)
is redrawn as in `simulator`, and a flight is a parabola,

    p(s) = p + u s,    z(s) = w s - g s^2 / 2,    0 <= s <= T = 2 w / g.

It crosses where p_x(s) = x_R for an s <= T. Where it would land between the table's far edge and
the plane it flies on and crosses below the table's height. It is lost where it lands off the table
(|x| or |y| above 0.275 m) otherwise, or has not crossed after `MOST_FLIGHTS`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.probability import von_mises_fisher
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


def sample(
    belief: Belief, *, plane: float, count: int, prior: TossPrior, draw: np.random.Generator
) -> Continuations:
    """Sample how the ball goes on; the prior gives the first flight after a single contact."""
    time, place, velocity, theta = _start(belief, count, prior, draw)
    found = np.full((5, count), np.nan)  # flight, time, y, z, next contact
    active = np.arange(count)
    for flight in range(1, MOST_FLIGHTS + 1):
        duration = 2.0 * velocity[2] / GRAVITY
        landing = place + velocity[:2] * duration
        if flight == 1:
            found[4] = time + duration
        crosses = passes_edge(landing, plane)
        wait = (plane - place[0, crosses]) / velocity[0, crosses]
        found[:4, active[crosses]] = (
            np.full(len(wait), flight),
            time[crosses] + wait,
            place[1, crosses] + velocity[1, crosses] * wait,
            velocity[2, crosses] * wait - 0.5 * GRAVITY * wait**2,
        )
        on = ~crosses & (np.abs(landing) <= HALF_TABLE).all(axis=0)
        active, time, place = active[on], (time + duration)[on], landing[:, on]
        if len(active) == 0:
            break
        theta = theta[:, on]
        velocity = _bounce(velocity[:, on], theta, draw)
    crosses = np.isfinite(found[0])
    return Continuations(crosses, np.nan_to_num(found[0]).astype(int), *found[1:])


def _start(
    belief: Belief, count: int, prior: TossPrior, draw: np.random.Generator
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Draw time, place and velocity on leaving the last contact, and theta."""
    draws = len(belief.restitution)
    heights = np.cumsum(np.exp(belief.log_weight))
    chosen = np.searchsorted(heights, heights[-1] * draw.random(count), side="right")
    used, component = np.unique(chosen, return_inverse=True)
    history, theta = np.divmod(used, draws)
    normal = draw.standard_normal((5, count))
    root = np.linalg.cholesky(belief.covariance[history, theta] + 1e-12 * np.eye(4))
    history, theta = history[component], theta[component]
    state = belief.mean[history, theta] + (root[component] @ normal[:4].T[..., None])[..., 0]
    pair = np.stack((belief.restitution[theta], belief.concentration[theta]))
    entry = belief.entry[history, theta]
    first = np.isnan(entry)
    velocity = np.concatenate((state[:, 2:].T, np.where(first, 1.0, entry)[None]))
    velocity = _bounce(velocity, pair, draw)
    rise = 0.5 * GRAVITY * np.maximum(prior.flight + prior.flight_sd * normal[4], 0.1)
    untouched = np.concatenate((state[:, 2:].T, rise[None]))
    velocity = np.where(first, untouched, velocity)
    return belief.time[history], state[:, :2].T.copy(), velocity, pair


def _bounce(
    velocity: Float[ndarray, "3 sample"],
    theta: Float[ndarray, "2 sample"],
    draw: np.random.Generator,
) -> Float[ndarray, "3 sample"]:
    """Redraw velocities at a contact; those that would enter the table are drawn again."""
    risen = np.concatenate((velocity[:2], theta[:1] * np.abs(velocity[2:])))
    drawn = von_mises_fisher.redirect_few(risen, theta[1], draw=draw)
    while (down := drawn[2] <= 0.0).any():
        again = von_mises_fisher.redirect_few(risen[:, down], theta[1, down], draw=draw)
        drawn[:, down] = again
    return drawn
