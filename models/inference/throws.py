"""Throws under an unknown pull and wind: linear in all that is unknown, of a normal law.

Examples and proofs of inference from motions stand on them: what a method should find is known in
closed form.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity
from ricochet.models.inference.limits import Limits, Logistic, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns

STEP = 0.1
"""Seconds."""
TRUTH = (-2.0, 0.5)
"""Pull in m/s^2, and wind in m/s."""


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the states."""

    by_start: Float[Tensor, "*batch step state start"]
    by_parameter: Float[Tensor, "*batch step state parameter"]


@dataclass(frozen=True)
class Throw:
    """Place and speed of a mass that is pulled, and carried by a wind.

    >>> Throw(torch.tensor([-2.0, 0.5]), torch.tensor([0.0, 1.0]), 2).states  # place, speed
    tensor([[0.1400, 0.8000],
            [0.2600, 0.6000]])

    Attributes:
        theta: Pull in m/s^2 and wind in m/s.
        starts: Place in m and speed in m/s.
    """

    theta: Float[Tensor, "*#batch parameter"]
    starts: Float[Tensor, "*#batch state"]
    steps: int

    @cached_property
    def times(self) -> Float[Tensor, " step"]:
        """Of the states, in seconds."""
        return STEP * torch.arange(1, self.steps + 1, dtype=self.starts.dtype)

    @property
    def states(self) -> Float[Tensor, "*batch step state"]:
        """After each step."""
        place, speed = self.starts[..., :1], self.starts[..., 1:]
        pull, wind = self.theta[..., :1], self.theta[..., 1:]
        there = place + (speed + wind) * self.times + 0.5 * pull * self.times**2
        return torch.stack((there, speed + pull * self.times), -1)

    def gradient(
        self, weights: Float[Tensor, "*batch step state"]
    ) -> tuple[Float[Tensor, "*batch state"], Float[Tensor, "*batch parameter"]]:
        """Return the gradient of sum(weights * states) by starts and by parameters."""
        full = self.jacobian()
        pairs = (full.by_start, full.by_parameter)
        by_start, by_parameter = ((weights[..., None] * each).sum((-3, -2)) for each in pairs)
        return by_start, by_parameter

    def jacobian(self) -> Slopes:
        """Return all derivatives."""
        one, zero, t = torch.ones_like(self.times), torch.zeros_like(self.times), self.times
        start = torch.stack((torch.stack((one, t), -1), torch.stack((zero, one), -1)), -2)
        moved = torch.stack((torch.stack((0.5 * t**2, t), -1), torch.stack((t, zero), -1)), -2)
        shape = (*self.starts.shape[:-1], self.steps, 2, 2)
        return Slopes(start.expand(shape), moved.expand(shape))


def observed(
    generator: np.random.Generator,
    *,
    windows: int,
    runs: int = 2,
    steps: int = 12,
    noise: float = 0.05,
) -> Shooting:
    """Return throws by `TRUTH` from random starts, seen with noise.

    >>> observed(np.random.default_rng(0), windows=4).starts.shape  # runs, windows, states
    torch.Size([2, 4, 2])

    Args:
        noise: Deviation of an observation, over the scale.
    """
    starts = torch.from_numpy(generator.standard_normal((runs, 2)))
    states = Throw(torch.tensor(TRUTH).to(starts)[None], starts, steps).states
    whole = torch.cat((starts[:, None], states), 1)
    scale = torch.tensor([0.8, 1.6], dtype=torch.float64)
    seen = whole + noise * scale * torch.from_numpy(generator.standard_normal(whole.shape))
    return Shooting(Throw, seen, windows, scale)


def example(particles: int) -> tuple[ShootingDensity, Unknowns, Noise]:
    """Return the density of two throws in three windows, and particles all over the limits.

    >>> density, unknowns, noise = example(2)
    >>> density.value(unknowns, density.at(unknowns), noise) < 0.0
    tensor([True, True])
    """
    generator, unit = np.random.default_rng(0), torch.ones(2, dtype=torch.float64)
    coordinates = Logistic(Limits(-9.0 * unit, 9.0 * unit), torch.zeros(2, dtype=torch.bool))
    shooting = observed(generator, windows=3)
    z = (shooting.starts / shooting.scale).expand(particles, -1, -1, -1).clone()
    unknowns = Unknowns(torch.from_numpy(generator.uniform(-2.0, 2.0, (particles, 2))), z)
    each = unit.expand(particles, 2)
    return ShootingDensity(shooting, coordinates), unknowns, Noise(0.05 * each, 0.02 * each)


def flat_example(
    particles: int, *, windows: int = 3
) -> tuple[FixedNoiseDensity, Float[Tensor, "particle unknown"]]:
    """Return the density of two throws under given noise, and vectors all over the limits.

    >>> density, u = flat_example(4)
    >>> u.shape, density.size  # pull and wind, and four starts of two states
    (torch.Size([4, 10]), 10)
    """
    generator, unit = np.random.default_rng(0), torch.ones(2, dtype=torch.float64)
    shares = Shares(Limits(-9.0 * unit, 9.0 * unit))
    shooting = observed(generator, windows=windows)
    density = FixedNoiseDensity(shooting, shares, sigma=0.05, delta=0.02)
    x = torch.from_numpy(generator.uniform(0.1, 0.9, (particles, 2)))
    return density, density.begun(x, generator)
