"""Systematic resampling: counts beside weights, and what must not matter."""

import numpy as np

from ricochet.models.probability.systematic_resampling import systematic_rows


def test_each_row_is_taken_as_often_as_its_weight_says_to_less_than_one() -> None:
    draw = np.random.default_rng(0)
    for _ in range(50):
        weights = draw.exponential(size=30) * (draw.random(30) > 0.3)
        taken = np.bincount(systematic_rows(weights, 200, draw), minlength=30)
        assert (np.abs(taken - 200 * weights / weights.sum()) < 1.0 + 1e-9).all()
        assert (taken[weights == 0.0] == 0).all()


def test_counts_have_the_weights_for_means() -> None:
    """Of 4000 draws a count differs from its mean by less than 1: 3 / (2 sqrt(4000)) = 0.024."""
    draw, weights = np.random.default_rng(1), np.array([0.13, 0.4, 0.27, 0.2])
    counts = [np.bincount(systematic_rows(weights, 7, draw), minlength=4) for _ in range(4000)]
    np.testing.assert_allclose(np.mean(counts, axis=0), 7 * weights, atol=0.024)


def test_the_unit_of_weights_does_not_matter() -> None:
    weights = np.array([0.1, 0.5, 0.25, 0.15])
    one, other = (systematic_rows(w, 9, np.random.default_rng(2)) for w in (weights, 8.0 * weights))
    np.testing.assert_array_equal(one, other)
