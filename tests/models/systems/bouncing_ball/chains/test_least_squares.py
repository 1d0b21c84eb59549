"""Residuals of paths: derivatives against differences, and what a perfect path leaves."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball import contact
from ricochet.models.systems.bouncing_ball.chains import least_squares, observations, preparation
from tests.oracles.simulated_chains import Case, session, values

UNITS = {"drag": 0.13, "tangential_loss": 0.2, "slope": 0.02, "take_scatter": 0.01}
CASE = Case(takes=3, bounces=5, height=0.5, tilt=(0.01, -0.02), units=UNITS)


@pytest.fixture(scope="module", params=[contact.linear, contact.viscoelastic])
def found(request):
    draw = np.random.default_rng(1)
    distortion, areas = draw.normal(0.0, 0.01, (5, 2, 4)), draw.normal(0.0, 0.05, (5, 4))
    takes = [replace(take, distortion=distortion, areas=areas) for take in session(CASE, 3)]
    units = values(tail_share=0.1, scatter=3e-3, **UNITS)
    chains = observations.grouped(takes)
    groups, paths = preparation.prepare(chains, request.param, units)
    shared = np.random.default_rng(2).normal(0.0, 0.3, (1, 3, 4))
    return groups[0], paths.takes[0], shared, units


def _differences(function, at: np.ndarray) -> np.ndarray:
    columns = []
    for number in range(at.shape[-1]):
        step = 1e-6 * np.eye(at.shape[-1])[number]
        columns.append((function(at + step) - function(at - step)) / 2e-6)
    return np.stack(columns, -1)


def test_derivatives_are_those_of_differences(found) -> None:
    """But for the weight of wide redirections, which Gauss and Newton's rule keeps as it is."""
    group, path, shared, units = found
    plain = replace(units, tail_share=np.array([1e-12]))
    here = least_squares.problem(group, path, shared, plain)

    def by_path(at):
        return least_squares.problem(group, at, shared, plain).residual

    def by_shared(at):
        return least_squares.problem(group, path, at, plain).residual

    scale = np.abs(here.by_path).max()
    np.testing.assert_allclose(_differences(by_path, path), here.by_path, atol=2e-5 * scale)
    scale = np.abs(here.by_shared).max()
    np.testing.assert_allclose(_differences(by_shared, shared), here.by_shared, atol=2e-4 * scale)


def test_the_gradient_of_the_squares_is_that_of_the_log_density(found) -> None:
    """With wide redirections too: their weight makes it so."""
    group, path, shared, units = found
    here = least_squares.problem(group, path, shared, units)
    gradient = (here.by_path.swapaxes(-1, -2) @ here.residual[..., None])[..., 0] + here.pull

    def cost(at):
        return least_squares.problem(group, at, shared, units).half_squares

    scale = np.abs(here.by_path).max()
    np.testing.assert_allclose(_differences(cost, path), gradient, atol=1e-5 * scale)


def test_without_noise_the_simulated_path_leaves_nothing() -> None:
    """Times and places of drops without redirection, from a height that is known."""
    still = {"concentration": np.inf, "release_speed": 0.1}
    case = Case(takes=4, bounces=6, time_sd=1e-9, place_sd=1e-9, units=still | {"drag": 0.13})
    takes = [
        replace(take, time_sd=np.full(6, 1e-4), place_sd=np.full(6, 5e-3))
        for take in session(case, 5)
    ]
    units = values(concentration=1e5, drag=0.13, scatter=1e-3)
    groups, paths = preparation.prepare(observations.grouped(takes), contact.constant, units)
    shared = np.zeros((1, 4, 3))
    found = least_squares.problem(groups[0], paths.takes[0], shared, units)
    rows = slice(0, 3 * 6)
    # the release speed alone draws the path off, by a share of a standard deviation
    assert np.abs(found.residual[..., rows]).max() < 0.2
