"""The cross-entropy method on throws, whose posterior is known in closed form."""

import numpy as np

from ricochet.models.inference import budgets
from ricochet.tasks.systems.rigid_bodies.studies import cross_entropy
from tests.models.inference.normal_throws import away, example


def test_the_cross_entropy_method_ends_at_the_best_and_says_nothing_of_doubt() -> None:
    density, u = example(1)
    settings, draw = cross_entropy.Settings(), np.random.default_rng(0)
    found = cross_entropy.narrowed(density, u, budgets.steps(30), draw, settings)
    mean, spread = away(found, density)
    assert found.shape == u.shape
    assert float(mean.abs().max()) < 0.1
    assert float(spread.max()) < 0.3  # what the least variance leaves


def test_particles_without_a_density_are_no_elite() -> None:
    """One particle's motion blows up: draws get better, and nothing becomes NaN."""
    density, u = example(3)
    u[0, 2:] = 1e200
    settings, draw = cross_entropy.Settings(), np.random.default_rng(0)
    found = cross_entropy.narrowed(density, u, budgets.steps(2), draw, settings)
    assert bool(found.isfinite().all())
    assert float(density.value(found).median()) > float(density.value(u[1:]).median())
