"""The interval of a difference of shares against the published table, and what it must keep."""

import numpy as np
import pytest

from ricochet.models.inference import proportions


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1.0000),
    ],
)
def test_intervals_are_those_of_newcombe_s_table_ii(first, second, low, high):
    found = proportions.difference(first, second)
    assert found == pytest.approx((low, high), abs=5e-5)


def test_the_roles_exchanged_turn_the_interval_round():
    low, high = proportions.difference((12, 30), (20, 41))
    assert proportions.difference((20, 41), (12, 30)) == pytest.approx((-high, -low))


def test_more_trials_of_the_same_shares_lie_inside():
    few, many = (proportions.difference((6 * n, 10 * n), (5 * n, 10 * n)) for n in (1, 10))
    assert few[0] < many[0] < 0.1 < many[1] < few[1]


@pytest.mark.slow
def test_the_interval_holds_the_truth_as_often_as_it_says():
    """2000 pairs of 60 at 0.7 and 0.5: 0.95 with a standard error of 0.005, and the interval is
    known to be 0.01 off at most at this size: 0.925 to 0.975."""
    draw = np.random.default_rng(1)
    first, second = draw.binomial(60, 0.7, 2000), draw.binomial(60, 0.5, 2000)
    held = 0
    for one, other in zip(first, second, strict=True):
        low, high = proportions.difference((int(one), 60), (int(other), 60))
        held += low <= 0.2 <= high
    assert 0.925 <= held / 2000 <= 0.975


@pytest.mark.parametrize("counts", [(0, 0), (3, 2), (-1, 2)])
def test_counts_that_cannot_be_are_refused(counts):
    with pytest.raises(ValueError, match="counts: got"):
        proportions.difference(counts, (1, 2))
