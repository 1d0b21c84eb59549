"""Errors of an array that were drawn from their prior are found without a bias."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.sound import array_errors
from ricochet.models.systems.bouncing_ball.chains import (
    family,
    laplace,
    observations,
    parameters,
    preparation,
)
from ricochet.models.systems.bouncing_ball.chains.observations import SHARED
from tests.oracles import prior_chains

SESSIONS = 16
UNKNOWN = family.drag_prior(None, 20.0)


def _error_over_sd(seed: int, *, areas: float = 1.0) -> np.ndarray:
    """Return how far the most likely shared errors at the true parameters are from the true."""
    session = prior_chains.session(10, 6, seed=seed)
    takes = [replace(take, areas=areas * take.areas) for take in session.takes]
    prior = family.members(UNKNOWN)[session.member]
    values = parameters.values(session.theta[None])
    groups, paths = preparation.prepare(observations.grouped(takes), prior.law, values)
    found = laplace.evidence(groups, values, paths).paths
    covariance = laplace.shared_covariance(groups, session.theta, found)[0]
    return (found.shared[0, 0] - session.shared) / np.sqrt(np.diag(covariance))


@pytest.mark.proof
def test_the_speed_of_sound_is_not_drawn_to_where_places_are_squeezed() -> None:
    """Without the areas it is."""
    names = (*SHARED, *array_errors.errors(len(prior_chains.ARRAY.positions)).names)
    number = names.index(array_errors.SPEED)
    errors = np.array([_error_over_sd(seed) for seed in range(SESSIONS)])
    blind = np.array([_error_over_sd(seed, areas=0.0) for seed in range(SESSIONS)])
    # four standard errors of a median of so many
    assert abs(np.median(errors[:, number])) < 4.0 * 1.25 / np.sqrt(SESSIONS)
    assert np.median(blind[:, number]) < np.median(errors[:, number]) - 1.0
