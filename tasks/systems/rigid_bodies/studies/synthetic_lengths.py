"""Pendulums whose two lengths have a known law: what is seen of some, and exact answers.

Lengths of ten pendulums are drawn from a normal law, each is let go with the first link level and
seen with noise, and the law is to be inferred. The density that methods are given adds those of the
trajectories (Eq. 4); its sigma is a bandwidth, which leaving trajectories out chooses.

Source: Heiden et al., section V-A.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference.limits import Limits
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.systems.rigid_bodies import double_pendulum, link_lengths

MEAN = np.array((1.5, 2.0))
"""Of the lengths, m."""
COVARIANCE = np.array(((0.04, 0.02), (0.02, 0.06)))
LOW, HIGH = 0.5, 5.0
"""Limits of both lengths, m: those of the paper's Fig. 12."""
NOISE = 0.01
"""Of each state that is seen, rad and rad/s."""
STEPS, DURATION = 400, 0.01
START = (math.pi / 2.0, 0.0, 0.0, 0.0)
CELL = 0.0225
"""Width of the grid's cells, m."""
BANDWIDTHS = tuple(float(each) for each in np.geomspace(0.5, 20.0, 16))
"""Values of sigma that are tried, over the states' deviations."""
_AT_ONCE, _PAIRED = 4000, 300


@dataclass(frozen=True)
class Data:
    """What is seen of some pendulums, and the lengths of others to compare with."""

    lengths: Float[ndarray, "trajectory 2"]
    observed: Float[Tensor, "trajectory instant 4"]
    test_lengths: Float[ndarray, "test 2"]

    @property
    def scale(self) -> Float[Tensor, " 4"]:
        """Deviations of the states seen."""
        return self.observed.flatten(0, 1).std(0)

    def shooting(self, windows: int) -> Shooting:
        """Return what is seen, in windows."""
        move = partial(link_lengths.move, duration=DURATION)
        return Shooting(move, self.observed, windows, self.scale)


def limits() -> Limits:
    """Return those of the lengths."""
    one = torch.ones(2, dtype=torch.float64)
    return Limits(LOW * one, HIGH * one)


def drawn(generator: np.random.Generator, *, trajectories: int = 10, tests: int = 50) -> Data:
    """Draw pendulums, and what is seen of them; where they are let go is known."""
    lengths, others = (draws_of_law(generator, count) for count in (trajectories, tests))
    states = moved(torch.from_numpy(lengths))
    noise = NOISE * torch.from_numpy(generator.normal(size=states.shape))
    start = torch.tensor(START, dtype=torch.float64).expand(trajectories, 1, 4)
    return Data(lengths, torch.cat((start, states + noise), 1), others)


def draws_of_law(generator: np.random.Generator, count: int) -> Float[ndarray, "draw 2"]:
    """Draw lengths from the law that is to be inferred."""
    return generator.multivariate_normal(MEAN, COVARIANCE, count)


def moved(lengths: Float[Tensor, "case 2"]) -> Float[Tensor, "case 400 4"]:
    """Return the states of pendulums that are let go, after each step."""
    start = torch.tensor(START, dtype=torch.float64)
    roll_out = partial(double_pendulum.roll_out, starts=start, steps=STEPS, duration=DURATION)
    return torch.cat([roll_out(link_lengths.parameters(x)) for x in lengths.split(_AT_ONCE)])


