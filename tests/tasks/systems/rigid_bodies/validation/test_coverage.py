"""Posteriors inferred again: what is simulated, and which draws are whose."""

from dataclasses import replace

import numpy as np

from ricochet.tasks.systems.rigid_bodies.validation import coverage
from tests.models.systems.rigid_bodies import rods


def test_simulated_motions_are_those_of_the_draws_they_begin_as_the_recordings_do() -> None:
    generator, start = np.random.default_rng(0), np.array((1.0, 0.5, 0.0, 0.0))
    quiet = replace(rods.draws(1, departing=False), observation=np.full((1, 4), 1e-12))
    found = coverage.simulated(quiet, start, 0.5, generator)
    own = rods.swung(quiet, start[None], 200, generator)[:, 0]
    assert found.states.shape == (201, 4) and found.rate == 400.0
    np.testing.assert_allclose(found.states, own, atol=1e-6)


def test_chains_are_those_of_the_rounds_in_which_a_package_holds_them() -> None:
    draws = rods.draws(20)
    chains = coverage.stated(draws, 10)
    assert chains.shape == (2, 10, 8)
    np.testing.assert_array_equal(chains[1, 3], coverage.told(draws.theta[13]))
    assert chains[0, 0, 5] == draws.theta[0, 5]  # the length, told by itself
