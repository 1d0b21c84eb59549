"""Drops that are one: copies are known, and two drops of a ball are none."""

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.listening import repeated_drops

GAPS = 0.5 * 0.8 ** np.arange(10)


def drop(strays: float, seed: int):
    draw = np.random.default_rng(seed)
    return np.append(0.0, np.cumsum(GAPS * (1.0 + strays * draw.standard_normal(len(GAPS)))))


@pytest.mark.parametrize(
    "left", [range(11), range(1, 11), range(2, 11), range(7), [0, 1, 2, 4, 5, 6]]
)
def test_a_copy_is_known_though_bounces_are_cut_off_or_missed(left):
    one = drop(0.01, 1)
    other = 3.0 + one[list(left)] + 3e-6 * np.random.default_rng(2).standard_normal(len(left))
    assert repeated_drops.are_copies(one, other) and repeated_drops.are_copies(other, one)


def test_it_is_known_at_any_time_and_is_not_what_is_longer():
    one = drop(0.01, 1)
    assert repeated_drops.are_copies(one + 100.0, one - 7.0)
    assert not repeated_drops.are_copies(one, 1.001 * one)


def test_two_drops_of_a_ball_are_hardly_ever_taken_for_one():
    """Six pairings, of which fewer than one in ten thousand agrees where gaps stray as below."""
    draw = np.random.default_rng(3)
    drops = np.cumsum(0.2 + draw.normal(0.0, 2.5e-4, (2, 5000, 9)), axis=2)
    expected = 5000 * 6e-4
    found = sum(map(repeated_drops.are_copies, *drops))
    assert found < expected + 3.0 * expected**0.5


def test_few_bounces_show_nothing():
    one = drop(0.01, 1)[:4]
    assert not repeated_drops.are_copies(one, one)


def test_of_drops_that_hardly_stray_fewer_than_one_pair_in_ten_thousand_agrees():
    draw = np.random.default_rng(2)
    one, other = np.cumsum(0.2 + draw.normal(0.0, 2.5e-4, (2, 50_000, 7)), axis=2)
    moved = (one - other)[..., None]
    assert sum(map(repeated_drops.keep_time, moved)) < 5 + 3 * 5**0.5
