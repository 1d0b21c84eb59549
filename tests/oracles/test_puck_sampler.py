"""Drawn pucks have the moments of the modes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.puck import dynamics, strikes
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes, puck_sampler

TABLE = Table()
MODES = hockey_modes.made(floating=2e-3, wall=(0.03, 0.02), mallet=(0.05, 0.03))
COUNT = 4000


@pytest.mark.parametrize("bank", [False, True])
def test_draws_have_the_moments_of_the_modes(bank):
    """N = 4000: a mean is known to sd / 63, a variance to 2.2 % (four errors are allowed).

    The strike, 40 periods of floating and, with `bank`, a rim which every draw has met by then.
    """
    place = np.tile((-0.4, -0.1), (COUNT, 1))
    draw = np.random.default_rng(1)
    states = puck_sampler.release(MODES, place, np.tile((-0.1, 0.2), (COUNT, 1)), draw=draw)
    angle = 0.9 if bank else 0.1
    normal = np.tile((np.cos(angle), np.sin(angle)), (COUNT, 1))
    states = puck_sampler.strike(MODES, states, 1.1 * normal, normal, draw=draw)
    states = puck_sampler.paths(MODES, states, TABLE, steps=40, draw=draw)[-1]

    mean = np.array([-0.4, -0.1, -0.1, 0.2, 0.0, 0.0])
    spread = np.diag([0.0, 0.0, 0.0, 0.0, 0.07**2, 0.07**2])
    mean, spread = strikes.struck(MODES, mean, spread, 1.1 * normal[0], normal[0], table=TABLE)
    mean, spread = dynamics.leap(MODES, mean, spread, steps=40, table=TABLE)
    assert (mean[3] < 0.0) == bank
    sd = np.sqrt(np.diag(spread))
    # A bank's instant enters the covariance to first order only: 5 % of an sd is allowed for it.
    np.testing.assert_array_less(np.abs(states.mean(0) - mean) / sd, 4.0 / 63.0 + 0.05 * bank)
    scale = np.outer(sd, sd)
    np.testing.assert_allclose(np.cov(states.T) / scale, spread / scale, atol=0.09 + 0.06 * bank)


def test_without_noise_a_draw_is_the_mean():
    def quiet(law: LinearGaussian) -> LinearGaussian:
        return replace(law, covariance=0.0 * law.covariance)

    modes = PuckModes(
        quiet(MODES.floating), quiet(MODES.wall), quiet(MODES.mallet), airflow_sd=0.0, delay=0.006
    )
    draw = np.random.default_rng(0)
    place = draw.uniform(-1.0, 1.0, (50, 2)) * (TABLE.wall_x, TABLE.wall_y)
    states = puck_sampler.release(modes, place, draw.normal(0.0, 2.0, (50, 2)), draw=draw)
    mean, spread, played = states, np.zeros((50, 6, 6)), np.ones(50, dtype=bool)
    for path in puck_sampler.paths(modes, states, TABLE, steps=60, draw=draw)[1:]:
        mean, spread = dynamics.step(modes, mean, spread, TABLE)
        played &= np.abs(path[:, 0]) < TABLE.wall_x
        np.testing.assert_allclose(path[played], mean[played], atol=1e-6)


def test_the_same_seed_draws_the_same_and_another_does_not():
    start = np.tile((0.0, 0.0, 1.0, 1.0, 0.0, 0.0), (3, 1))
    runs = [
        puck_sampler.paths(MODES, start, TABLE, steps=20, draw=np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert np.abs(runs[0][-1] - runs[2][-1]).max() > 1e-4


def test_no_puck_leaves_the_table_but_through_a_goal():
    draw = np.random.default_rng(4)
    place = draw.uniform(-1.0, 1.0, (500, 2)) * (TABLE.wall_x, TABLE.wall_y)
    states = puck_sampler.release(MODES, place, draw.normal(0.0, 2.0, (500, 2)), draw=draw)
    path = puck_sampler.paths(MODES, states, TABLE, steps=100, draw=draw)
    out = np.abs(path[..., 0]) > TABLE.wall_x + 1e-9
    first = out.argmax(0)
    left = out.any(0)
    entry = np.abs(path[first, np.arange(500), 1])[left]
    assert left.sum() > 20
    assert (entry < TABLE.goal_half_width + 0.1).all()
    # In a corner the second bank may move the puck back along the first wall, by millimetres.
    assert np.abs(path[:, ~left, 1]).max() <= TABLE.wall_y + 0.005


def test_first_banks_follow_their_laws_in_their_shares():
    """4000 pucks at a rim: 0.2 follow the unusual law, to four errors; later banks `wall`."""
    modes, start = hockey_modes.TWO_WAYS, np.zeros((COUNT, 6))
    start[:, 1:4] = (TABLE.wall_y - 0.01, 1.0, 2.0)
    first = np.arange(COUNT) % 2 == 0
    after = puck_sampler.step(modes, start, TABLE, draw=np.random.default_rng(0), first=first)
    kept = -after[:, 3] / (0.99 * 2.0)
    # One in thirteen of the unusual is below 0.83, no usual one above.
    rare = (kept[first] > 0.83).mean()
    expected = 0.2 * ndtr((0.93 - 0.83) / 0.07)
    assert abs(rare - expected) < 4.0 * np.sqrt(expected * (1.0 - expected) / (COUNT / 2))
    later = kept[~first]
    assert later.mean() == pytest.approx(0.74, abs=4.0 * 0.08 / np.sqrt(COUNT / 2))
    assert later.std() == pytest.approx(0.08, rel=4.0 / np.sqrt(COUNT))
