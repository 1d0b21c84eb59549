"""Samplers of others on throws, whose posterior is known in closed form.

Tolerances are four standard errors of as many independent draws as a sampler's are worth.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.inference import budgets
from ricochet.models.inference.limits import Logistic
from ricochet.tasks.systems.rigid_bodies.studies import peer_samplers
from tests.models.inference.normal_throws import PARTICLES, away, closed_form, example


@pytest.mark.parametrize("windows", [1, 3])
def test_the_ensemble(windows: int) -> None:
    """A hundred walkers after 1,500 sweeps: 4 standard errors of independent draws."""
    pytest.importorskip("emcee", reason="of the extra `compare`")
    density, u = example(windows)
    found = peer_samplers.ensemble(density, u, budgets.steps(1500), np.random.default_rng(2))
    mean, spread = away(found, density)
    assert float(mean.abs().max()) < 0.4
    assert float((spread - 1.0).abs().max()) < 4.0 / np.sqrt(2 * PARTICLES)


@pytest.mark.parametrize("windows", [1, 3])
def test_the_no_u_turn_sampler(windows: int) -> None:
    """In `Logistic` coordinates; parameters' law is compared: 500 draws, worth half as many."""
    pytest.importorskip("nutpie", reason="of the extra `compare`")
    density, u = example(windows)
    mean, deviation = closed_form(density)
    limits = density.coordinates.limits
    curved = replace(density, coordinates=Logistic(limits, torch.tensor([False, False])))
    begun = curved.begun(torch.zeros(1, 2, dtype=torch.float64), np.random.default_rng(3))
    long = budgets.steps(10_000)
    u = peer_samplers.no_u_turn(curved, begun, long, np.random.default_rng(4), draws=500)
    share = density.coordinates.of(curved.theta(u))
    errors = (share.mean(0) - mean[:2]) / deviation[:2]
    assert float(errors.abs().max()) < 4.0 / np.sqrt(250.0)
    assert float((share.std(0) / deviation[:2] - 1.0).abs().max()) < 4.0 / np.sqrt(500.0)


@pytest.mark.parametrize("tune", [10, 10**6])
def test_a_chain_that_is_stopped_keeps_what_it_has(tune: int) -> None:
    pytest.importorskip("nutpie", reason="of the extra `compare`")
    density, _ = example(3)
    limits = density.coordinates.limits
    curved = replace(density, coordinates=Logistic(limits, torch.tensor([False, False])))
    draw = np.random.default_rng(3)
    begun = curved.begun(torch.zeros(1, 2, dtype=torch.float64), draw)
    found = peer_samplers.no_u_turn(curved, begun, budgets.steps(10), draw, tune=tune)
    assert 1 < len(found) < 50_000
    assert bool(torch.isfinite(found).all())


def test_a_chain_without_time_is_where_it_began() -> None:
    pytest.importorskip("nutpie", reason="of the extra `compare`")
    density, u = example(1)
    found = peer_samplers.no_u_turn(density, u[:1], iter(()), np.random.default_rng(0))
    torch.testing.assert_close(found[:1], u[:1])
