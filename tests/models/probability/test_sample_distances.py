"""Distances of laws by samples: closed forms of normal laws, and what must not change them."""

import numpy as np
import pytest

from ricochet.models.probability import sample_distances


def samples(count: int, seed: int, mean: float = 0.0, sd: float = 1.0) -> np.ndarray:
    return mean + sd * np.random.default_rng(seed).normal(size=(count, 2))


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (1.0, 1.0), (0.0, 2.0), (0.5, 1.5)])
def test_the_divergence_of_normal_laws_is_theirs(mean: float, sd: float) -> None:
    """KL = d log(s) + (1 + m^2 - s^2) d / (2 s^2); by 4,000 samples to a twentieth or so."""
    expected = 2.0 * (np.log(sd) + (1.0 + mean**2) / (2.0 * sd**2) - 0.5)
    found = sample_distances.divergence(samples(4000, 1), samples(4000, 2, mean, sd))
    assert abs(found - expected) < 0.1


def test_neither_units_nor_a_turn_change_the_divergence() -> None:
    p, q = samples(200, 1), samples(300, 2, 0.3, 1.2)
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    found = sample_distances.divergence(p, q)
    assert sample_distances.divergence(1e3 * p @ turn, 1e3 * q @ turn) == pytest.approx(found)


def test_samples_that_are_repeated_or_few_are_refused() -> None:
    p = samples(20, 1)
    with pytest.raises(ValueError, match="must differ"):
        sample_distances.divergence(p, np.repeat(p[:1], 10, 0))
    with pytest.raises(ValueError, match="more than 3, not 3 and 20"):
        sample_distances.divergence(p[:3], p)


def test_the_discrepancy_of_normal_laws_is_theirs() -> None:
    """Kernels of normal laws are normal densities: E k = w^2/(w^2+2s^2) exp(-m^2/(w^2+2s^2))."""
    width, mean = 1.5, 0.7
    same = width**2 / (width**2 + 2.0)
    expected = 2.0 * same - 2.0 * same * np.exp(-2.0 * mean**2 / (2.0 * (width**2 + 2.0)))
    p, q = samples(3000, 1), samples(3000, 2, mean)
    assert sample_distances.mean_discrepancy(p, q, width) == pytest.approx(expected, abs=0.02)


def test_the_discrepancy_of_a_law_with_itself_is_nothing_on_average() -> None:
    found = [
        sample_distances.mean_discrepancy(samples(20, 2 * seed), samples(30, 2 * seed + 1), 1.0)
        for seed in range(200)
    ]
    assert abs(np.mean(found)) < 4.0 * np.std(found) / np.sqrt(len(found))
    assert min(found) < 0.0 < max(found)


def test_the_energy_score_is_least_on_average_for_the_law_itself() -> None:
    generator = np.random.default_rng(3)
    observed = generator.normal(size=(2000, 2))
    scores = [
        sample_distances.energy_score(sd * generator.normal(size=(30, 2000, 2)), observed).mean()
        for sd in (0.5, 1.0, 2.0)
    ]
    assert scores[1] < min(scores[0], scores[2])


def test_a_single_forecast_scores_its_distance() -> None:
    found = sample_distances.energy_score(np.full((1, 1, 2), 3.0), np.array([[0.0, -1.0]]))
    assert found.tolist() == [5.0]
