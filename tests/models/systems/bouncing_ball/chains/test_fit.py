"""Whether takes fit: uniform chances for what the model made, small ones and width for the rest."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.chains import fit, observations, posterior
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES, Prior
from ricochet.models.systems.bouncing_ball.chains.posterior import Member
from tests.oracles.simulated_chains import Case, session

START = np.array([0.85, 3.3, 0.0, -5.0, 0.0, -4.0, -3.5, -4.0, -5.3, -2.3, 0.0, 0.0])


def member(takes: list[Take], prior: Prior | None = None) -> Member:
    draw, known = np.random.default_rng(0), prior or Prior()
    return posterior.explain(observations.grouped(takes), known, START, draw=draw)


@pytest.mark.proof
def test_takes_of_the_model_fit_and_agree() -> None:
    found = member(session(Case(8, 6), 70))
    judged = fit.judge(found, draw=np.random.default_rng(0))
    assert judged.p_value > 1e-3
    # the least of eight chances in steps of 1 / 161
    assert judged.take_p_values.min() > 0.006
    assert (judged.factors == 1.0).all()
    armed = replace(found, theta=found.peak + 5.0 * (found.theta - found.peak))
    np.testing.assert_array_equal(fit.disagreement(armed), judged.factors)


@pytest.mark.proof
def test_takes_of_two_surfaces_disagree_about_concentration() -> None:
    """Where no redirection is wide: wide ones would explain half of the takes."""
    rough = session(Case(4, 6, units={"concentration": 10**2.2}), 5)
    smooth = session(Case(4, 6, units={"concentration": 10**4.7}), 6)
    narrow, share = Prior(), NAMES.index("logit_tail_share")
    narrow.centre[share], narrow.spread[share] = -8.0, 0.05
    assert fit.disagreement(member(rough + smooth, narrow))[1] > 1.5


def test_the_widening_is_that_of_independent_numbers() -> None:
    """Means of normal numbers of unit variance: C = 1 / n, and V of 4 times their variance is 4."""
    draw = np.random.default_rng(0)
    count = 400
    covariance = np.diag([1.0 / count, 1.0 / count])
    numbers = draw.standard_normal((2, count)) / count
    flat = np.full(2, 1e6)
    np.testing.assert_array_equal(fit._factors(numbers, covariance, flat), [1.0, 1.0])
    wide = fit._factors(2.0 * numbers, covariance, flat)
    # the deviation of 400 numbers is known to 1 / sqrt(800) = 3.5 %; four of them
    np.testing.assert_allclose(wide, 2.0, rtol=0.14)
