"""Fits by Newton's steps: least squares in one step, and an oscillator from far away."""

import numpy as np
import torch

from ricochet.models.inference import gauss_newton, throws
from ricochet.models.inference.gauss_newton import Schedule
from ricochet.models.inference.limits import Limits, Logistic, Shares
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from tests.models.inference.test_multiple_shooting import Swing, shooting

WIDE = Limits(torch.full((2,), -20.0).double(), torch.full((2,), 20.0).double())


def begun(density: ShootingDensity, x: torch.Tensor) -> Unknowns:
    z = density.shooting.starts / density.shooting.scale
    return Unknowns(x, z.expand(len(x), *z.shape).clone())


def test_linear_motions_are_fitted_at_once() -> None:
    density = ShootingDensity(throws.observed(np.random.default_rng(1), windows=3), Shares(WIDE))
    start = begun(density, torch.tensor([[0.3, 0.7], [0.5, 0.5]], dtype=torch.float64))
    noise = Noise(torch.full((2, 2), 0.05).double(), torch.full((2, 2), 1e-5).double())
    found, _ = gauss_newton.improved(density, start, noise, torch.zeros(2, dtype=torch.float64))
    theta = WIDE.low + found.x * (WIDE.high - WIDE.low)
    torch.testing.assert_close(theta, least_squares(density).expand(2, -1), rtol=1e-3, atol=1e-3)


def least_squares(density: ShootingDensity) -> torch.Tensor:
    """Acceleration and wind of both throws, their starts solved for beside."""
    observed, scale = density.shooting.observed, density.shooting.scale
    times = throws.STEP * np.arange(observed.shape[1])
    rows, seen = [], []
    for run, states in enumerate(observed.numpy()):
        for time, state in zip(times, states, strict=True):
            place, speed = np.zeros(6), np.zeros(6)
            place[:2], speed[0] = (0.5 * time**2, time), time
            place[2 + 2 * run], place[3 + 2 * run], speed[3 + 2 * run] = 1.0, time, 1.0
            rows += [place / scale[0].item(), speed / scale[1].item()]
            seen += [state[0] / scale[0].item(), state[1] / scale[1].item()]
    return torch.from_numpy(np.linalg.lstsq(np.array(rows), np.array(seen), rcond=None)[0][:2])


def test_an_oscillator_is_found_from_everywhere() -> None:
    """From stiffnesses of 1 to 60 to the one that is true, 4, by windows; seen for two swings."""
    limits = Limits(torch.tensor([0.5, 0.0]).double(), torch.tensor([80.0, 3.0]).double())
    problem = shooting(20, runs=1, steps=120, noise=0.02)
    density = ShootingDensity(problem, Logistic(limits, torch.tensor([True, False])))
    stiffness = torch.tensor([1.0, 3.0, 10.0, 30.0, 60.0], dtype=torch.float64)
    theta = torch.stack((stiffness, torch.full_like(stiffness, 1.5)), 1)
    schedule = Schedule()
    found = gauss_newton.fit(density, begun(density, density.coordinates.of(theta)), schedule)
    fitted = density.coordinates.parameters(found.x)
    torch.testing.assert_close(fitted, fitted[:1].expand_as(fitted), rtol=1e-3, atol=1e-3)
    assert abs(float(fitted[0, 0]) - 4.0) < 0.1
    ends = Swing(fitted[:, None], found.z[:, 0] * problem.scale, problem.steps).states[:, :-1, -1]
    left = (ends / problem.scale - found.z[:, 0, 1:]).abs().max()
    assert float(left) < 1e-4
