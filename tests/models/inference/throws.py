"""Motions that are linear in all that is unknown, so that their posterior is a normal law."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from ricochet.models.inference.multiple_shooting import Shooting

STEP = 0.1
TRUTH = torch.tensor([-2.0, 0.5], dtype=torch.float64)


@dataclass(frozen=True)
class Derivatives:
    by_start: torch.Tensor
    by_parameter: torch.Tensor


@dataclass(frozen=True)
class Throw:
    """Place and speed of a mass with a constant acceleration and a wind that carries it."""

    theta: torch.Tensor
    starts: torch.Tensor
    steps: int

    @cached_property
    def times(self) -> torch.Tensor:
        return STEP * torch.arange(1, self.steps + 1, dtype=torch.float64)

    @property
    def states(self) -> torch.Tensor:
        place, speed = self.starts[..., :1], self.starts[..., 1:]
        pull, wind = self.theta[..., :1], self.theta[..., 1:]
        there = place + (speed + wind) * self.times + 0.5 * pull * self.times**2
        return torch.stack((there, speed + pull * self.times), -1)

    def gradient(self, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        full = self.jacobian()
        pairs = (full.by_start, full.by_parameter)
        by_start, by_parameter = ((weights[..., None] * each).sum((-3, -2)) for each in pairs)
        return by_start, by_parameter

    def jacobian(self) -> Derivatives:
        one, zero, t = torch.ones_like(self.times), torch.zeros_like(self.times), self.times
        start = torch.stack((torch.stack((one, t), -1), torch.stack((zero, one), -1)), -2)
        moved = torch.stack((torch.stack((0.5 * t**2, t), -1), torch.stack((t, zero), -1)), -2)
        shape = (*self.starts.shape[:-1], self.steps, 2, 2)
        return Derivatives(start.expand(shape), moved.expand(shape))


def shooting(
    *, windows: int, runs: int = 2, steps: int = 12, noise: float = 0.05, seed: int = 1
) -> Shooting:
    """Observations of throws, places and speeds as exact as one another over the scale."""
    draw = np.random.default_rng(seed)
    starts = torch.from_numpy(draw.standard_normal((runs, 2)))
    states = Throw(TRUTH[None], starts, steps).states
    whole = torch.cat((starts[:, None], states), 1)
    scale = torch.tensor([0.8, 1.6], dtype=torch.float64)
    seen = whole + noise * scale * torch.from_numpy(draw.standard_normal(whole.shape))
    return Shooting(Throw, seen, windows, scale)
