"""Statistics of criticism by hand, under their model, and against planted faults."""

import math

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import criticism


def test_tail_chances_by_hand() -> None:
    replicated = np.array([1.0, 2.0, 3.0, 4.0])
    # two of four are at least 3: (1 + 2) / 5; none is at least 9: 1 / 5; all: 1
    assert criticism.tail_probability(np.array(3.0), replicated) == pytest.approx(0.6)
    assert criticism.tail_probability(np.array(9.0), replicated) == pytest.approx(0.2)
    assert criticism.tail_probability(np.array(-9.0), replicated) == pytest.approx(1.0)


def test_two_sided_chances_by_hand() -> None:
    replicated = np.array([1.0, 2.0, 3.0, 4.0])
    assert criticism.two_sided(np.array(9.0), replicated) == pytest.approx(0.4)
    assert criticism.two_sided(np.array(-9.0), replicated) == pytest.approx(0.4)
    assert criticism.two_sided(np.array(2.5), replicated) == pytest.approx(1.0)


def test_tail_chances_of_many_statistics_are_as_if_alone() -> None:
    draw = np.random.default_rng(1)
    observed, replicated = draw.normal(size=3), draw.normal(size=(20, 3))
    together = criticism.two_sided(observed, replicated)
    alone = [criticism.two_sided(observed[n], replicated[:, n]) for n in range(3)]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("chance", [criticism.tail_probability, criticism.two_sided])
def test_chances_are_uniform_when_the_model_is_right(chance) -> None:
    draw = np.random.default_rng(2)
    found = [chance(draw.normal(), draw.normal(size=199)) for _ in range(400)]
    # steps of 1/200 (1/100 two-sided) add at most 0.01 to a Kolmogorov distance whose 99.9 %
    # point for 400 is 1.95 / 20 = 0.097
    assert stats.kstest(found, "uniform").statistic < 0.107


def test_overdispersion_by_hand() -> None:
    # median 3; squared deviations 4, 1, 0, 1, 49 over errors 1, 1, 1, 2, 1: 4, 1, 0, 1/4, 49
    values, errors = np.array([1.0, 2.0, 3.0, 4.0, 10.0]), np.array([1.0, 1.0, 1.0, 2.0, 1.0])
    assert criticism.overdispersion(values, errors) == pytest.approx(1.0)


def test_overdispersion_of_stated_errors_is_the_median_of_a_chi_square() -> None:
    draw = np.random.default_rng(3)
    errors = draw.uniform(0.5, 2.0, 20_000)
    values = 5.0 + errors * draw.normal(size=20_000)
    # median of chi2_1 = 0.455, its density there 0.47: 4 x 0.5 / (0.47 sqrt(20000)) = 0.03
    assert abs(criticism.overdispersion(values, errors) - stats.chi2.median(1)) < 0.03
    doubled = criticism.overdispersion(values, errors / 2)
    assert doubled == pytest.approx(4 * criticism.overdispersion(values, errors))


def test_overdispersion_knows_no_place_and_no_unit() -> None:
    draw = np.random.default_rng(4)
    values, errors = draw.normal(size=(3, 15)), draw.uniform(0.5, 1, (3, 15))
    moved = criticism.overdispersion(7 - 3 * values, 3 * errors)
    np.testing.assert_allclose(moved, criticism.overdispersion(values, errors), rtol=1e-9)


def test_separation_by_hand() -> None:
    # -1, 0, 10, 11: mean 5; total 36 + 25 + 25 + 36 = 122; between 4 x 5.5^2... = 4 * 25 ... = 121
    # groups -0.5 and 10.5 about 5: 2 x 5.5^2 x 2 = 121
    assert criticism.separation(np.array([11.0, -1.0, 10.0, 0.0])) == pytest.approx(121 / 122)
    # 0, 0, 0, 0, 9: two values a group at least: (0, 0, 0 | 0, 9) has means 0 and 4.5 about 1.8
    expected = (3 * 1.8**2 + 2 * 2.7**2) / (4 * 1.8**2 + 7.2**2)
    assert criticism.separation(np.array([0.0, 0.0, 9.0, 0.0, 0.0])) == pytest.approx(expected)


def test_separation_of_one_gaussian_is_two_over_pi() -> None:
    # cut at the mean: (E|x|)^2 = 2 / pi = 0.637; the best cut of 4000 adds less than 0.02
    values = np.random.default_rng(5).normal(size=4000)
    assert abs(criticism.separation(values) - 2 / math.pi) < 0.02


def test_separation_sees_two_groups_but_not_one_stray() -> None:
    draw = np.random.default_rng(6)
    groups = np.concatenate([draw.normal(0, 1, 8), draw.normal(8, 1, 12)])
    assert criticism.separation(groups) > 0.9
    stray = np.concatenate([draw.normal(0, 1, 19), [60.0]])
    assert criticism.separation(stray) < 0.75


def test_separation_of_a_batch_is_as_if_alone_and_equal_values_are_no_groups() -> None:
    values = np.random.default_rng(7).normal(size=(3, 9))
    alone = [criticism.separation(row) for row in values]
    np.testing.assert_allclose(criticism.separation(values), alone)
    assert criticism.separation(np.ones(6)) == 0.0


def test_fewer_than_four_values_have_no_groups() -> None:
    with pytest.raises(ValueError, match="four, got 3"):
        criticism.separation(np.zeros(3))


def test_a_trend_by_hand_and_its_mirror() -> None:
    values = np.array([1.0, 2.0, 4.0, 3.0, 5.0, 6.0])
    # one neighbouring swap: rho = 1 - 6 x 2 / (6 x 35) = 0.943; t = rho sqrt(4 / (1 - rho^2))
    rho = 1 - 12 / 210
    expected = 2 * stats.t.sf(rho * math.sqrt(4 / (1 - rho**2)), 4)
    assert criticism.trend(values) == pytest.approx(expected)
    assert criticism.trend(-values) == pytest.approx(expected)
    assert criticism.trend(np.exp(values)) == pytest.approx(expected)


def test_trend_chances_are_uniform_for_exchangeable_drops() -> None:
    draw = np.random.default_rng(8)
    found = [criticism.trend(draw.standard_t(3, size=20)) for _ in range(300)]
    # Kolmogorov: 99.9 % point 1.95 / sqrt(300) = 0.113
    assert stats.kstest(found, "uniform").statistic < 0.113


def test_a_drift_of_two_standard_deviations_is_nearly_always_seen() -> None:
    draw = np.random.default_rng(9)
    drift = np.linspace(0, 4, 20)
    found = [criticism.trend(drift + draw.normal(size=20)) < 0.0025 for _ in range(100)]
    assert sum(found) >= 85  # measured over 5000: 95 %; binomial sd 2.2
