"""Counts whose chance is uncertain: the law of the next, and its interval."""

import math

import numpy as np
import pytest
from scipy import stats

from ricochet.models.probability import beta_binomials

TRIALS = 100


def test_counts_without_excess_spread_give_the_binomial_law() -> None:
    counts = np.array([[29], [30], [31], [30]])  # less spread than counting alone has
    law = beta_binomials.pmf(counts, TRIALS)
    plain = stats.binom.pmf(np.arange(TRIALS + 1), TRIALS, (120 + 0.5) / 401)
    np.testing.assert_allclose(law[0], plain, atol=1e-5)


def test_the_law_has_the_moments_of_the_counts() -> None:
    """Counts spread well beyond counting: mean and variance come back."""
    counts = np.random.default_rng(1).integers(20, 81, size=(400, 1))
    law = beta_binomials.pmf(counts, TRIALS)[0]
    outcomes = np.arange(TRIALS + 1)
    mean = law @ outcomes
    assert mean == pytest.approx(counts.mean(), abs=0.01)
    assert law @ (outcomes - mean) ** 2 == pytest.approx(counts.var(ddof=1), rel=0.001)


def test_failures_mirror_successes() -> None:
    counts = np.random.default_rng(2).binomial(TRIALS, 0.2, size=(30, 5))
    law, mirrored = (beta_binomials.pmf(c, TRIALS) for c in (counts, TRIALS - counts))
    np.testing.assert_allclose(mirrored, law[:, ::-1], rtol=1e-6, atol=1e-12)
    found, other = (beta_binomials.interval(each) for each in (law, mirrored))
    np.testing.assert_array_equal(other.low, TRIALS - found.high)
    np.testing.assert_array_equal(other.high, TRIALS - found.low)


def test_a_batch_equals_its_members_and_order_does_not_matter() -> None:
    counts = np.random.default_rng(3).binomial(TRIALS, [0.0, 0.3, 0.9], size=(30, 3))
    law = beta_binomials.pmf(counts, TRIALS)
    for i in range(3):
        alone = beta_binomials.pmf(counts[::-1, i], TRIALS)
        np.testing.assert_allclose(law[i], alone, rtol=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_interval_is_the_smallest_that_leaves_so_little_a_side(level: float) -> None:
    law = stats.binom.pmf(np.arange(TRIALS + 1), TRIALS, np.array([[0.0], [0.02], [0.5], [0.97]]))
    found, tail = beta_binomials.interval(law, level), 0.5 * (1 - level)
    for row, low, high, content in zip(law, found.low, found.high, found.content, strict=True):
        assert row[:low].sum() <= tail + 1e-12 and row[high + 1 :].sum() <= tail + 1e-12
        assert low == 0 or row[: low + 1].sum() > tail
        assert high == TRIALS or row[high:].sum() > tail
        assert content == pytest.approx(row[low : high + 1].sum()) and content >= level


def test_intervals_hold_the_next_count_as_often_as_they_say() -> None:
    """2000 hidden chances, each with 30 exchangeable counts to learn from and one to predict."""
    draw = np.random.default_rng(4)
    size, centre = 2000, draw.uniform(0.02, 0.98, 2000)
    spread = 0.4
    chances = 1 / (
        1 + np.exp(-(np.log(centre / (1 - centre)) + spread * draw.normal(size=(31, size))))
    )
    counts = draw.binomial(TRIALS, chances)
    found = beta_binomials.interval(beta_binomials.pmf(counts[:30], TRIALS))
    share = ((counts[30] >= found.low) & (counts[30] <= found.high)).mean()
    said = found.content.mean()
    # 3 standard errors of 2000, and a point for a width that was learnt from 30 counts
    assert abs(share - said) < 3 * math.sqrt(0.08 * 0.92 / size) + 0.01
    assert share > 0.9 - 3 * math.sqrt(0.09 / size)


@pytest.mark.parametrize("counts", [np.array([[5]]), np.array([[5], [101]]), np.array([[-1], [5]])])
def test_counts_that_cannot_be_are_refused(counts: np.ndarray) -> None:
    with pytest.raises(ValueError, match="counts must"):
        beta_binomials.pmf(counts, TRIALS)


def test_a_level_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        beta_binomials.interval(np.ones(3) / 3, 1.0)
