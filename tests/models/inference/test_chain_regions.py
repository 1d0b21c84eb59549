"""Places of truths among few draws: uniform where the law is right, whatever the coordinates."""

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import chain_regions


def places(count: int, *, squeezed: float = 1.0, chains: int = 12, size: int = 3):
    """Of truths that have the law of the draws, but for the draws' width."""
    draw = np.random.default_rng(0)
    found = []
    for _ in range(count):
        mixed = draw.normal(size=(size, size))
        around, truth = draw.normal(size=(1, chains, size)) @ mixed, draw.normal(size=size) @ mixed
        middle = around.mean((0, 1))
        found.append(chain_regions.place(middle + squeezed * (around - middle), truth))
    return found


def test_levels_and_ranks_of_independent_draws_are_uniform() -> None:
    """Kolmogorov's chance of 400 right ones is below 0.001 once in a thousand seeds."""
    found = places(400)
    assert stats.kstest([each.level for each in found], "uniform").pvalue > 1e-3
    for ranks in np.array([each.rank for each in found]).T:
        assert stats.kstest(ranks, "uniform").pvalue > 1e-3


def test_draws_of_half_the_width_hold_far_fewer() -> None:
    """A share of 0.9 of 200 is 0.9 +- 0.021, and here it is below 0.6."""
    held = np.mean([each.level < 0.9 for each in places(200, squeezed=0.5)])
    assert held < 0.6


def test_other_coordinates_give_the_same_level() -> None:
    draw = np.random.default_rng(1)
    chains, truth, mixed = draw.normal(size=(7, 12, 4)), draw.normal(size=4), 3.0 * np.eye(4)
    mixed[0, 1:] = 0.5
    one, other = (
        chain_regions.place(chains @ m + m[0], truth @ m + m[0]) for m in (np.eye(4), mixed)
    )
    assert other.level == pytest.approx(one.level, rel=1e-9)
    shifted = chain_regions.place(2.0 * chains + 9.0, 2.0 * truth + 9.0)
    np.testing.assert_allclose(shifted.rank, one.rank, rtol=1e-9)


def test_draws_count_once_a_chain_that_stands_still_and_in_full_where_they_are_new() -> None:
    draw = np.random.default_rng(2)
    still = draw.normal(size=(1, 20, 6)).repeat(30, axis=0)
    assert chain_regions.effective(still) == pytest.approx(20.0, rel=0.01)
    fresh = draw.normal(size=(30, 20, 6))  # of 6 x 19 squares: 600 to within 13 % at one error
    assert chain_regions.effective(fresh) > 600.0 / 1.5
