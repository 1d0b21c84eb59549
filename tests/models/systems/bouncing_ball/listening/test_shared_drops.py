"""Drops that two recorders heard are found, and others of the same ball are not."""

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.listening import shared_drops

HEARING, CLOCK = 1.5e-5, 5e-5


def dropped(count, draw, *, stray=5e-4, bounces=9):
    """Times of drops whose arches stray by a share of them."""
    arches = 0.4 * 0.85 ** np.arange(bounces) * (1.0 + stray * draw.normal(size=(count, bounces)))
    return list(np.cumsum(arches, axis=1))


def heard(drops, draw, *, fast=0.0):
    return [1.5 + (1.0 + fast) * each + HEARING * draw.normal(size=len(each)) for each in drops]


@pytest.mark.parametrize("count", [4, 8, 20])
def test_drops_of_two_recorders_are_found_whatever_their_clocks(count):
    draw = np.random.default_rng(count)
    found = 0
    for _ in range(40):
        drops = dropped(count, draw)
        order = draw.permutation(count)
        second = heard([drops[place] for place in order], draw, fast=CLOCK)
        pairs = shared_drops.heard_twice(heard(drops, draw), second)
        assert all(order[there] == here for here, there in pairs)
        found += bool(pairs)
    assert found >= 36


@pytest.mark.parametrize("stray", [1e-5, 2e-4, 3e-3])
@pytest.mark.parametrize("count", [3, 4, 8])
def test_other_drops_of_one_ball_are_not(count, stray):
    """A few in a thousand pairs of sessions of four drops may be; none here of a hundred."""
    draw = np.random.default_rng(7)
    found = [
        shared_drops.heard_twice(
            *(heard(dropped(count, draw, stray=stray), draw) for _ in range(2))
        )
        for _ in range(100)
    ]
    assert not any(found)


def test_a_first_bounce_that_one_missed_and_drops_that_one_lacks_change_nothing():
    draw = np.random.default_rng(3)
    drops = dropped(8, draw, stray=1e-3)
    second = [each[place % 2 :] for place, each in enumerate(heard(drops[1:7], draw))]
    pairs = shared_drops.heard_twice(heard(drops, draw), second)
    assert pairs == [(place + 1, place) for place in range(6)]


@pytest.mark.parametrize("bounces", [0, 1, shared_drops.FEWEST - 1])
def test_drops_of_few_bounces_say_nothing(bounces):
    draw = np.random.default_rng(4)
    drops = [each[:bounces] for each in dropped(6, draw)]
    assert shared_drops.heard_twice(drops, drops) == []
    assert shared_drops.heard_twice([], drops) == []


def test_shifts_of_time_and_order_leave_misfits_as_they_are():
    draw = np.random.default_rng(5)
    one, other = (np.array(dropped(5, draw)) for _ in range(2))
    found = shared_drops.misfits(one, other)
    np.testing.assert_allclose(shared_drops.misfits(one + 7.0, other - 2.0), found, rtol=1e-6)
    np.testing.assert_allclose(shared_drops.misfits(one[::-1], other), found[::-1])
