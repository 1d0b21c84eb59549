"""Ranks of quantities: uniform for the right posterior, ties, invariances, what is caught."""

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import exchangeable_ranks

CASES, DRAWS = 400, 99


def conjugate(seed: int, *, divisor: float = 1.0, blind: bool = False):
    """theta ~ N(0, I_2), data = theta + n / 2: the posterior is N(0.8 data, 0.2 I)."""
    draw = np.random.default_rng(seed)
    truth = draw.normal(size=(CASES, 2))
    data = truth + 0.5 * draw.normal(size=(CASES, 2))
    sd = np.sqrt(0.2 / divisor)
    draws = 0.8 * data[:, None] + sd * draw.normal(size=(CASES, DRAWS, 2))
    if blind:
        draws = draw.normal(size=draws.shape)
    return truth, draws, data, draw


def joint(seed: int, **wrong: float) -> np.ndarray:
    truth, draws, _, draw = conjugate(seed, **wrong)
    distances = exchangeable_ranks.joint_distance(draws, truth)
    return exchangeable_ranks.ranks(*distances, draw=draw)


def fit(seed: int, *, blind: bool) -> np.ndarray:
    truth, draws, data, draw = conjugate(seed, blind=blind)
    new = truth + 0.5 * draw.normal(size=truth.shape)
    news = draws + 0.5 * draw.normal(size=draws.shape)
    return exchangeable_ranks.ranks(*exchangeable_ranks.misfit(news, new, data), draw=draw)


def p_value(ranks: np.ndarray) -> float:
    return float(stats.kstest(ranks, "uniform").pvalue)


def test_distances_are_the_same_in_whatever_pieces_they_are_found(monkeypatch) -> None:
    draw = np.random.default_rng(0)
    draws, truth = draw.normal(size=(11, 30, 4)), draw.normal(size=(11, 4))
    whole = exchangeable_ranks.joint_distance(draws, truth)
    monkeypatch.setattr(exchangeable_ranks, "_NUMBERS", 30 * 4 * 3)
    for one, other in zip(exchangeable_ranks.joint_distance(draws, truth), whole, strict=True):
        assert np.array_equal(one, other)


def test_quantities_of_the_right_posterior_are_uniform() -> None:
    # three tests at seeds where chance refuses none: each would at 1 % of all seeds
    truth, draws, _, draw = conjugate(1)
    ranks = exchangeable_ranks.ranks(draws, truth, draw=draw)
    assert min(p_value(ranks[:, 0]), p_value(joint(1)), p_value(fit(1, blind=False))) > 0.01


def test_the_joint_distance_refuses_half_of_the_variance() -> None:
    assert p_value(joint(2, divisor=2.0)) < 1e-6


def test_the_fit_alone_refuses_a_posterior_that_is_the_prior() -> None:
    truth, draws, _, draw = conjugate(3, blind=True)
    assert p_value(exchangeable_ranks.ranks(draws, truth, draw=draw)[:, 0]) > 0.01
    assert p_value(fit(3, blind=True)) < 1e-6


def test_ties_are_broken_by_lot() -> None:
    """Coins, of which the truth is one among a hundred: ranks spread over the tied draws."""
    draw = np.random.default_rng(4)
    coins = draw.integers(2, size=(CASES, DRAWS + 1)).astype(float)
    assert p_value(exchangeable_ranks.ranks(coins[:, 1:], coins[:, 0], draw=draw)) > 0.01


def test_the_joint_distance_does_not_depend_on_units() -> None:
    truth, draws, _, _ = conjugate(5)
    mixed = np.array([[1e-3, 2e-3], [5.0, -1.0]])
    before = exchangeable_ranks.joint_distance(draws[:20], truth[:20])
    after = exchangeable_ranks.joint_distance(draws[:20] @ mixed, truth[:20] @ mixed)
    np.testing.assert_allclose(after[0], before[0], rtol=1e-5, atol=1e-6)


def test_ranks_mirror_with_the_sign() -> None:
    """Without ties the ranks of -T are one less those of T, but for the place in the cell."""
    truth, draws, _, draw = conjugate(6)
    up = exchangeable_ranks.ranks(draws, truth, draw=draw)
    down = exchangeable_ranks.ranks(-draws, -truth, draw=draw)
    assert np.abs(up + down - 1.0).max() <= 1.0 / (DRAWS + 1)


@pytest.mark.parametrize("constant", [0.0, 3.0])
def test_a_constant_parameter_has_ranks_anywhere(constant: float) -> None:
    draws, truth = np.full((CASES, DRAWS, 1), constant), np.full((CASES, 1), constant)
    distances = exchangeable_ranks.joint_distance(draws, truth)
    ranks = exchangeable_ranks.ranks(*distances, draw=np.random.default_rng(7))
    assert p_value(ranks) > 0.01
