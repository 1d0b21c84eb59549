"""A ball that is tossed over the table towards the robot's plane x = x_R, and where it goes.

Section 4.4 of Matl et al. (STReSSD): a ball is tossed onto the table in the robot's direction. It
bounces as in `models.systems.bouncing_ball.simulator`, the start moved to where the hand lets go;
between contacts i and i + 1 it is at

    p_i + v_i s - (0, 0, g s^2 / 2),    0 <= s <= T_i = 2 (v_i)_z / g,

so after the first contact i with (v_i)_x s = x_R - (p_i)_x for an s <= T_i it crosses the plane, at
y and z of that s. A ball with the family's nature (`balls.Ball`) bounces as in `family_simulator`,
and air drags it between contacts and to the plane (`flight`). The table ends at |x| = |y| =
0.275 m. A ball that would land beyond its far edge flies on and crosses the plane below the table's
height; one that goes over another edge, or is still on the table after `MOST_BOUNCES`, never
crosses.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import family_simulator, flight, simulator
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.simulator import Bounces
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
    bounces = _bounces(ball, place[:, 2], velocity, draw)
    level = place * torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64)
    places = (bounces.positions + level[:, None]).numpy()
    times, exits = bounces.times.numpy() + release, bounces.velocities.numpy()
    moved, arrivals = _flights(ball, bounces.velocities)
    falls = _falls(ball, place[:, 2], velocity)
    entries = np.concatenate((falls[:, None], arrivals[:, :-1]), axis=1)
    ends = [_end(*row, plane=plane) for row in zip(places, places[..., :2] + moved, strict=True)]
    counts = np.array([count for count, _ in ends])
    crossing = [i for i, (_, crosses) in enumerate(ends) if crosses]
    last = crossing, counts[crossing] - 1
    waits, points = _crossings(ball, places[last], exits[last], plane)
    crossed: dict[int, tuple[float | None, ndarray | None]] = {
        i: (float(times[i, counts[i] - 1] + wait), point)
        for i, wait, point in zip(crossing, waits, points, strict=True)
    }
    return tuple(
        Toss(
            ball,
            times[i, :count],
            places[i, :count],
            exits[i, :count],
            entries[i, :count],
            *crossed.get(i, (None, None)),
        )
        for i, count in enumerate(counts)
    )


def _bounces(ball: Ball, height: Tensor, velocity: Tensor, draw: torch.Generator) -> Bounces:
    """Follow balls let go over the origin through `MOST_BOUNCES` contacts."""
    if ball.plain:
        return simulator.simulate(
            torch.full_like(height, ball.restitution),
            torch.tensor(10.0**ball.log10_concentration, dtype=torch.float64),
            bounces=MOST_BOUNCES,
            drop_height=height,
            start_velocity=velocity,
            draw=draw,
        )
    nature = ball.nature
    return family_simulator.simulate(
        nature.contact,
        velocity,
        drop_height=height,
        law=nature.law,
        around=Surroundings(nature.drag),
        bounces=MOST_BOUNCES,
        draw=draw,
    )


def _falls(ball: Ball, height: Tensor, velocity: Tensor) -> Float[ndarray, " toss"]:
    """Return the speed along the normal with which balls first reach the table, m/s."""
    if ball.plain:
        return torch.sqrt(velocity[:, 2] ** 2 + 2.0 * GRAVITY * height).numpy()
    return -flight.fly(velocity, height=height, drag=ball.nature.drag).impact[:, 2].numpy()


def _flights(
    ball: Ball, exits: Float[Tensor, "toss bounce 3"]
) -> tuple[Float[ndarray, "toss bounce 2"], Float[ndarray, "toss bounce"]]:
    """Return how far flights go, m, and their speed along the normal on arrival, m/s."""
    if ball.plain:
        moved = exits[..., :2] * (2.0 * exits[..., 2:] / GRAVITY)
        return moved.numpy(), exits[..., 2].numpy()
    flown = flight.fly(exits, drag=ball.nature.drag)
    return flown.displacement.numpy(), -flown.impact[..., 2].numpy()


def _crossings(
    ball: Ball, position: Float[ndarray, "toss 3"], velocity: Float[ndarray, "toss 3"], plane: float
) -> tuple[Float[ndarray, " toss"], Float[ndarray, "toss 2"]]:
    """Return after what time, s, balls cross the plane and their (y, z) there, m."""
    away = plane - position[:, 0]
    if ball.plain:
        wait = away / velocity[:, 0]
        height = velocity[:, 2] * wait - 0.5 * GRAVITY * wait**2
        return wait, np.stack((position[:, 1] + velocity[:, 1] * wait, height), -1)
    exits = torch.from_numpy(velocity)
    time, moved = flight.meet(exits, torch.from_numpy(away), drag=ball.nature.drag)
    return time.numpy(), moved[:, 1:].numpy() + position[:, 1:] * [1.0, 0.0]


def _end(
    positions: Float[ndarray, "bounce 3"], landings: Float[ndarray, "bounce 2"], *, plane: float
) -> tuple[int, bool]:
    """Count the contacts with the table, and tell whether the ball then crosses the plane."""
    over = passes_edge(landings.T, plane)
    off = np.abs(positions[:, :2]).max(axis=1) > HALF_TABLE
    last = int((over | off).argmax())
    if off[last]:
        return last, False
    return (last + 1, True) if over[last] else (len(positions), False)
