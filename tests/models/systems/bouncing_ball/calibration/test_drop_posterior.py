"""The network of one drop: as good as its anchors, honest, for every rig."""

from dataclasses import replace
from functools import cache

import pytest
import torch

from ricochet.models.inference.mixture_density_networks import ConditionalDensity
from ricochet.models.probability import truncated_mixtures
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, posterior
from ricochet.models.systems.bouncing_ball.calibration.drop_posterior import NoiseRange
from ricochet.models.systems.bouncing_ball.problem import Drops
from tests.oracles.truncated_mixtures import credibility


def test_rigs_are_drawn_inside_the_range_and_some_observe_without_error() -> None:
    span = NoiseRange(time_sd=(1e-5, 1e-3), position_sd=(1e-4, 1e-2), noise_free=0.25)
    noise = drop_posterior.draw_noise(span, 2000, draw=torch.Generator().manual_seed(1))
    free = noise.time_sd == 0.0
    assert torch.equal(free, noise.position_sd == 0.0)
    # standard error sqrt(0.25 * 0.75 / 2000) = 0.0097; three of them
    assert abs(free.double().mean() - 0.25) < 0.029
    assert (noise.time_sd[~free] >= 1e-5).all() and (noise.time_sd[~free] <= 1e-3).all()
    # the median of a log-uniform law is the geometric mean of its ends; three standard errors of
    # the share below it are 3 * 0.5 / sqrt(1500) = 0.039
    assert abs((noise.position_sd[~free] < 1e-3).double().mean() - 0.5) < 0.039


def simulated(time_sd: float, position_sd: float) -> Drops:
    noise = problem.constant_noise((2000,), time_sd=time_sd, position_sd=position_sd)
    release = problem.constant_release((2000,))
    return problem.simulate_drops(noise, release, draw=torch.Generator().manual_seed(99))


def nats(density: ConditionalDensity, drops: Drops) -> float:
    """Mean negative log posterior of the truth."""
    found = drop_posterior.posterior(density, drops.features, drops.noise, drops.release)
    return -float(truncated_mixtures.log_density(found, drops.theta).mean())


def coverage(density: ConditionalDensity, drops: Drops) -> float:
    """Share of the first 1000 drops whose truth is in the region of 90 %."""
    held = 0
    for index in range(0, 1000, 20):
        part = slice(index, index + 20)
        one = drops.rows(part)
        few = drop_posterior.posterior(density, one.features, one.noise, one.release)
        level = credibility(few, drops.theta[part], per_axis=16)
        held += int((level < 0.9).sum())
    return held / 1000


@cache
def general() -> ConditionalDensity:
    return drop_posterior.train_general(draw=torch.Generator().manual_seed(0)).density


@pytest.mark.proof
@pytest.mark.parametrize(
    "time_sd, position_sd, anchor",
    [
        # the default rig: the exact posterior has -3.84 (200 cases, +- 0.09) elsewhere; the sd of
        # one case is 1.3, so 2000 cases have a standard error of 0.03; 0.10 nats are allowed
        (1e-4, 5.35e-3, -3.74),
        # no noise: the exact posterior has -9.96; one case has an sd of 3.2, standard error 0.07
        (0.0, 0.0, -9.40),
        # a poor rig: a network trained for it alone reaches -2.07 on these cases
        (1e-3, 3e-2, -1.97),
    ],
)
def test_one_network_serves_every_rig(time_sd: float, position_sd: float, anchor: float) -> None:
    drops = simulated(time_sd, position_sd)
    assert nats(general(), drops) < anchor
    # binomial standard error sqrt(0.9 * 0.1 / 1000) = 0.0095; three of them
    assert abs(coverage(general(), drops) - 0.9) < 0.0285


@pytest.mark.proof
@pytest.mark.parametrize("height, height_sd", [(0.1, 5e-3), (0.6, 5e-3), (1.6, 0.0)])
def test_the_network_says_what_the_exact_posterior_says_at_any_height(
    height: float, height_sd: float
) -> None:
    count = 16
    noise = problem.constant_noise((count,))
    release = replace(
        problem.constant_release((count,), height=height, height_sd=height_sd),
        session=torch.arange(count),
    )
    drops = problem.simulate_drops(noise, release, draw=torch.Generator().manual_seed(98))
    network = drop_posterior.posterior(general(), drops.features, noise, release)
    ours = truncated_mixtures.log_density(network, drops.theta)
    exact = []
    for index in range(count):
        one = drops.rows(slice(index, index + 1))
        density = posterior.posterior(one.features, one.noise, one.release)
        exact.append(float(density.log_density_at(one.theta.numpy())[0]))
    lost = torch.tensor(exact, dtype=torch.float64) - ours
    # a drop that two restitutions explain, a few in a hundred where the surface is rough, is not
    # the network's strength: it keeps to one of them, and the truth may be the other
    far = lost > 2.0
    assert int(far.sum()) <= 1
    lost = lost[~far]
    # paired: a case differs by about 0.3 nats, so that 16 have a standard error of 0.08; at one
    # height and rig the network loses 0.05 nats (docs), and 0.10 are allowed as above
    assert float(lost.mean()) < 0.10 + 3 * float(lost.std()) / len(lost) ** 0.5
    assert float(lost.std()) < 0.6


@pytest.mark.proof
def test_the_papers_6000_noise_free_simulations_beat_every_off_the_shelf_row() -> None:
    draw = torch.Generator().manual_seed(0)
    silent = problem.constant_noise((6000,), time_sd=0.0, position_sd=0.0)
    drops = problem.simulate_drops(silent, problem.constant_release((6000,)), draw=draw)
    fit = drop_posterior.train(drops, training=drop_posterior.PAPER, draw=draw)
    # a spline flow of the sbi package has -4.73, a good hand-made network -6.69, the exact -9.96
    assert nats(fit.density, simulated(0.0, 0.0)) < -9.3
