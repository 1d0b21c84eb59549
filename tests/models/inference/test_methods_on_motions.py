"""Every method on throws, whose posterior is a normal law that is known in closed form.

Means are compared in deviations of that law; tolerances are four standard errors of as many
independent draws as a method has, or what a method is known to lack, which is stated.
"""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from ricochet.models.inference import (
    budgets,
    constrained_stein,
    langevin,
    stein,
)
from ricochet.models.inference.fixed_noise_density import FixedNoiseDensity
from tests.models.inference.normal_throws import away, example


@pytest.mark.parametrize(
    ("windows", "steps"), [(1, 500), pytest.param(3, 1500, marks=pytest.mark.proof)]
)
def test_stein_particles(windows: int, steps: int) -> None:
    """Means hit; of ten unknowns the particles are too narrow, as theory has it: from 0.3."""
    density, u = example(windows)
    found = stein.descended(density, u, budgets.steps(steps), rate=0.03)
    mean, spread = away(found, density)
    assert float(mean.abs().max()) < 0.02
    assert float(spread.min()) > (0.9 if windows == 1 else 0.3)
    assert float(spread.max()) < 1.1


@pytest.mark.parametrize(
    ("windows", "steps"), [(1, 1500), pytest.param(3, 4000, marks=pytest.mark.proof)]
)
def test_langevin_chains(windows: int, steps: int) -> None:
    """A hundred last states: means within 4 standard errors, and a tenth for what is discrete."""
    density, u = example(windows)
    draw = np.random.default_rng(1)
    found = langevin.diffused(density, u, budgets.steps(steps), draw, rate=0.03)
    mean, spread = away(found, density)
    assert float(mean.abs().max()) < 0.4 + 0.1
    assert float(spread.min()) > 0.6
    assert float(spread.max()) < 1.4


def descend(density: FixedNoiseDensity, u: Tensor, steps: int, **settings: float) -> Tensor:
    chosen = constrained_stein.Settings(**settings)
    return constrained_stein.descended(density, u, budgets.steps(steps), chosen)


def test_a_step_of_constrained_stein_is_the_algorithm() -> None:
    """Directions before Adam, whose first step has their signs alone: the signs of Algorithm 1."""
    density, u = example(3)
    u = u[:8]
    u[0, 0], rate = 1.1, 1e-6
    shot = density.at(u)
    gradient = density.observed(u, shot)[1]
    gap = torch.autograd.functional.jacobian(lambda v: gaps_of(density, v), u)
    pull = torch.stack([gap[i, :, :, i] for i in range(8)])  # particle, trajectory, gap, unknown
    weight = gaps_of(density, u)[..., None]
    expected = gradient - (weight * pull).sum((1, 2))
    expected[:, :2] += stein.direction(u[:, :2], gradient[:, :2]) - gradient[:, :2]
    expected[0, 0] += 1.0 - 1.1
    moved = descend(density, u, 1, rate=rate)
    inside = torch.ones(8, dtype=torch.bool)
    inside[0] = False  # put onto the limit in the end
    change = (moved - u)[inside] / rate
    torch.testing.assert_close(change, expected[inside].sign(), atol=1e-3, rtol=0.0)


def gaps_of(density: FixedNoiseDensity, u: Tensor) -> Tensor:
    """g_def, of starts and simulated ends."""
    return (density.at(u).defects / density.delta).square().sum(-1)


def test_constraints_close_gaps_and_keep_limits() -> None:
    """With more damping and multipliers the ends of windows meet the starts of the next."""
    density, u = example(3)
    found = descend(density, u, 300, rate=0.03, damping=1.0, gain=0.01)
    loose = descend(density, u, 300, rate=0.03, damping=0.0, gain=0.0)
    assert float(gaps_of(density, found).mean()) < 0.2 * float(gaps_of(density, loose).mean())
    share = found[:, :2]
    assert bool(((share > 0.0) & (share < 1.0)).all())
    mean, _ = away(found, density)
    assert float(mean[:2].abs().max()) < 1.0


METHODS: dict[str, Callable[[FixedNoiseDensity, Tensor], Tensor]] = {
    "stein": lambda density, u: stein.descended(density, u, budgets.steps(20), rate=0.03),
    "constrained stein": lambda density, u: descend(density, u, 20, rate=0.03),
    "langevin": lambda density, u: langevin.diffused(
        density, u, budgets.steps(20), np.random.default_rng(0), rate=0.01
    ),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_particles_without_a_density_stay_finite_and_spoil_no_other(method) -> None:
    """One particle's motion blows up: the others move, and nothing becomes NaN."""
    density, u = example(3)
    u[0, 2:] = 1e200
    found = method(density, u)
    assert bool(torch.isfinite(found).all())
    assert float(density.value(found[1:]).median()) > float(density.value(u[1:]).median())
