r"""Shots drawn one by one from the learnt modes: the oracle of the goal probability.

The puck's state at contact is drawn from its covariance, the mallet comes along e_u whatever that
state is, so that a puck that lies off the mallet's path by d is met at an angle asin(d / contact
radius); then the outcome of the strike, every later period and every bank are drawn
(`puck_sampler`). A draw chooses its own modes; nothing is linear or Gaussian. It is a goal if it
crosses the line at less than the clean half width for its own direction.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.systems.air_hockey.shots import goal_probability, objective
from ricochet.models.systems.air_hockey.shots.crossings import LONGEST, Crossing
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import puck_sampler


@dataclass(frozen=True)
class Draws:
    """What became of the draws of one shot; y (m) and speed (m/s) are those at the goal line."""

    goal: Bool[ndarray, " sample"]
    arrives: Bool[ndarray, " sample"]
    y: Float[ndarray, " sample"]
    speed: Float[ndarray, " sample"]
    banks: Int[ndarray, " sample"]


def goal_share(
    crossing: Crossing, table: Table, *, samples: int, draw: np.random.Generator
) -> Float[ndarray, "*batch"]:
    """Return the share of draws of the place on the line that are goals (Eq. 11)."""
    noise = draw.standard_normal((samples, *crossing.y.shape))
    half = goal_probability.clean_half_width(crossing.velocity, table)
    inside = np.abs(crossing.y + crossing.sd * noise) < half
    return np.asarray((crossing.arrives & inside).mean(0))


def play(
    conditions: Conditions,
    state: Float[ndarray, " 6"],
    angle: float,
    *,
    samples: int,
    draw: np.random.Generator,
) -> Draws:
    """Draw one shot many times, for the expected state of a puck at contact: m, m/s, m/s^2."""
    along, speed = objective.contact(conditions, state[None], np.array([angle]))
    if not speed[0] > 0.0:
        raise ValueError(f"angle: no stroke along {angle} at {state[:2].tolist()}")
    table = conditions.table
    states = draw.multivariate_normal(state, conditions.covariance, samples)
    across = np.array([-along[0, 1], along[0, 0]])
    off = ((states[:, :2] - state[:2]) @ across / table.contact_radius).clip(-1.0, 1.0)
    normal = np.sqrt(1.0 - off**2)[:, None] * along + off[:, None] * across
    velocity = np.broadcast_to(speed[0] * along, (samples, 2))
    return _followed(
        conditions, puck_sampler.strike(conditions.modes, states, velocity, normal, draw=draw), draw
    )


def _followed(
    conditions: Conditions, states: Float[ndarray, "sample 6"], draw: np.random.Generator
) -> Draws:
    """Move the pucks until each has crossed the line or turned back."""
    table, count = conditions.table, len(states)
    no, nan = np.zeros(count, bool), np.full(count, np.nan)
    found = Draws(no, no.copy(), nan, nan.copy(), np.zeros(count, int))
    rows = np.arange(count)
    for _ in range(LONGEST):
        after = puck_sampler.step(
            conditions.modes, states, table, draw=draw, first=found.banks[rows] == 0
        )
        turned = (states[:, 3] * after[:, 3] < 0.0) & (np.abs(after[:, 1]) > 0.5 * table.wall_y)
        found.banks[rows[turned]] += 1
        crossed = after[:, 0] >= table.half_length
        _note(found, rows[crossed], after[crossed], table)
        goes_on = ~crossed & (after[:, 2] > 0.0)
        states, rows = after[goes_on], rows[goes_on]
    return found


def _note(
    found: Draws, rows: Int[ndarray, " row"], states: Float[ndarray, "row 6"], table: Table
) -> None:
    """Write down, in place, where pucks crossed the line."""
    velocity = states[:, 2:4]
    ago = (states[:, 0] - table.half_length) / velocity[:, 0]
    y = states[:, 1] - ago * velocity[:, 1]
    found.arrives[rows], found.y[rows], found.speed[rows] = True, y, np.hypot(*velocity.T)
    found.goal[rows] = np.abs(y) < goal_probability.clean_half_width(velocity, table)
