r"""The shooting angle of least energy, an iteration a control period (Algorithm 1).

    u_i <- one of the u with probability p;   u_i <- clip(u_i + sigma n_i),   n_i ~ N(0, 1)
    p_i <- exp(-E(s, u_i)) / sum_j exp(-E(s, u_j));   the angle is the u_i of largest p_i

from angles spread over the whole range. The samples are handed from period to period, so that the
search goes on while the arm moves and the puck's predicted state s is corrected; sigma shrinks
down to a least value, with which the samples follow a state that still moves. The state s is that
of the puck at contact in m, m/s, m/s^2.

Source: Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for Robot Air
Hockey", Sec. IV-D.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.shots import energy_network
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE

SAMPLES = 256
WIDEST, LEAST = 0.3, 0.01
"""First and last sigma, rad."""
SHRINK = 0.8
"""Of sigma in each iteration."""


@dataclass(frozen=True)
class Samples:
    """What an iteration leaves to the next: angles, their shares, next perturbation; rad."""

    angles: Float[ndarray, " sample"]
    shares: Float[ndarray, " sample"]
    sigma: float


def init(samples: int = SAMPLES) -> Samples:
    """Return angles spread evenly over the range, none preferred."""
    places = (np.arange(samples) + 0.5) / samples
    angles = LARGEST_ANGLE * (2.0 * places - 1.0)
    return Samples(angles, np.full(samples, 1.0 / samples), WIDEST)


def step(
    energy: Energy, state: Float[ndarray, " 6"], samples: Samples, *, draw: np.random.Generator
) -> tuple[Samples, float]:
    """Run one iteration; return its samples, and the angle of least energy among them, rad."""
    count = len(samples.angles)
    upto = np.cumsum(samples.shares)
    chosen = upto.searchsorted(upto[-1] * draw.random(count)).clip(max=count - 1)
    angles = samples.angles[chosen] + samples.sigma * draw.standard_normal(count)
    np.clip(angles, -LARGEST_ANGLE, LARGEST_ANGLE, out=angles)
    found = energy_network.landscape(energy, state, angles)
    shares = np.exp(found.min() - found).astype(np.float64)
    shares /= shares.sum()
    sigma = max(SHRINK * samples.sigma, LEAST)
    return Samples(angles, shares, sigma), float(angles[found.argmin()])


def search(
    energy: Energy,
    state: Float[ndarray, " 6"],
    *,
    iterations: int = 25,
    samples: int = SAMPLES,
    draw: np.random.Generator,
) -> float:
    """Return the angle that so many iterations, at least one, find for a state that stays, rad."""
    left = init(samples)
    for _ in range(iterations):
        left, angle = step(energy, state, left, draw=draw)
    return angle
