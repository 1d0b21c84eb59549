"""Rank, null directions and parameters at limits, where they are known."""

import numpy as np
import pytest

from ricochet.models.inference import identifiability

NAMES = ("a", "b", "c")


def shares(count: int = 500) -> np.ndarray:
    return np.random.default_rng(0).uniform(size=(count, 3))


def test_of_a_sum_of_two_the_difference_is_not_told() -> None:
    row = np.array([1.0, 1.0, 0.0])
    precision = 1e4 * (np.outer(row, row) + np.diag((0.0, 0.0, 1.0)))
    found = identifiability.of_posterior(precision, shares(), NAMES)
    assert found.rank == 2
    ((first, one), (second, other)) = found.null_directions[0].items()
    assert {first, second} == {"a", "b"} and one == pytest.approx(-other, abs=2e-3)


@pytest.mark.parametrize(("ratio", "rank"), [(2.9, 2), (3.1, 3)])
def test_told_is_what_halves_the_deviation(ratio: float, rank: int) -> None:
    """Precisions add: 12 and three times 12 are four times 12, half the deviation."""
    precision = np.diag((1e3, 1e3, ratio * identifiability.PRIOR))
    assert identifiability.of_posterior(precision, shares(), NAMES).rank == rank


def test_parameters_that_crowd_at_a_limit_are_named_and_uniform_ones_are_not() -> None:
    draws = shares()
    draws[:, 1] = 1.0 - 0.005 * draws[:, 1]
    assert identifiability.at_limits(draws, NAMES) == ["b high"]
    draws[:, 1] = 0.5 * draws[:, 1]
    assert identifiability.at_limits(draws, NAMES) == []


def test_a_parameter_that_is_known_well_next_to_a_limit_is_not_at_it() -> None:
    draws = shares()
    draws[:, 2] = 0.002 + 1e-4 * draws[:, 2]
    assert identifiability.at_limits(draws, NAMES) == []
    draws[:, 2] -= 0.002
    assert identifiability.at_limits(draws, NAMES) == ["c low"]


def test_more_data_tell_no_less() -> None:
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(5, 3)) * (1.0, 3.0, 30.0)
    ranks = [
        identifiability.of_posterior(rows[:n].T @ rows[:n], shares(), NAMES).rank for n in range(6)
    ]
    assert ranks == sorted(ranks) and ranks[0] == 0
