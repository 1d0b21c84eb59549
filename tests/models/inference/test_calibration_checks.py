"""Checks of a posterior: pass for the right one, catch wrong ones, invariances."""

import math

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import calibration_checks


def conjugate(seed: int, *, widen: float = 1.0, shift: float = 0.0, cases: int = 600):
    """theta ~ N(0, 1), x = theta + n: the posterior is N(x / 2, 1 / 2); here it may be spoilt."""
    draw = np.random.default_rng(seed)
    theta = draw.normal(size=cases)
    mean = (theta + draw.normal(size=cases)) / 2.0 + shift
    sd = widen * math.sqrt(0.5)
    samples = mean[:, None] + sd * draw.normal(size=(cases, 199))
    density = -(((samples - mean[:, None]) / sd) ** 2)
    return theta, samples, density, -(((theta - mean) / sd) ** 2), draw


def test_the_exact_posterior_passes_every_check() -> None:
    theta, samples, density, at_truth, draw = conjugate(1)
    ranks = calibration_checks.ranks(samples[..., None], theta[:, None], draw=draw)[:, 0]
    found = calibration_checks.uniformity(ranks)
    assert found.kolmogorov_p_value > 0.01 and found.chi_square_p_value > 0.01
    assert (abs(found.counts - found.expected) < found.tolerance).all()
    rows = calibration_checks.coverage(calibration_checks.credibility(density, at_truth))
    # each 95 % interval misses by chance in one of twenty; a seed at which none does
    assert all(row.low <= row.nominal <= row.high for row in rows)
    # equal to the closed form: the region of mass m is |theta - mean| < sd * quantile
    closed = stats.chi2.cdf(-at_truth, 1)
    # 199 samples: a standard error of at most 0.5 / sqrt(199) = 0.035 each; 4.5 of them over 600
    np.testing.assert_allclose(calibration_checks.credibility(density, at_truth), closed, atol=0.16)


@pytest.mark.parametrize("widen, shift", [(0.6, 0.0), (1.7, 0.0), (1.0, 0.4)])
def test_an_overconfident_a_vague_and_a_biased_posterior_are_caught(
    widen: float, shift: float
) -> None:
    theta, samples, density, at_truth, draw = conjugate(2, widen=widen, shift=shift)
    ranks = calibration_checks.ranks(samples[..., None], theta[:, None], draw=draw)[:, 0]
    assert calibration_checks.uniformity(ranks).chi_square_p_value < 1e-4
    rows = calibration_checks.coverage(calibration_checks.credibility(density, at_truth))
    assert not all(row.low <= row.nominal <= row.high for row in rows)


def test_rejections_of_a_uniform_law_are_as_rare_as_stated() -> None:
    draw = np.random.default_rng(3)
    found = [calibration_checks.uniformity(draw.random(300)) for _ in range(150)]
    rejected = sum(one.chi_square_p_value < 0.1 for one in found)
    # binomial: 15 expected, sd sqrt(150 * 0.09) = 3.7; three of them
    assert abs(rejected - 15) < 11
    outside = sum((abs(one.counts - one.expected) > one.tolerance).any() for one in found)
    assert outside <= 6  # 1.5 expected; Poisson tail beyond 6 is 1e-3


def test_ranks_do_not_change_under_a_monotone_map_and_mirror_under_a_falling_one() -> None:
    theta, samples, *_ = conjugate(4, cases=50)
    plain, mapped, mirrored = (
        calibration_checks.ranks(
            some[..., None], truth[:, None], draw=np.random.default_rng(1)
        )[:, 0]
        for some, truth in (
            (samples, theta), (np.exp(samples), np.exp(theta)), (-samples, -theta)
        )
    )  # fmt: skip
    np.testing.assert_array_equal(plain, mapped)
    np.testing.assert_allclose(plain + mirrored, 1.0, atol=1.0 / 200 + 1e-12)


def test_coverage_interval_is_the_clopper_pearson_one() -> None:
    levels = np.r_[np.zeros(45), np.ones(5)]
    row = calibration_checks.coverage(levels, nominal=(0.9,))[0]
    assert row.found == 0.9
    assert math.isclose(row.low, stats.beta.ppf(0.025, 45, 6))
    assert math.isclose(row.high, stats.beta.ppf(0.975, 46, 5))


@pytest.mark.wrong_types
def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="samples"):
        calibration_checks.ranks(
            np.zeros((3, 5, 2)), np.zeros((3, 1)), draw=np.random.default_rng(0)
        )
    with pytest.raises(ValueError, match="levels"):
        calibration_checks.uniformity(np.array([0.2, 1.2]))
