"""Tempered particles against laws in closed form."""

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import tempered_particles


def normal(x: np.ndarray) -> np.ndarray:
    """A normal law well inside the cube, correlated by 0.9."""
    u = (x[:, :2] - np.array((0.4, 0.6))) / np.array((0.01, 0.002))
    return -0.5 * (u[:, 0] ** 2 - 1.8 * u[:, 0] * u[:, 1] + u[:, 1] ** 2) / (1.0 - 0.81)


def test_a_normal_law_has_its_moments_and_what_is_unidentified_keeps_its_prior() -> None:
    found = tempered_particles.sample(normal, 3, np.random.default_rng(0), particles=1000)
    assert found.shape == (4000, 3)
    # 4000 draws worth about 1000: three standard errors are 0.095 deviations, and 7 % of one
    np.testing.assert_allclose(found.mean(0)[:2], (0.4, 0.6), atol=0.00095)
    np.testing.assert_allclose(found.std(0)[:2], (0.01, 0.002), rtol=0.07)
    assert np.corrcoef(found[:, :2].T)[0, 1] == pytest.approx(0.9, abs=0.02)
    # uniform: the distance of Kolmogorov of 1000 draws exceeds 0.062 in one of a thousand
    assert stats.kstest(found[:, 2], "uniform").statistic < 0.062


def test_a_law_that_a_limit_cuts_off_is_that_of_the_rest() -> None:
    found = tempered_particles.sample(
        lambda x: -x[:, 0] / 0.02, 1, np.random.default_rng(1), particles=1000
    )
    # exponential: mean and deviation 0.02
    assert stats.kstest(found[:, 0], "expon", (0.0, 0.02)).statistic < 0.062


def test_two_modes_have_their_shares() -> None:
    def two(x: np.ndarray) -> np.ndarray:
        low, high = (-0.5 * ((x[:, 0] - at) / 0.02) ** 2 for at in (0.2, 0.8))
        return np.logaddexp(low, high + np.log(3.0))

    found = tempered_particles.sample(two, 1, np.random.default_rng(2), particles=2000)
    assert (found > 0.5).mean() == pytest.approx(0.75, abs=0.05)


def test_a_constant_in_the_likelihood_changes_nothing() -> None:
    first, second = (
        tempered_particles.sample(
            lambda x, c=c: normal(x) + c, 2, np.random.default_rng(3), particles=200
        )
        for c in (0.0, -1e4)
    )
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_a_likelihood_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="log_likelihood nan"):
        tempered_particles.sample(
            lambda x: np.full(len(x), np.nan), 1, np.random.default_rng(0), particles=10
        )


def test_progress_ends_with_all() -> None:
    seen: list[tuple[int, int]] = []
    tempered_particles.sample(
        normal, 2, np.random.default_rng(0), particles=100, progress=lambda *at: seen.append(at)
    )
    assert seen[-1][0] == seen[-1][1] and sorted(seen) == seen
