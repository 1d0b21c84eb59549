"""Where pucks cross the goal line: against a period at a time, plain Python, and a mirror."""

from dataclasses import fields, replace

import numpy as np
import pytest

from ricochet.models.core import compiled
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.shots import crossings, goal_probability
from ricochet.models.systems.air_hockey.shots.crossings import Crossing
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles import hockey_modes
from tests.oracles.hockey_modes import MODES
from tests.oracles.launched_pucks import SPREAD, crossing, launched, spreads

TABLE = Table()
NAMES = [field.name for field in fields(Crossing)]
COMPILED = "_follow_all", "_follow", "_next_event", "_bank", "_congruent", "_applied", "_note"
MIRROR = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])


def test_leaps_equal_single_periods():
    """The mean's crossing, its spread and banks, for all that end well between the posts.

    A line through the last two means is not the one along the last velocity: 20 ms of drag apart.
    """
    states = launched(300)
    found = crossing(MODES, states, spreads(300))
    between = np.flatnonzero(found.arrives & (np.abs(found.y) < 0.07))
    assert set(found.banks[between]) >= {0, 1, 2}
    for row in between:
        means, covariances = goal_probability.path(MODES, states[row], SPREAD, TABLE)
        late, early = means[-1], means[-2]
        share = (TABLE.half_length - early[0]) / (late[0] - early[0])
        np.testing.assert_allclose(found.y[row], early[1] + share * (late[1] - early[1]), atol=1e-3)
        np.testing.assert_allclose(found.time[row], (len(means) - 2 + share) * PERIOD, atol=2e-3)
        ago = (late[0] - TABLE.half_length) / late[2]
        y = np.array([0.0, 1.0, 0.0, -ago, 0.0, 0.0])
        x = np.array([1.0, 0.0, -ago, 0.0, 0.0, 0.0])
        across = y - late[3] / late[2] * x
        variance = across @ covariances[-1] @ across
        np.testing.assert_allclose(found.sd[row], np.sqrt(variance), rtol=1e-9)
        assert found.banks[row] == np.count_nonzero(means[1:, 3] * means[:-1, 3] < -1e-3)


def test_only_the_first_bank_follows_the_law_of_the_first():
    """One bank by a law is as if it were that of all banks; two banks are not."""
    states, spread = launched(300), spreads(300)
    first = crossing(MODES, states, spread, first=hockey_modes.ODD)
    always = crossing(replace(MODES, wall=hockey_modes.ODD), states, spread)
    single, double = (first.arrives & always.arrives & (first.banks == n) for n in (1, 2))
    assert single.sum() > 50
    np.testing.assert_array_equal(first.y[single], always.y[single])
    assert double.sum() > 10
    assert (np.abs(first.y - always.y)[double] > 1e-3).all()


def test_a_mirrored_table_has_mirrored_crossings():
    states = launched(200)
    one, other = (crossing(MODES, s, spreads(200)) for s in (states, states * MIRROR))
    np.testing.assert_allclose(one.y, -other.y, atol=1e-12)
    np.testing.assert_allclose(one.velocity, other.velocity * (1.0, -1.0), atol=1e-12)
    for name in ("arrives", "sd", "banks", "time"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)


def test_a_batch_equals_its_members():
    states = launched(40)
    whole = crossing(MODES, states, spreads(40))
    for row in range(40):
        one = crossing(MODES, states[row : row + 1], SPREAD[None])
        for field in fields(Crossing):
            np.testing.assert_array_equal(
                getattr(whole, field.name)[row], getattr(one, field.name)[0]
            )


def test_the_given_state_is_not_changed():
    states, covariance = launched(50), spreads(50).copy()
    before = states.copy()
    crossing(MODES, states, covariance)
    np.testing.assert_array_equal(states, before)
    np.testing.assert_array_equal(covariance, spreads(50))


def test_means_alone_cross_where_they_do_with_their_spread():
    states = launched(200)
    alone, spread = (crossing(MODES, states, each) for each in (None, spreads(200)))
    assert np.isnan(alone.sd).all() and np.isfinite(spread.sd[spread.arrives]).all()
    for name in ("arrives", "y", "velocity", "banks", "time"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(spread, name))


def test_an_unusual_law_says_nothing_of_shots_that_meet_no_rim():
    laws = [kind.law for kind in hockey_modes.TWO_WAYS.rebounds]
    states = launched(200)
    usual, unusual = crossings.follow(hockey_modes.TWO_WAYS, states, spreads(200), TABLE, laws)
    direct = usual.banks == 0
    assert 20 < direct.sum() < 180
    assert not unusual.arrives[direct].any() and np.isnan(unusual.y[direct]).all()


@pytest.mark.skipif(not compiled.available(), reason="numba is not installed: all is plain Python")
def test_plain_python_gives_what_machine_code_does(monkeypatch):
    states = launched(30)
    fast = crossing(MODES, states, spreads(30))
    for name in (
        "_follow_all",
        "_follow",
        "_next_event",
        "_bank",
        "_congruent",
        "_applied",
        "_note",
    ):
        monkeypatch.setattr(crossings, name, getattr(crossings, name).py_func)
    plain = crossing(MODES, states, spreads(30))
    for field in fields(Crossing):
        np.testing.assert_allclose(
            getattr(fast, field.name), getattr(plain, field.name), atol=1e-12
        )


@pytest.mark.wrong_types
def test_covariances_of_other_pucks_are_refused() -> None:
    with pytest.raises(ValueError, match="found 1, expected 3"):
        crossing(MODES, launched(3), SPREAD[None])
