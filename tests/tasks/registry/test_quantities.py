"""The numbers of a package: its moments, and the intervals of its draws."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.tasks.registry import quantities
from ricochet.tasks.registry.quantities import Quantity


def test_moments_give_normal_intervals_and_samples_their_own(package):
    mean, covariance = np.array([0.8, 3.0]), np.diag([1e-4, 0.04])
    plain = replace(package, arrays={"mean": mean, "covariance": covariance})
    first, second = quantities.of_package(plain)
    assert (first.name, first.mean, first.sd) == ("restitution", 0.8, pytest.approx(0.01))
    assert second.high - second.mean == pytest.approx(1.6449 * 0.2)
    samples = np.stack([np.linspace(0.0, 1.0, 101), np.linspace(2.0, 4.0, 101)], -1)
    first, second = quantities.of_package(
        replace(plain, arrays={**plain.arrays, "samples": samples})
    )
    assert (first.low, first.high) == pytest.approx((0.05, 0.95))
    assert (second.low, second.high) == pytest.approx((2.1, 3.9))


def test_a_package_without_moments_has_no_numbers(package):
    assert quantities.of_package(replace(package, arrays={})) == ()


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Quantity("restitution", "1", 0.85, 0.00034, 0, 0), "0.85000 +- 0.00034"),
        (Quantity("drag", "1/m", 0.1234, 0.02, 0, 0), "0.123 +- 0.020 1/m"),
        (Quantity("mass", "kg", 1234.0, 150.0, 0, 0), "1234 +- 150 kg"),
        (Quantity("held-out log density", "nats", 3.25518), "3.26 nats"),
        (Quantity("share lost", "1", 0.01234), "0.0123"),
    ],
)
def test_a_number_shows_two_digits_of_its_deviation(quantity, text):
    assert quantity.text == text


def test_a_score_has_no_interval():
    assert Quantity("share lost", "1", 0.01).interval == ""
    assert Quantity("drag", "1/m", 0.12, 0.02, 0.1, 0.15).interval == "0.1 to 0.15"
