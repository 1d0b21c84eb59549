"""Comparisons that gates ask for: exact, and as rarely wrong as they say."""

import numpy as np
import pytest

from ricochet.tasks.validation import checks
from ricochet.tasks.validation.outcomes import Paired
from tests.tasks.systems.bouncing_ball.gate_cases import twin


def test_equal_candidates_pass_as_often_as_the_test_says_and_much_worse_ones_fail():
    """Exact tests are refused at most 0.025 of the time; 12 of 200 is 3.2 standard errors above.
    Success 20 points lower, independent tosses: 100 pairs refuse 0.77 of the time; 130 of 200
    is 4 standard errors below."""
    draw = np.random.default_rng(6)
    equal = [checks.not_worse("tracking", twin(draw).success).passed for _ in range(200)]
    worse = [
        checks.not_worse("tracking", twin(draw, candidate=0.5).success).passed for _ in range(200)
    ]
    assert equal.count(False) <= 12
    assert worse.count(False) > 130


def test_the_paired_test_is_the_binomial_tail_in_closed_form():
    paired = Paired((True, False, False, False, False, False), (True, *[True] * 5))
    check = checks.not_worse("tracking", paired)
    assert "0 won and 5 lost of 6 pairs, p 0.0312" in check.found and check.passed  # 2^-5
    six = Paired((False,) * 6, (True,) * 6)
    assert not checks.not_worse("tracking", six).passed  # 2^-6 = 0.016


def test_only_pairs_that_differ_count_and_their_order_does_not():
    first = Paired((True, False, True, False), (False, True, True, False))
    more = Paired(first.candidate + (True,) * 50, first.champion + (True,) * 50)
    turned = Paired(first.candidate[::-1], first.champion[::-1])
    p_values = [checks.not_worse("x", p).found.rpartition("p ")[2] for p in (first, more, turned)]
    assert len(set(p_values)) == 1


def test_a_promise_is_held_against_the_binomial_tail_in_closed_form():
    """P(at most 40 of 100 | 0.5) = 0.028 and P(at most 39 of 100 | 0.5) = 0.018."""
    for good, kept in ((40, True), (39, False), (100, True)):
        outcomes = [True] * good + [False] * (100 - good)
        check = checks.promised("promise", outcomes, 0.5, of="shots")
        assert check.passed is kept and f"{good} of 100 shots" in check.found
    six = checks.promised("promise", [False] * 6, 0.5, of="shots")
    assert six.found.endswith("(p 0.0156)")  # 2^-6
    assert not checks.promised("promise", [], 0.5, of="shots").passed


@pytest.mark.parametrize(("good", "passed"), [(50, True), (35, True), (25, False)])
def test_trials_apart_are_refused_where_the_whole_interval_is_below_zero(good, passed):
    """100 each, the champion at 0.45: 0.10 less is 1.5 standard errors, 0.20 less 3.1."""
    won = Paired((True,) * good + (False,) * (100 - good), (True,) * 45 + (False,) * 55)
    assert checks.not_worse_apart("tosses", won).passed == passed
