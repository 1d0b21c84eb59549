"""Bats for information (Sec. V-A of Fu et al.): look ahead with each cyclic controller.

The particles are moved ahead under theta = A sin(omega t) for each omega (Eq. 10); the positions
at every step are approximated by a Gaussian, whose entropy measures how far they have converged:

    H = 1/2 (1 + log 2 pi + log det Sigma)                                              (11)

The controller and the instant with the least entropy are taken, among the instants by which half
the particles were struck: the paper performs "one bat for information gain", and before any impact
nothing is gained by the bat. (A Gaussian in the plane has
entropy 1 + log 2 pi + 1/2 log det Sigma; Eq. 11 is kept as printed, which orders alike.)
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.batting import clouds
from ricochet.models.systems.batting.bat import BatPath, angle_and_rate, cyclic
from ricochet.models.systems.batting.planning.swings import Scenarios
from ricochet.models.systems.batting.table import CAMERA_PERIOD
from ricochet.models.systems.batting.world import World

FREQUENCIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # rad/s, of the cyclic controllers


@dataclass(frozen=True)
class Look:
    """A bat for information.

    Attributes:
        path: Of the bat, until the instant.
        frequency: Of the controller, rad/s.
        time: The instant of least entropy, s from now.
        entropies: Of each controller at each step.
    """

    path: BatPath
    frequency: float
    time: float
    entropies: Float[ndarray, "controller step"]


def best_look(particles: Scenarios, now: float, steps: int, world: World) -> Look:
    """Return the controller and the instant at which the particles converge most.

    Args:
        particles: Equally weighted; `places` let all controllers meet the same noise.
        now: The bat's angle, rad.
        steps: How many periods of the camera to look ahead, n of the paper.
        world: What is simulated.
    """
    paths = [cyclic(now, frequency, steps * CAMERA_PERIOD) for frequency in FREQUENCIES]
    ahead = [predicted_entropies(particles, path, steps, world) for path in paths]
    entropies, struck = (np.stack(each) for each in zip(*ahead, strict=True))
    allowed = struck >= 0.5 if (struck >= 0.5).any() else np.ones_like(struck, bool)
    least = int(np.where(allowed, entropies, np.inf).argmin())
    best, step = np.unravel_index(least, entropies.shape)
    time = (float(step) + 1.0) * CAMERA_PERIOD
    return Look(paths[best], FREQUENCIES[best], time, entropies)


def predicted_entropies(
    particles: Scenarios, path: BatPath, steps: int, world: World
) -> tuple[Float[ndarray, " step"], Float[ndarray, " step"]]:
    """Return entropy and share struck of the particles after each step under a path of the bat."""
    states, counts = particles.states.copy(), starting_counts(particles.places)
    found, struck = np.empty(steps), np.empty(steps)
    for step in range(steps):
        bat = angle_and_rate(path, step * CAMERA_PERIOD)
        clouds.move(states, particles.kinds, bat, CAMERA_PERIOD, world, counts)
        found[step], struck[step] = entropy(np.cov(states[:, :2].T)), (counts[:, 2] > 0).mean()
    return found, struck


def entropy(covariance: Float[ndarray, "2 2"]) -> float:
    """Return the entropy by Eq. 11 for a covariance, m^2; minus infinity if it is singular."""
    sign, log_determinant = np.linalg.slogdet(covariance)
    return float(0.5 * (1.0 + np.log(2.0 * np.pi) + log_determinant)) if sign > 0 else -np.inf


def starting_counts(places: Int[ndarray, " particle"]) -> Int[ndarray, "particle 3"]:
    """Return the counts of objects that begin at places of the world's noise."""
    counts = np.zeros((len(places), 3), np.int64)
    counts[:, 0] = places
    return counts
