"""The family: laws weighed by evidence, air recovered, and what does not change the answer."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball import air, contact
from ricochet.models.systems.bouncing_ball.chains import family, observations, parameters, posterior
from ricochet.models.systems.bouncing_ball.chains.family import Family
from ricochet.models.systems.bouncing_ball.chains.log_density import Density
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES, Prior
from ricochet.models.systems.bouncing_ball.chains.paths import Paths
from ricochet.models.systems.bouncing_ball.chains.peaks import Mode
from tests.oracles import known_families
from tests.oracles.simulated_chains import Case, session

PING_PONG = air.COMMON_BALLS["ping-pong"]
START = np.array([0.845, 3.3, 0.0, -5.0, 0.0, -4.0, -3.5, -4.0, -5.3, -2.3, 0.0, 0.0])
UNKNOWN = family.drag_prior(None, 20.0)


def inferred(takes: list[Take], drag: tuple[float, float] = UNKNOWN) -> Family:
    starts = family.starts_of(family.prior(contact.constant, drag), np.array([0.845, 3.3]))
    draw = np.random.default_rng(0)
    return family.infer(observations.grouped(takes), starts=starts, drag=drag, draw=draw)


def off(draws: np.ndarray, truth: float) -> float:
    """Return the error in posterior deviations."""
    return float(abs(draws.mean() - truth) / draws.std())


@pytest.mark.proof
def test_a_ball_in_air_has_its_restitution_and_its_drag() -> None:
    """The paper's model is off by more than a hundred deviations here."""
    k = air.drag(PING_PONG)
    found = inferred(session(Case(6, 6, units={"drag": k}), 3), family.drag_prior(PING_PONG, 20.0))
    assert family.PAPER not in found.weights
    assert off(found.restitution(2.0), 0.85) < 3.3
    assert off(found.theta[:, 1], 3.5) < 3.3
    assert off(found.theta[:, NAMES.index("log_drag")], np.log(k)) < 3.3
    assert found.restitution(2.0).std() < 0.02


@pytest.mark.proof
def test_the_law_that_made_the_takes_has_the_weight_and_the_band() -> None:
    case = Case(6, 7, law=contact.linear, units={"slope": 0.04})
    found = inferred(session(case, 4))
    assert found.weights["constant"] < 0.01 and found.weights[family.PAPER] < 0.01
    for speed in (1.2, 2.0, 2.25):
        assert off(found.restitution(speed), 0.85 - 0.04 * (speed - 2.0)) < 3.3


@pytest.mark.proof
def test_a_ball_that_feels_no_air_and_loses_nothing_is_the_papers() -> None:
    """The prior of the drag of an unknown ball alone would draw its restitution up."""
    found = inferred(session(Case(6, 6), 5))
    assert found.weights[family.PAPER] == max(found.weights.values())
    paper = found.members[family.PAPER]
    drag, loss = NAMES.index("log_drag"), NAMES.index("tangential_loss")
    assert np.ptp(paper.theta[:, drag]) == 0.0 and not paper.theta[:, loss].any()
    assert parameters.values(paper.theta[:1]).drag < air.LEAST_DRAG
    assert off(found.restitution(2.0), 0.85) < 3.3
    assert off(found.theta[:, 1], 3.5) < 3.3


@pytest.mark.proof
def test_neither_the_order_of_takes_nor_the_clock_matters() -> None:
    """Draws differ with the search's rounding, so that means agree to a tenth of a deviation."""
    takes = session(Case(6, 6), 5)
    other = [replace(take, times=take.times + 3.0, places=take.places + 0.2) for take in takes]
    one, two = (
        posterior.explain(observations.grouped(each), Prior(), START, draw=np.random.default_rng(0))
        for each in (takes, other[::-1])
    )
    apart = np.abs(one.mean - two.mean)[:2] / np.sqrt(np.diag(one.covariance))[:2]
    # two of 200 effective draws each: a standard error of a tenth; four of them
    assert (apart < 0.4).all()


def test_the_prior_of_drag_is_that_of_the_size() -> None:
    centre, spread = family.drag_prior(PING_PONG, 20.0)
    assert centre == pytest.approx(np.log(0.132), abs=0.01)
    assert spread < 0.2 < UNKNOWN[1]
    colder = family.drag_prior(PING_PONG, 0.0)[0]
    assert colder - centre == pytest.approx(np.log(293.15 / 273.15), abs=1e-9)


def test_contacts_of_a_further_take_scatter_as_takes_do_and_keep_their_laws() -> None:
    theta = known_families.draws(
        20_000, restitution=0.8, slope=0.02, log_drag=-4.0, log_take_scatter=np.log(0.01)
    )
    number = np.arange(len(theta)) % 3
    known = known_families.family_of(theta, number)
    found = known.contacts(draw=np.random.default_rng(3))
    scatter = float(found.contact.restitution.std())
    assert scatter == pytest.approx(
        0.8 * 0.01, rel=4.0 / np.sqrt(2.0 * len(theta))
    )  # 4 errors of an sd
    np.testing.assert_array_equal(found.viscoelastic.numpy(), number == 2)
    np.testing.assert_allclose(found.drag.numpy(), np.exp(-4.0))


def test_a_simpler_law_is_searched_where_the_others_follow_what_is_absent() -> None:
    """Restitution 0.8 + 0.02 drag / 0.1, loss 0.1 of which half is seen as concentration."""
    whole = family.prior(family.LAWS["constant"], parameters.UNKNOWN_DRAG)
    free = list(whole.free)
    place = {
        name: free.index(parameters.NAMES.index(name)) for name in ("log_drag", "tangential_loss")
    }
    covariance = np.eye(len(free))
    covariance[0, place["log_drag"]] = covariance[place["log_drag"], 0] = 0.02
    covariance[1, place["tangential_loss"]] = covariance[place["tangential_loss"], 1] = 0.5
    point = whole.centre.copy()
    for name, value in (("restitution", 0.82), ("log_drag", np.log(0.1)), ("tangential_loss", 0.1)):
        point[parameters.NAMES.index(name)] = value
    mode = Mode(Density((), Paths((), np.zeros((1, 1, 1)), ()), whole, point), covariance, 0.0, 0.0)
    simple = family.prior(whole.law, parameters.UNKNOWN_DRAG, loses=False, air=False)
    found = family._reduced(mode, simple)
    assert found[0] == pytest.approx(0.80) and found[1] == pytest.approx(point[1] - 0.05)
    np.testing.assert_array_equal(found[simple.absent], simple.centre[simple.absent])