@dataclass(frozen=True)
class Grid:
    """Single shooting's density on cells all over the limits.

    Attributes:
        centres: Of the cells.
        squares: Sums of squared residuals over the scale, of each trajectory.
        states: Of the cells' motions, in single precision.
        weight: One over the scale, of each of them.
    """

    centres: Float[Tensor, "cell 2"]
    squares: Float[Tensor, "cell trajectory"]
    states: Float[Tensor, "cell input"]
    weight: Float[Tensor, " input"]

    def log_density(
        self, sigma: float, *, without: int | None = None, mixture: bool = True
    ) -> Float[Tensor, " cell"]:
        """Return the normalised log density, per square metre.

        Args:
            without: A trajectory that is left out.
            mixture: Whether densities of trajectories are added (Eq. 9) or multiplied (Eq. 10).
        """
        kept = [place for place in range(self.squares.shape[1]) if place != without]
        each = -0.5 * self.squares[:, kept] / sigma**2
        value = torch.logsumexp(each, 1) if mixture else each.sum(1)
        return value - torch.logsumexp(value, 0) - 2.0 * math.log(CELL)

    def left_out(self, sigma: float, generator: np.random.Generator) -> float:
        """Return the mean energy score of trajectories, each by the density of the others.

        The distance from what was seen is a sum over all cells, that among draws is of a few.
        """
        found = []
        for without, squares in enumerate(self.squares.T):
            chance = self.log_density(sigma, without=without).exp()
            away = float((chance * squares.clamp(min=0.0).sqrt()).sum() / chance.sum())
            cells = self._cells(chance, _PAIRED, generator)
            states = self.states[cells].double() * self.weight
            among = torch.pdist(states).mean()
            found.append(away - 0.5 * float(among))
        return sum(found) / len(found)

    def bandwidth(self, generator: np.random.Generator) -> float:
        """Return the sigma by which trajectories that are left out are predicted best.

        Distances are those of trajectories, in the states' deviations, and the energy score, which
        is least for the true law, asks for no density.
        """
        return min(BANDWIDTHS, key=lambda sigma: self.left_out(sigma, generator))

    def draws(
        self, sigma: float, count: int, generator: np.random.Generator
    ) -> Float[ndarray, "draw 2"]:
        """Draw lengths from the density, evenly within cells."""
        cells = self._cells(self.log_density(sigma).exp(), count, generator)
        inside = CELL * (generator.uniform(size=(count, 2)) - 0.5)
        return self.centres.numpy()[cells] + inside

    def _cells(self, chance: Tensor, count: int, generator: np.random.Generator) -> ndarray:
        return generator.choice(len(chance), count, p=(chance / chance.sum()).numpy())


@dataclass(frozen=True)
class Rolled:
    """Motions of all cells, which no data change."""

    centres: Float[Tensor, "cell 2"]
    states: Float[Tensor, "cell input"]

    def compared(self, data: Data) -> Grid:
        """Return the density of some data."""
        weight = (1.0 / data.scale).repeat(STEPS)
        mine = self.states.double() * weight
        seen = data.observed[:, 1:].flatten(1) * weight
        across = mine.square().sum(1)[:, None] + seen.square().sum(1) - 2.0 * mine @ seen.T
        return Grid(self.centres, across, self.states, weight)


def rolled() -> Rolled:
    """Simulate all cells of the grid."""
    axis = torch.arange(LOW + 0.5 * CELL, HIGH, CELL, dtype=torch.float64)
    centres = torch.cartesian_prod(axis, axis)
    parts = [moved(each).flatten(1).float() for each in centres.split(_AT_ONCE)]
    return Rolled(centres, torch.cat(parts))


def population(
    lengths: Float[ndarray, "draw trajectory 2"], generator: np.random.Generator
) -> Float[ndarray, "draw 2"]:
    """Draw from the predictive law of one more pendulum, its law normal, mean and covariance not.

    That is Student's t law about the lengths' mean, of n - 2 degrees of freedom, under the prior
    density |covariance|^(-3/2). Each draw has draws of its own of the lengths inferred.

    Source: Gelman et al., Bayesian Data Analysis, section 3.6; Geisser 1965.
    """
    draws, count, size = lengths.shape
    centre = lengths.mean(1)
    away = lengths - centre[:, None]
    scatter = away.swapaxes(1, 2) @ away
    freedom = count - size
    factor = np.linalg.cholesky(scatter * (count + 1) / (count * freedom))
    normal = generator.normal(size=(draws, size))
    stretch = np.sqrt(freedom / generator.chisquare(freedom, draws))
    return centre + stretch[:, None] * np.einsum("dij,dj->di", factor, normal)
