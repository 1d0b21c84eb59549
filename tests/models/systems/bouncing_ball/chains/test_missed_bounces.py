"""Missed bounces: the likelihood integrates over them as importance sampling does."""

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball import contact
from ricochet.models.systems.bouncing_ball.chains import missed_bounces, observations, preparation
from ricochet.models.systems.bouncing_ball.chains.observations import Take
from tests.oracles import chain_likelihood
from tests.oracles.simulated_chains import Case, session, values

COLUMNS = ("times", "places", "time_sd", "place_sd", "distortion", "areas")


def missed(take: Take, number: int) -> Take:
    """Return a take without one of its bounces, put in again as a missed one."""
    kept = {name: np.delete(getattr(take, name), number, axis=0) for name in COLUMNS}
    return missed_bounces.inserted(Take(**(vars(take) | kept)), (number - 1,))


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3])
def test_the_likelihood_is_the_integral_over_the_missed_bounce(number: int) -> None:
    case = Case(takes=25, bounces=6, time_sd=3e-5, place_sd=2e-3)
    takes = [missed(take, number) for take in session(case, 7)]
    groups, paths = preparation.prepare(observations.grouped(takes), contact.constant, values())
    ours, slow, error = chain_likelihood.of_takes(groups, values(), paths)
    # as for chains without a missed bounce: 0.15 nats of Laplace's rule, and four errors
    assert (np.abs(ours - slow) < 0.15 + 4.0 * error).all()
    assert abs(np.median(ours - slow)) < 0.05


def test_the_guess_is_the_bounce_where_intervals_shrink_evenly() -> None:
    times = np.append(0.0, np.cumsum(0.4 * 0.8 ** np.arange(6)))
    places = np.outer(times, [0.1, 0.0])
    still = np.zeros((7, 2, 3))
    whole = Take(
        times, places, np.full(7, 1e-4), np.full(7, 1e-3), 0.3, 0.01, 0, still, still[:, 0]
    )
    found = missed(whole, 3)
    np.testing.assert_allclose(found.times, whole.times)
    np.testing.assert_allclose(found.places, whole.places)
    assert np.isinf(found.time_sd[3]) and np.isfinite(np.delete(found.time_sd, 3)).all()


def test_nothing_missed_is_the_take_itself() -> None:
    take = session(Case(takes=1, bounces=5), 1)[0]
    found = missed_bounces.inserted(take, ())
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(take, name))


@pytest.mark.parametrize("number", [-1, 4])
def test_a_bounce_that_is_not_there_is_refused(number: int) -> None:
    take = session(Case(takes=1, bounces=5), 1)[0]
    with pytest.raises(ValueError, match="missing"):
        missed_bounces.inserted(take, (number,))
