"""Support functions: the recursion of multiples beside the printed series."""

import numpy as np
import pytest

from ricochet.models.systems.batting.support_functions import evaluate


@pytest.mark.parametrize("seed", range(5))
def test_value_and_slope_are_those_of_the_printed_series(seed: int) -> None:
    draw = np.random.default_rng(seed)
    cosines, sines = draw.standard_normal((2, 7))
    k = np.arange(7)
    for angle in draw.uniform(-20.0, 20.0, 20):
        c, s = np.cos(k * angle), np.sin(k * angle)
        expected = ((cosines * c + sines * s).sum(), (k * (sines * c - cosines * s)).sum())
        assert evaluate(cosines, sines, angle) == pytest.approx(expected, abs=1e-12)


def test_a_turn_of_the_series_is_a_turn_of_the_angle() -> None:
    draw = np.random.default_rng(9)
    cosines, sines = draw.standard_normal((2, 5))
    c, s = np.cos(0.7 * np.arange(5)), np.sin(0.7 * np.arange(5))
    turned = evaluate(cosines * c - sines * s, cosines * s + sines * c, 1.3)
    assert turned == pytest.approx(evaluate(cosines, sines, 1.3 - 0.7), abs=1e-13)
