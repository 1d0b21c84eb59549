"""The permutation of signs of paired differences."""

import numpy as np
import pytest
from scipy import stats

from ricochet.models.inference import sign_flips

TEN = np.array([3.0, -1.0, 2.0, 0.5, 4.0, -2.0, 1.0, 1.5, -0.5, 2.5])


def exact(differences: np.ndarray) -> float:
    """Return the p-value of all signs, by scipy."""
    found = stats.permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    )
    return float(found.pvalue)


def test_few_pairs_are_counted_exactly():
    assert sign_flips.p_value(TEN) == pytest.approx(exact(TEN), abs=1e-12)


def test_many_pairs_are_counted_from_random_signs():
    differences = np.concatenate([TEN, -0.6 * TEN[:6]])
    whole = exact(differences)
    # Three standard errors of so many random signs.
    tolerance = 3.0 * np.sqrt(whole * (1.0 - whole) / sign_flips.FLIPS) + 1e-4
    assert sign_flips.p_value(differences) == pytest.approx(whole, abs=tolerance)


def test_units_do_not_matter_and_the_other_side_is_the_rest():
    assert sign_flips.p_value(7.0 * TEN) == sign_flips.p_value(TEN)
    assert sign_flips.p_value(-TEN) + sign_flips.p_value(TEN) >= 1.0


def test_equal_rows_do_not_differ():
    """Under no difference p is at most 0.1 in about a tenth of 200 sets of 12 pairs."""
    draw = np.random.default_rng(1)
    found = [sign_flips.p_value(draw.normal(size=12)) for _ in range(200)]
    assert abs(np.mean(np.array(found) < 0.1) - 0.1) < 3 * np.sqrt(0.09 / 200)
