"""Sessions drawn from the priors, and how their ranks are counted."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.bouncing_ball import whole_takes_coverage
from benchmarks.bouncing_ball.whole_takes_coverage import Job, Outcome
from ricochet.models.systems.bouncing_ball.chains import family
from ricochet.models.systems.bouncing_ball.chains.parameters import BOX, NAMES
from tests.oracles import prior_chains

DRAG = family.drag_prior(None, 20.0)


@pytest.mark.parametrize("member", list(family.members(DRAG)))
def test_coordinates_have_the_laws_of_the_prior(member: str) -> None:
    prior, draw = family.members(DRAG)[member], np.random.default_rng(1)
    theta = np.array([prior_chains.theta_of(prior, draw) for _ in range(1000)])
    assert np.isfinite(prior.log_density(theta)).all()
    for number, name in enumerate(NAMES):
        if number not in prior.free:
            assert (theta[:, number] == prior.centre[number]).all()
            continue
        centre, spread = prior.centre[number], prior.spread[number]
        expected = stats.norm(centre, spread)
        if number < 2:
            expected = stats.uniform(BOX[0, number], np.ptp(BOX[:, number]))
        # twelve coordinates of nine members at 1e-3 / 108 each: a false alarm in a thousand runs
        assert stats.kstest(theta[:, number], expected.cdf).pvalue > 1e-3 / 108, name


def test_a_session_has_its_takes_and_a_seed_is_a_session() -> None:
    found, again = (prior_chains.session(5, 4, seed=3) for _ in range(2))
    assert [take.times.shape for take in found.takes] == [(4,)] * 5
    np.testing.assert_array_equal(found.takes[0].places, again.takes[0].places)
    np.testing.assert_array_equal(found.theta, again.theta)
    shortest = min(np.diff(take.times).min() for take in found.takes)
    assert shortest > prior_chains.SHORTEST


def test_rows_say_how_many_intervals_hold_the_truth() -> None:
    even = (np.arange(20) + 0.5) / 20
    outcomes = [
        Outcome([rank, 0.5], [1.0, 0.0], ["tilt"] if rank < 0.1 else [], False)
        for rank in even.tolist()
    ]
    restitution, concentration, findings = whole_takes_coverage.lines(outcomes)
    assert "50%: 0.50 (0.27 to 0.73)" in restitution and "90%: 0.90" in restitution
    assert "off by 0.03" in restitution and "error over sd 1.00" in restitution
    assert "50%: 1.00" in concentration and "off by 0.50" in concentration
    assert findings == "findings: tilt 0.10"
    assert whole_takes_coverage.lines([]) == []


@pytest.mark.proof
def test_a_session_is_inferred_and_ranked() -> None:
    found = whole_takes_coverage.outcome(Job(seed=9, takes=5, bounces=4))
    assert all(0.0 <= rank <= 1.0 for rank in found.ranks)
    assert found.weak or np.abs(found.errors).max() < 6.0
