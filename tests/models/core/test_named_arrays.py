"""Stored arrays come back as they were, or are refused by name."""

import numpy as np
import pytest

from ricochet.models.core.named_arrays import length, take

ARRAYS = {"weights": np.array([[1.0, 2.0]]), "mask": np.array([True, False])}


def test_an_array_of_the_expected_shape_is_returned() -> None:
    np.testing.assert_array_equal(take(ARRAYS, "weights", (1, 2)), ARRAYS["weights"])
    assert take(ARRAYS, "mask", (2,), dtype=bool).dtype == np.bool_


def test_a_view_is_made_contiguous() -> None:
    assert take({"a": np.ones((3, 4)).T}, "a", (4, 3)).flags.c_contiguous


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        ("bias", (1, 2), "bias: is missing"),
        (
            "weights",
            (2, 1),
            r"weights: must be finite and of shape \(2, 1\) and float64, got \(1, 2\)",
        ),
    ],
)
def test_what_is_missing_or_of_another_shape_is_refused(
    name: str, shape: tuple[int, ...], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        take(ARRAYS, name, shape)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="weights: must be finite"):
        take({"weights": np.array([0.0, bad])}, "weights", (2,))


def test_numbers_of_another_type_are_refused_before_anything_is_made_of_them() -> None:
    with pytest.raises(ValueError, match=r"got \(2,\) and uint8"):
        take({"weights": np.zeros(2, np.uint8)}, "weights", (2,))


def test_more_numbers_than_there_may_be_are_refused() -> None:
    assert length({"share": np.ones(3)}, "share", most=3) == 3
    assert length({}, "share", most=3) == 1  # `take` says that it is missing
    with pytest.raises(ValueError, match="share: must have at most 2 numbers, got 3"):
        length({"share": np.ones(3)}, "share", most=2)
