"""A ball that is tossed over the table towards the robot's plane x = x_R, and where it goes.

Section 4.4 of Matl et al. (STReSSD): a ball is tossed onto the table in the robot's direction. It
bounces as in `models.systems.bouncing_ball.simulator`, the start moved to where the hand lets go;
between contacts i and i + 1 it is at

    p_i + v_i s - (0, 0, g s^2 / 2),    0 <= s <= T_i = 2 (v_i)_z / g,

so after the first contact i with (v_i)_x s = x_R - (p_i)_x for an s <= T_i it crosses the plane, at
y and z of that s. The table ends at |x| = |y| = 0.275 m. A ball that would land beyond its far edge
flies on and crosses the plane below the table's height; one that goes over another edge, or is
still on the table after `MOST_BOUNCES`, never crosses.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.tracking.workspace import HALF_TABLE, passes_edge

MOST_BOUNCES = 24
LEAST_HEIGHT = 0.05  # m; the hand never lets go lower


@dataclass(frozen=True)
class Toss:
    """The truth about one toss. Times count from the start of the recording stream.

    Attributes:
        times, positions: Of each contact with the table, s and m; z is 0.
        velocities, entry_speeds: After each contact, and along the normal before it, m/s.
        crossing_time: When it crosses the robot's plane, s, or None if it never does.
        crossing: (y, z) there, m, or None; z is below 0 for a ball that fell over the far edge.
    """

    ball: Ball
    times: Float[ndarray, " bounce"]
    positions: Float[ndarray, "bounce 3"]
    velocities: Float[ndarray, "bounce 3"]
    entry_speeds: Float[ndarray, " bounce"]
    crossing_time: float | None
    crossing: Float[ndarray, " 2"] | None


def toss(ball: Ball, plane: float = 0.30, *, release: float = 0.30, draw: torch.Generator) -> Toss:
    """Toss a ball once; see `tosses`."""
    return tosses(ball, 1, plane=plane, release=release, draw=draw)[0]


def tosses(
    ball: Ball, count: int, *, plane: float = 0.30, release: float = 0.30, draw: torch.Generator
) -> tuple[Toss, ...]:
    """Toss a ball many times.

    Args:
        plane: x of the robot's plane, m.
        release: When the hand lets go after the stream's start, s.

    Raises:
        ValueError: If the plane does not lie beyond the table.
    """
    hand = ball.hand
    place, velocity = (
        torch.tensor(mean, dtype=torch.float64)
        + torch.tensor(sd, dtype=torch.float64)
        * torch.randn((count, 3), generator=draw, dtype=torch.float64)
        for mean, sd in ((hand.place, hand.place_sd), (hand.velocity, hand.velocity_sd))
    )
    place[:, 2].clamp_(min=LEAST_HEIGHT)
    return follow(ball, place, velocity, plane=plane, release=release, draw=draw)


def follow(
    ball: Ball,
    place: Float[Tensor, "toss 3"],
    velocity: Float[Tensor, "toss 3"],
    *,
    plane: float = 0.30,
    release: float = 0.30,
    draw: torch.Generator,
) -> tuple[Toss, ...]:
    """Follow balls from known places and velocities of release; see `tosses`.

    Args:
        place, velocity: Of each release, m and m/s.

    Raises:
        ValueError: If the plane does not lie beyond the table.
    """
    if not plane > HALF_TABLE:
        raise ValueError(f"plane must lie beyond the table at {HALF_TABLE} m, got {plane}")
    bounces = simulator.simulate(
        torch.full((len(place),), ball.restitution, dtype=torch.float64),
        torch.tensor(10.0**ball.log10_concentration, dtype=torch.float64),
        bounces=MOST_BOUNCES,
        drop_height=place[:, 2],
        start_velocity=velocity,
        draw=draw,
    )
    level = place * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    falls = torch.sqrt(velocity[:, 2] ** 2 + 2.0 * GRAVITY * place[:, 2])
    times, exits = bounces.times.numpy() + release, bounces.velocities.numpy()
    places = (bounces.positions + level[:, None]).numpy()
    entries = np.concatenate((falls.numpy()[:, None], exits[:, :-1, 2]), axis=1)
    return tuple(
        _toss(ball, *row, plane=plane) for row in zip(times, places, exits, entries, strict=True)
    )


def _toss(
    ball: Ball,
    times: Float[ndarray, " bounce"],
    positions: Float[ndarray, "bounce 3"],
    velocities: Float[ndarray, "bounce 3"],
    entry_speeds: Float[ndarray, " bounce"],
    *,
    plane: float,
) -> Toss:
    """End one trajectory at the plane, at the table's edge or after the last bounce."""
    count, wait = _end(positions, velocities, plane=plane)
    when, where = None, None
    if wait is not None:
        last = velocities[count - 1]
        y = positions[count - 1, 1] + last[1] * wait
        where = np.array([y, last[2] * wait - 0.5 * GRAVITY * wait**2])
        when = float(times[count - 1] + wait)
    on = slice(count)
    return Toss(ball, times[on], positions[on], velocities[on], entry_speeds[on], when, where)


def _end(
    positions: Float[ndarray, "bounce 3"], velocities: Float[ndarray, "bounce 3"], *, plane: float
) -> tuple[int, float | None]:
    """Count the contacts with the table, and give the time from the last to the plane if any."""
    landing = positions + velocities * (2.0 * velocities[:, 2:] / GRAVITY)
    over = passes_edge(landing.T, plane)
    off = np.abs(positions[:, :2]).max(axis=1) > HALF_TABLE
    last = int((over | off).argmax())
    if off[last]:
        return last, None
    wait = float((plane - positions[last, 0]) / velocities[last, 0]) if over[last] else None
    return last + 1 if over[last] else len(positions), wait
