r"""The puck alone, many at a time, drawn from its learnt modes.

`puck.dynamics` propagates the mean and covariance of a state; here states are drawn: each period's
noise, each bank's, each strike's and, once an episode, the airflow. A draw chooses its own mode,
where the moments follow the mode of the mean: this is the slow oracle of a roll-out (Eq. 8 of
Jankowski, Maric et al.).
"""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.probability import linear_gaussians
from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import contact_frames, dynamics, strikes
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles.linear_gaussians import sample


def release(
    modes: PuckModes,
    place: Float[ndarray, "*batch 2"],
    velocity: Float[ndarray, "*batch 2"],
    *,
    draw: np.random.Generator,
) -> Float[ndarray, "*batch 6"]:
    """Return states (m, m/s, m/s^2) at places and velocities, with an airflow drawn for each."""
    airflow = modes.airflow_sd * draw.standard_normal(place.shape)
    return np.concatenate((place, velocity, airflow), axis=-1)


def step(
    modes: PuckModes,
    states: Float[ndarray, "batch 6"],
    table: Table,
    *,
    draw: np.random.Generator,
    first: Bool[ndarray, " batch"] | None = None,
) -> Float[ndarray, "batch 6"]:
    """Return the states a period later: floating, and what went beyond a wall turned back.

    Args:
        first: Whose next bank is the first after a strike; none when absent.
    """
    place, velocity, airflow = states[:, 0:2], states[:, 2:4], states[:, 4:6]
    push = 0.5 * PERIOD * (airflow + airflow @ modes.floating.matrix.T)
    faster = sample(modes.floating, velocity, draw=draw) + push
    after = np.hstack((place + 0.5 * PERIOD * (velocity + faster), faster, airflow))
    for axis, limit in ((1, table.wall_y), (0, table.wall_x)):
        over = dynamics.beyond(after, table)[:, axis]
        for law, hit in _ways(modes, over, first, draw):
            after[hit] = _turned(law, after[hit], axis=axis, limit=limit, draw=draw)
    return after


def paths(
    modes: PuckModes,
    states: Float[ndarray, "batch 6"],
    table: Table,
    *,
    steps: int,
    draw: np.random.Generator,
) -> Float[ndarray, "time batch 6"]:
    """Return the states now and after each of the next periods."""
    found = [states]
    for _ in range(steps):
        found.append(step(modes, found[-1], table, draw=draw))
    return np.stack(found)


def strike(
    modes: PuckModes,
    states: Float[ndarray, "batch 6"],
    mallet_velocity: Float[ndarray, "batch 2"],
    normal: Float[ndarray, "batch 2"],
    *,
    draw: np.random.Generator,
) -> Float[ndarray, "batch 6"]:
    """Return states after the mallet's touch, as if the velocity had changed at once."""
    hit = strikes.strike(modes, states, mallet_velocity, normal)
    root = np.linalg.cholesky(hit.covariance + 1e-18 * np.eye(2))
    noise = draw.standard_normal(hit.mean.shape)
    velocity = hit.mean + (root @ noise[..., None])[..., 0]
    place = states[:, 0:2] + modes.delay * (states[:, 2:4] - velocity)
    return np.hstack((place, velocity, states[:, 4:6]))


def _ways(
    modes: PuckModes,
    over: Bool[ndarray, " batch"],
    first: Bool[ndarray, " batch"] | None,
    draw: np.random.Generator,
) -> list[tuple[LinearGaussian, Int[ndarray, " row"]]]:
    """Return the laws of banks and the rows that follow each."""
    if first is None:
        return [(modes.wall, np.flatnonzero(over))]
    shares = [way.share for way in modes.first_bank]
    way = np.where(first, draw.choice(len(shares), size=len(over), p=shares), -1)
    laws = [modes.wall, *(way.law for way in modes.first_bank)]
    return [(law, np.flatnonzero(over & (way == k - 1))) for k, law in enumerate(laws)]


def _turned(
    law: LinearGaussian,
    states: Float[ndarray, "batch 6"],
    *,
    axis: int,
    limit: float,
    draw: np.random.Generator,
) -> Float[ndarray, "batch 6"]:
    """Return states beyond a wall across `axis` after their bank, at its own instant."""
    side = np.sign(states[:, axis])
    normal = np.zeros((len(states), 2))
    normal[:, axis] = side
    frame = contact_frames.frames(normal)
    before = np.einsum("bij,bj->bi", frame, states[:, 2:4])
    speed = before[:, :1]
    quiet = linear_gaussians.mean(law, before)
    noise = sample(law, before, draw=draw) - quiet
    after = quiet + contact_frames.sizes(before) * noise
    ago = (side * states[:, axis] - limit)[:, None] / speed
    velocity = np.einsum("bji,bj->bi", frame, after)
    place = states[:, 0:2] + ago * (velocity - states[:, 2:4])
    return np.hstack((place, velocity, states[:, 4:6]))
