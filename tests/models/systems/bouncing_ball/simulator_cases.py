"""What the tests of the simulator share: its numbers, its draws and velocities before bounces."""

import math

import torch
from torch import Tensor

from ricochet.models.systems.bouncing_ball.simulator import Bounces

GRAVITY, HEIGHT = 9.81, 0.26


def full(size: int, value: float) -> Tensor:
    return torch.full((size,), value, dtype=torch.float64)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def some_starts(size: int, seed: int = 5) -> Tensor:
    return 0.3 * torch.randn((size, 3), generator=seeded(seed), dtype=torch.float64)


def plane_normal(tilt: float) -> Tensor:
    return torch.tensor([math.sin(tilt), 0.0, math.cos(tilt)], dtype=torch.float64)


def entry_velocities(bounces: Bounces) -> Tensor:
    """Velocity just before each bounce but the first, from the exit before it."""
    flight = torch.diff(bounces.times, dim=-1)
    entry = bounces.velocities[..., :-1, :].clone()
    entry[..., 2] -= GRAVITY * flight
    return entry
