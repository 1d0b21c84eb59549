"""Posteriors from motions, begun anywhere: laws known otherwise, and what is said beside."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import stein_newton
from ricochet.models.inference.limits import Limits, Logistic
from ricochet.models.inference.shooting_density import ShootingDensity
from ricochet.models.inference.stein_newton import Posterior, Settings
from tests.models.inference import throws
from tests.models.inference.test_multiple_shooting import shooting

LIMITS = Limits(torch.tensor([0.5, 0.0]).double(), torch.tensor([80.0, 3.0]).double())
OSCILLATOR = Logistic(LIMITS, torch.tensor([True, False]))
QUICK = Settings(particles=24, settling=15, rounds=10)


def inferred(seed: int, steps: int = 120, noise: float = 0.1, windows: int = 20) -> Posterior:
    problem = shooting(windows, runs=1, steps=steps, noise=noise)
    generator = np.random.default_rng(seed)
    return stein_newton.infer(problem, OSCILLATOR, generator, settings=QUICK)


@pytest.mark.slow
def test_an_oscillator_is_found_from_all_starts_and_the_noise_beside() -> None:
    found = inferred(1)
    assert float((found.fits < 1.01 * found.fits.min()).double().mean()) == 1.0
    theta = found.theta.flatten(0, 1)
    away = (theta.mean(0) - torch.tensor([4.0, 0.3])) / theta.std(0)
    assert float(away.abs().max()) < 4.0
    sigma = found.sigma.flatten(0, 1)
    assert float(((sigma.mean(0) - 0.1) / sigma.std(0)).abs().max()) < 4.0
    assert float(found.mixing.max()) < 1.3 and 0.3 < found.accepted < 0.9


@pytest.mark.slow
def test_other_random_numbers_give_the_same_law() -> None:
    """Means differ by few standard errors: 24 particles and some rounds make 24 to 240 draws."""
    first, second = (inferred(seed).theta.flatten(0, 1) for seed in (1, 2))
    error = first.std(0) * np.sqrt(2.0 / 24.0)
    assert bool(((first.mean(0) - second.mean(0)).abs() < 4.0 * error).all())
    assert bool((torch.log(first.std(0) / second.std(0)).abs() < 0.7).all())


@pytest.mark.slow
def test_four_times_the_noise_makes_the_posterior_four_times_as_wide() -> None:
    narrow, wide = (inferred(1, noise=noise).theta.flatten(0, 1).std(0) for noise in (0.02, 0.08))
    assert bool((torch.log(wide / narrow / 4.0).abs() < 0.7).all())


def test_particles_that_have_no_motion_are_passed_over() -> None:
    problem = throws.shooting(windows=3)
    simulate = problem.simulate

    def breaking(theta, starts, *, steps):
        motion = simulate(theta, starts, steps=steps)
        return throws.Throw(torch.where(theta < -10.0, torch.nan, theta), motion.starts, steps)

    limits = Limits(torch.full((2,), -20.0).double(), torch.full((2,), 20.0).double())
    coordinates = Logistic(limits, torch.tensor([False, False]))
    broken = type(problem)(breaking, problem.observed, 3, problem.scale)
    density = ShootingDensity(broken, coordinates)
    found = stein_newton.begun(density, 64, np.random.default_rng(0))
    assert len(found.x) == 64
    assert float(coordinates.parameters(found.x).min()) >= -10.0


def test_limits_within_which_nothing_moves_are_refused() -> None:
    problem = throws.shooting(windows=3)

    def nothing(theta, starts, *, steps):
        return throws.Throw(theta * torch.nan, starts, steps)

    broken = type(problem)(nothing, problem.observed, 3, problem.scale)
    with pytest.raises(ValueError, match="limits: 0 of 64 places within them have a motion"):
        stein_newton.begun(ShootingDensity(broken, OSCILLATOR), 8, np.random.default_rng(0))
