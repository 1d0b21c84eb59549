"""Bouncing a ball into a cup: the setting and its prediction (Matl et al., Section 4.3).

The paper gives the tilt of the table (10.72 degrees), the distance of the cup from its foot (8.6
inches), and that a map takes 100 simulations a position and a prediction 30 draws of theta with
100 simulations each. It leaves open the cup's size and the height of the drop; those are ours.

A prediction at one drop position is 30 counts, each of 100 simulated drops at another draw of what
is known of the ball: the paper's theta = (restitution, log10 concentration), or one of the whole
family (`contact_draws`), with restitution by speed and air. They are draws of what 100 real drops
would count, so their law (`models.probability.beta_binomials`) includes parameter uncertainty and
chance.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.probability import beta_binomials
from ricochet.models.probability.beta_binomials import Interval
from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.prediction import cup_geometry
from ricochet.models.systems.bouncing_ball.tracking.workspace import CUP_DISTANCE, HALF_TABLE

SCENE = cup_geometry.Scene(
    tilt=math.radians(10.72),
    length=2.0 * HALF_TABLE,
    width=2.0 * HALF_TABLE,
    cup_distance=CUP_DISTANCE,
    rim_radius=0.06,
    rim_height=0.10,
)
"""The tilted table and a wide plastic cup, metres; rim and height are not in the paper."""
DROP_HEIGHT = 0.40
"""How far the ball falls before it touches the incline, metres; not in the paper."""
TRIALS = 100
"""Drops counted at one position."""
DRAWS = 30
"""Draws of theta in one prediction."""
_BOUNCES = 6


@dataclass(frozen=True)
class Prediction:
    """Predicted successes at some drop positions.

    Attributes:
        counts: Successes in `TRIALS` simulated drops, a row for each draw of theta.
        interval: Predictive 90 % interval of a further count, and what it really holds.
    """

    counts: Int[ndarray, " draw *position"]
    interval: Interval

    @property
    def mean(self) -> Float[ndarray, "*position"]:
        """Mean count over the draws."""
        return np.asarray(self.counts.mean(0))

    @property
    def sd(self) -> Float[ndarray, "*position"]:
        """Standard deviation of the count over the draws."""
        return np.asarray(self.counts.std(0, ddof=1))

    def holds(self, counted: Int[ndarray, "*position"]) -> Bool[ndarray, "*position"]:
        """Return where a count lies in the interval."""
        return (counted >= self.interval.low) & (counted <= self.interval.high)


def positions(step: float = 0.01) -> Float[ndarray, "row column 2"]:
    """Return a grid of drop positions (x, y) from which one bounce may reach the cup, m."""
    x = -0.02 - step * np.arange(round(0.32 / step) + 1)[::-1]
    y = step * (np.arange(2 * round(0.10 / step) + 1) - round(0.10 / step))
    return np.stack(np.meshgrid(x, y), -1)


def aim(restitution: float, *, ball_radius: float) -> Float[ndarray, " 2"]:
    """Return the drop (x, y), m, of a noiseless ball: one bounce, the middle of the cup.

    Raises:
        ValueError: If the ball does not rise to the rim.
    """
    place = cup_geometry.aim(
        restitution, ball_radius=ball_radius, drop_height=DROP_HEIGHT, scene=SCENE
    )
    return np.array([place, 0.0])


def count(
    nature: ContactDraws,
    drops: Float[ndarray, "*position 2"],
    *,
    ball_radius: float,
    draw: torch.Generator,
) -> Int[ndarray, "*position"]:
    """Drop `TRIALS` balls at each (x, y), m, from rest, and count those in the cup.

    Args:
        nature: Of the ball, a single draw.
    """
    places = torch.from_numpy(drops)[..., None, :].expand(*drops.shape[:-1], TRIALS, 2)
    inside = cup_geometry.simulate_family(
        nature,
        places,
        ball_radius=ball_radius,
        drop_height=DROP_HEIGHT,
        scene=SCENE,
        bounces=_BOUNCES,
        draw=draw,
    )
    return inside.sum(-1).numpy()


def predict(
    draws: ContactDraws,
    drops: Float[ndarray, "*position 2"],
    *,
    ball_radius: float,
    draw: torch.Generator,
) -> Prediction:
    """Predict the count of a ball at each (x, y), m, from two draws of its nature or more."""
    singles = (draws.rows(slice(number, number + 1)) for number in range(len(draws.drag)))
    counts = np.stack([count(each, drops, ball_radius=ball_radius, draw=draw) for each in singles])
    return Prediction(counts, beta_binomials.interval(beta_binomials.pmf(counts, TRIALS)))


def deterministic(
    restitution: float, drops: Float[ndarray, "*position 2"], *, ball_radius: float
) -> Int[ndarray, "*position"]:
    """Return the counts of a simulator without noise, `TRIALS` or none, at positions (x, y), m."""
    nature = contact_draws.of_pairs(torch.tensor([[restitution, math.inf]], dtype=torch.float64))
    return count(nature, drops, ball_radius=ball_radius, draw=torch.Generator())
