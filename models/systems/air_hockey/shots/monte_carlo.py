r"""Shots drawn one by one from the learnt modes: what a goal probability is an account of.

The puck's state at contact is drawn from its doubt, the mallet comes along e_u whatever that
state is, so that a puck that lies off the mallet's path by d is met at an angle asin(d / contact
radius), the strike's outcome is drawn, and every later period and bank
(`models.systems.air_hockey.puck.sampler`). A draw chooses its own modes and its own way; nothing is
linear or Gaussian. It is a goal if it crosses the line at less than the clean half width for its
own direction.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.systems.air_hockey.puck import sampler
from ricochet.models.systems.air_hockey.shots import goal_probability, objective
from ricochet.models.systems.air_hockey.shots.goal_probability import LONGEST
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.table import Table


@dataclass(frozen=True)
class Draws:
    """What became of the draws of one shot.

    Attributes:
        goal: Whether it is a clean goal.
        arrives: Whether it crosses the goal line.
        y: Place on the goal line, m; NaN where it does not get there.
        speed: There, m/s; NaN where it does not get there.
        banks: Banks of the long rims.
    """

    goal: Bool[ndarray, " sample"]
    arrives: Bool[ndarray, " sample"]
    y: Float[ndarray, " sample"]
    speed: Float[ndarray, " sample"]
    banks: Int[ndarray, " sample"]


def play(
    conditions: Conditions,
    state: Float[ndarray, " 6"],
    angle: float,
    *,
    samples: int,
    draw: np.random.Generator,
) -> Draws:
    """Draw one shot many times.

    Args:
        conditions: What decides the outcome.
        state: Expected state of the puck at contact: m, m/s, m/s^2.
        angle: Shooting angle, rad.
        samples: Draws.
        draw: Source of randomness.

    Raises:
        ValueError: If the arm cannot shoot so.
    """
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
        conditions, sampler.strike(conditions.modes, states, velocity, normal, draw=draw), draw
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
        after = sampler.step(
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
