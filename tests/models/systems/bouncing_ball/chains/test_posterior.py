"""The posterior of one law from simulated sessions."""

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import contact, problem
from ricochet.models.systems.bouncing_ball.calibration import posterior as three_bounces
from ricochet.models.systems.bouncing_ball.chains import observations, parameters, posterior
from ricochet.models.systems.bouncing_ball.chains.parameters import NAMES, Prior
from ricochet.models.systems.bouncing_ball.features import form_features
from tests.oracles.simulated_chains import Case, session

START = [0.84, 3.3, 0.0, -5.0, 0.0, -4.0, -3.5, -6.0, -7.0, -2.3, 0.0, 0.0]


def explained(case: Case, seed: int, prior: Prior | None = None) -> posterior.Member:
    chains = observations.grouped(session(case, seed))
    draw = np.random.default_rng(0)
    return posterior.explain(chains, prior or Prior(law=case.law), np.array(START), draw=draw)


def errors(member: posterior.Member, truth: dict[str, float]) -> dict[str, float]:
    """Return errors in posterior deviations."""
    sd = np.sqrt(np.diag(member.covariance))
    numbers = {name: NAMES.index(name) for name in truth}
    return {name: (member.mean[i] - truth[name]) / sd[i] for name, i in numbers.items()}


PLAIN = {"restitution": 0.85, "log10_concentration": 3.5, "tangential_loss": 0.0}


@pytest.mark.proof
@pytest.mark.slow
def test_ten_bounces_tell_concentration_much_better_than_three() -> None:
    """The same recordings: at most 0.6 of the deviation of the exact posterior of three bounces."""
    case = Case(10, 10)
    takes = session(case, 60)
    times = torch.tensor(np.array([take.times[:3] for take in takes]))
    places = torch.tensor(np.array([take.places[:3] for take in takes]))
    noise, release = problem.constant_noise((10,)), problem.constant_release((10,), height_sd=5e-3)
    exact = three_bounces.posterior(form_features(times, places), noise, release)
    member = explained(case, 60)
    ratio = np.sqrt(member.covariance[1, 1] / exact.covariance[1, 1])
    assert ratio < 0.6
    assert abs(errors(member, PLAIN)["log10_concentration"]) < 3.3


def test_a_point_outside_of_the_prior_has_no_density() -> None:
    theta = np.array([START, START, START])
    theta[1, 0], theta[2, 7] = 1.2, 20.0
    found = Prior().log_density(theta)
    assert np.isfinite(found[0]) and found[1] == found[2] == -np.inf


def test_the_prior_is_a_density() -> None:
    """Its mass by importance sampling from itself, box and six deviations: 1 to a thousandth."""
    prior, draw = Prior(law=contact.linear), np.random.default_rng(1)
    free = prior.free[2:]
    theta = np.tile(prior.centre, (20_000, 1))
    theta[:, :2] = draw.uniform(*parameters.BOX, (20_000, 2))
    theta[:, free] += prior.spread[free] * draw.standard_normal((20_000, len(free)))
    z = (theta[:, free] - prior.centre[free]) / prior.spread[free]
    drawn = -0.5 * (z**2).sum(1) - np.log(prior.spread[free]).sum()
    drawn = drawn - 0.5 * len(free) * np.log(2 * np.pi)
    drawn = drawn - np.log(np.prod(parameters.BOX[1] - parameters.BOX[0]))
    np.testing.assert_allclose(np.exp(prior.log_density(theta) - drawn).mean(), 1.0, atol=1e-3)
