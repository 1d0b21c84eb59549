"""Outcomes that hang together count as the fewer that they are worth."""

import numpy as np
import pytest

from ricochet.models.inference.dependent_outcomes import effective


def test_the_worth_is_that_of_the_shares_own_variance() -> None:
    """Runs of five alike, over and over: the mean of shares has five times the variance.

    Of neighbours alone the variance is 1 + 2 * 0.8 = 2.6 times; from 2000 runs to within 10 %.
    """
    draw = np.random.default_rng(0)
    runs = (draw.random((2000, 1)) < 0.9).astype(float).repeat(5, axis=0)
    assert effective([runs]) == pytest.approx(10_000 / 2.6, rel=0.1)


def test_independent_outcomes_count_in_full_and_copies_once() -> None:
    draw = np.random.default_rng(1)
    outcomes = (draw.random((4000, 1)) < 0.9).astype(float)
    assert effective([outcomes]) > 0.85 * 4000  # neighbours by chance: 2 / sqrt(4000) is 0.03
    assert effective([outcomes.repeat(4, axis=1)]) == pytest.approx(effective([outcomes]))


def test_series_come_in_any_order_and_either_way_round() -> None:
    draw = np.random.default_rng(2)
    series = [(draw.random((count, 2)) < 0.8).astype(float) for count in (30, 50)]
    backwards = [each[::-1] for each in reversed(series)]
    assert effective(series) == pytest.approx(effective(backwards))


def test_outcomes_that_are_all_alike_count_once_a_place() -> None:
    assert effective([np.ones((7, 4)), np.ones((5, 4))]) == 12.0
