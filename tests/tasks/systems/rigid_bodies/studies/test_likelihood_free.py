"""Densities learnt from simulations: straight motions, whose law is known in closed form."""

import numpy as np
import pytest
import torch

from ricochet.models.inference.mixture_density_networks import Training
from ricochet.models.probability.boxes import Box
from ricochet.tasks.systems.rigid_bodies.studies import likelihood_free
from ricochet.tasks.systems.rigid_bodies.studies.likelihood_free import Simulated

BOX = Box((-1.0, -1.0), (1.0, 1.0))
NOISE = 1.0
TRAINING = Training(components=2, hidden=24, members=1, steps=1500)


def simulated(count: int, seed: int) -> Simulated:
    """Two speeds, each seen as a straight motion with noise, 200 steps long."""
    draw = np.random.default_rng(seed)
    theta = draw.uniform(-1.0, 1.0, (count, 2))
    time = np.linspace(0.0, 1.0, 201)
    states = theta[:, None] * time[:, None] + NOISE * draw.normal(size=(count, 201, 2))
    return Simulated(torch.from_numpy(theta), torch.from_numpy(states))


@pytest.mark.proof
@pytest.mark.parametrize("model", likelihood_free.MODELS)
@pytest.mark.parametrize("statistic", likelihood_free.STATISTICS)
def test_draws_lie_about_the_truth_as_wide_as_they_err(model: str, statistic: str) -> None:
    """Errors over the stated deviation have a root mean square of about 1, and tell something."""
    draw = torch.Generator().manual_seed(0)
    density = likelihood_free.learn(
        simulated(4000, 0), BOX, model=model, statistic=statistic, draw=draw, training=TRAINING
    )
    fresh = simulated(60, 1)
    draws = torch.stack([density.draws(states, 200, draw) for states in fresh.states])
    assert draws.shape == (60, 200, 2)
    assert bool((draws.abs() <= 1.0).all())
    z = (draws.mean(1) - fresh.theta) / draws.std(1)
    assert 0.7 < float(z.square().mean().sqrt()) < 1.4
    if statistic in ("downsampled", "summary"):  # steps of the noise hide the motion from others
        assert float(draws.std(1).mean()) < 0.5


def test_the_same_randomness_gives_the_same_draws() -> None:
    short = Training(components=2, hidden=8, members=1, steps=40)
    found = []
    for _ in range(2):
        draw = torch.Generator().manual_seed(3)
        density = likelihood_free.learn(
            simulated(200, 0), BOX, model="mdn", statistic="summary", draw=draw, training=short
        )
        found.append(density.draws(simulated(1, 1).states[0], 5, draw))
    torch.testing.assert_close(found[0], found[1], rtol=0.0, atol=0.0)
