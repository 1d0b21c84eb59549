"""Takes that a deviation needs: closed forms, and more of either never asks for less."""

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.planning import takes_needed

TRIED = np.array([5.0, 10.0, 20.0])


def test_deviations_that_fall_with_the_root_are_followed_exactly():
    root = 1.0 / np.sqrt(TRIED)
    for takes in (5.0, 7.0, 20.0, 80.0):
        found = takes_needed.reached(takes, TRIED, root)
        assert found == pytest.approx(1.0 / np.sqrt(takes), rel=1e-9)
    assert takes_needed.needed(0.25, TRIED, root, most=100) == 16
    assert takes_needed.needed(0.1, TRIED, root, most=100) == 100
    assert takes_needed.needed(0.099, TRIED, root, most=100) is None


def test_what_is_easily_reached_needs_the_smallest_number_tried():
    assert takes_needed.needed(9.0, TRIED, 1.0 / TRIED, most=100) == 5


def test_a_smaller_wish_never_needs_fewer_takes():
    uneven = np.array([0.5, 0.2, 0.25])  # 20 takes are not worse than 10
    needs = [takes_needed.needed(w, TRIED, uneven, most=1000) for w in (0.4, 0.2, 0.1, 0.05)]
    assert needs == sorted(needs)
    assert takes_needed.reached(20.0, TRIED, uneven) == 0.2


def test_units_of_the_deviation_do_not_matter():
    column = np.array([0.5, 0.3, 0.2])
    one = takes_needed.needed(0.1, TRIED, column, most=500)
    assert takes_needed.needed(1e3 * 0.1, TRIED, 1e3 * column, most=500) == one
