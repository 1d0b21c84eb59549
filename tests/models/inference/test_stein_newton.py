"""Posteriors from motions, begun anywhere: laws known otherwise, and what is said beside."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import signal, stats

from ricochet.models.inference import residual_whiteness, stein_newton, throws
from ricochet.models.inference.limits import Limits, Logistic
from ricochet.models.inference.shooting_density import ShootingDensity
from ricochet.models.inference.stein_newton import Posterior, Settings
from tests.models.inference.test_multiple_shooting import shooting

LIMITS = Limits(torch.tensor([0.5, 0.0]).double(), torch.tensor([80.0, 3.0]).double())
OSCILLATOR = Logistic(LIMITS, torch.tensor([True, False]))
QUICK = Settings(particles=24, settling=15, rounds=10)


def inferred(seed: int, steps: int = 120, noise: float = 0.1, windows: int = 20) -> Posterior:
    problem = shooting(windows, runs=1, steps=steps, noise=noise)
    generator = np.random.default_rng(seed)
    return stein_newton.infer(problem, OSCILLATOR, generator, settings=QUICK)


@pytest.mark.proof
def test_an_oscillator_is_found_from_all_starts_and_the_noise_beside() -> None:
    found = inferred(1)
    assert float((found.fits < 1.01 * found.fits.min()).double().mean()) == 1.0
    theta = found.theta.flatten(0, 1)
    away = (theta.mean(0) - torch.tensor([4.0, 0.3])) / theta.std(0)
    assert float(away.abs().max()) < 4.0
    sigma = found.sigma.flatten(0, 1)
    assert float(((sigma.mean(0) - 0.1) / sigma.std(0)).abs().max()) < 4.0
    assert float(found.mixing.max()) < 1.3 and 0.3 < found.accepted < 0.9


@pytest.mark.proof
def test_other_random_numbers_give_the_same_law() -> None:
    """Means differ by few standard errors: 24 particles and some rounds make 24 to 240 draws."""
    first, second = (inferred(seed).theta.flatten(0, 1) for seed in (1, 2))
    error = first.std(0) * np.sqrt(2.0 / 24.0)
    assert bool(((first.mean(0) - second.mean(0)).abs() < 4.0 * error).all())
    assert bool((torch.log(first.std(0) / second.std(0)).abs() < 0.7).all())


@pytest.mark.proof
def test_four_times_the_noise_makes_the_posterior_four_times_as_wide() -> None:
    narrow, wide = (inferred(1, noise=noise).theta.flatten(0, 1).std(0) for noise in (0.02, 0.08))
    assert bool((torch.log(wide / narrow / 4.0).abs() < 0.7).all())


@pytest.mark.proof
def test_where_the_equations_hold_it_is_as_wide_as_theirs_and_else_wider() -> None:
    """A stiffness that drifts along the motion: the residuals are no noise, and it is said."""
    problem = shooting(20, runs=1, steps=120, noise=0.02)
    held, broken = (
        stein_newton.infer(each, OSCILLATOR, np.random.default_rng(1), settings=QUICK)
        for each in (problem, replace(problem, observed=drifting(problem.observed)))
    )
    assert held.white > residual_whiteness.WHITE and float(held.delta.max()) < 1e-3
    assert broken.white < 1e-6
    assert float(broken.theta[..., 0].std() / held.theta[..., 0].std()) > 3.0


def drifting(observed: torch.Tensor) -> torch.Tensor:
    """The same motion on a clock that runs ever faster, with the noise that it had."""
    steps = torch.arange(observed.shape[1], dtype=torch.float64)
    places = (steps + 0.0006 * steps**2).clamp_max(steps[-1])
    below = places.long().clamp_max(len(steps) - 2)
    part = (places - below)[:, None]
    return observed[:, below] * (1.0 - part) + observed[:, below + 1] * part


def test_white_residuals_are_white_as_often_as_the_chance_says() -> None:
    draw = np.random.default_rng(0)
    found = [residual_whiteness.chance(draw.normal(size=(2, 300, 4))) for _ in range(300)]
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_smoothed_noise_is_not_taken_for_a_misfit_and_one_is_found_in_it() -> None:
    """Savitzky and Golay's filter of 11: never more often than the chance says, yet not blind."""
    draw, found, drifting = np.random.default_rng(1), [], []
    slow = np.sin(np.arange(400) / 20.0)[:, None]
    for _ in range(200):
        noise = signal.savgol_filter(draw.normal(size=(1, 400, 2)), 11, 4, axis=1)
        found.append(residual_whiteness.chance(noise, 11))
        drifting.append(residual_whiteness.chance(noise + 1.5 * slow, 11))
    assert np.mean(np.array(found) < 0.05) < 0.05 + 4.0 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(np.array(drifting) < residual_whiteness.WHITE) > 0.95


def test_particles_that_have_no_motion_are_passed_over() -> None:
    problem = throws.observed(np.random.default_rng(1), windows=3)
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
    problem = throws.observed(np.random.default_rng(1), windows=3)

    def nothing(theta, starts, *, steps):
        return throws.Throw(theta * torch.nan, starts, steps)

    broken = type(problem)(nothing, problem.observed, 3, problem.scale)
    with pytest.raises(ValueError, match="a motion at 0 of 64 places within the limits"):
        stein_newton.begun(ShootingDensity(broken, OSCILLATOR), 8, np.random.default_rng(0))


@pytest.mark.proof
def test_speeds_that_are_not_observed_are_inferred_from_places() -> None:
    """Truth and noise are found all the same, less exactly; values of speeds are where fits begin
    and no more."""
    problem = shooting(20, runs=1, steps=120, noise=0.1)
    wrong = problem.observed * torch.tensor([1.0, 0.5]).double()
    whole, part = (
        stein_newton.infer(each, OSCILLATOR, np.random.default_rng(1), settings=QUICK)
        for each in (problem, replace(problem, observed=wrong, seen=1))
    )
    assert part.sigma.shape[-1] == 1 and part.delta.shape[-1] == 2
    theta = part.theta.flatten(0, 1)
    away = (theta.mean(0) - torch.tensor([4.0, 0.3])) / theta.std(0)
    assert float(away.abs().max()) < 4.0
    assert bool((theta.std(0) > whole.theta.flatten(0, 1).std(0)).all())
    sigma = part.sigma.flatten(0, 1)[:, 0]
    assert abs(float(sigma.mean()) - 0.1) < 4.0 * float(sigma.std())
