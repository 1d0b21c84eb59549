"""Contacts beside one another: errors by the points that carry them, and what changes nothing."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball.calibration import family_agreement
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws

KAPPA = "log10 concentration"


def contact(level: np.ndarray) -> ContactDraws:
    """Draws all of whose columns are functions of one number."""
    z = torch.from_numpy(level)
    columns = Contact(
        0.85 + 2e-4 * z, 10.0 ** (3.5 + 0.08 * z), 0.01 * z, 0.02 * z, torch.sigmoid(z - 4.0),
        torch.exp(0.1 * z - 3.5), torch.exp(0.3 * z - 6.0),
    )  # fmt: skip
    return ContactDraws(columns, torch.zeros(len(z), dtype=torch.bool), torch.exp(0.1 * z - 2.0))


def copies(points: int, draw: np.random.Generator, *, count: int = 4000):
    """An answer that some equal points carry: its draws, and of which point each is a copy."""
    number = np.arange(count) % points
    return contact(draw.standard_normal(points)[number]), number


def test_the_errors_of_equal_points_are_those_of_the_textbook():
    """Two means of n points are sqrt(2/n) apart, two normal deviations' logarithms sqrt(1/n)."""
    draws, points = copies(400, np.random.default_rng(1))
    for each in family_agreement.compare(draws, draws, points):
        assert each.shift == each.log_ratio == 0.0
        assert each.shift_sd == pytest.approx((2.0 / 400) ** 0.5, rel=1e-9)
        # the fourth moment of 400 normal numbers is known to sqrt(96 / 400) of 3, 16 % here
        if each.name == KAPPA:
            assert each.log_ratio_sd == pytest.approx((1.0 / 400) ** 0.5, rel=0.3)


def test_answers_of_other_points_are_apart_as_far_as_is_said():
    draw, z = np.random.default_rng(2), []
    for _ in range(100):
        (one, _), (two, points) = copies(200, draw), copies(200, draw)
        rows = {each.name: each for each in family_agreement.compare(one, two, points)}
        z.append((rows[KAPPA].shift / rows[KAPPA].shift_sd,
                  rows[KAPPA].log_ratio / rows[KAPPA].log_ratio_sd))  # fmt: skip
    # the mean of 100 squares of standard normal numbers: 1 +- 0.14, four of them
    assert np.mean(np.square(z), axis=0) == pytest.approx([1.0, 1.0], abs=0.57)


def test_neither_the_order_of_draws_nor_the_numbering_of_points_matters():
    draw = np.random.default_rng(3)
    claimed, (measured, points) = contact(draw.standard_normal(1000)), copies(100, draw)
    order, names = draw.permutation(4000), draw.permutation(100)
    one = family_agreement.compare(claimed, measured, points)
    two = family_agreement.compare(claimed, measured.rows(order), names[points][order])
    for each, other in zip(one, two, strict=True):
        numbers = [[value for value in list(vars(row).values())[1:]] for row in (each, other)]
        np.testing.assert_allclose(numbers[0], numbers[1], rtol=1e-9, atol=1e-12)


def test_a_shift_and_a_squeeze_are_read_in_the_measured_deviations():
    draws, points = copies(200, np.random.default_rng(4))
    kappa = torch.log10(draws.contact.concentration)
    narrow = kappa.mean() + 0.5 * (kappa - kappa.mean()) + 0.3 * kappa.std(correction=0)
    changed = replace(draws, contact=replace(draws.contact, concentration=10.0**narrow))
    rows = family_agreement.compare(changed, draws, points)
    for each in rows:
        expected = (0.3, np.log(0.5)) if each.name == KAPPA else (0.0, 0.0)
        np.testing.assert_allclose((each.shift, each.log_ratio), expected, atol=1e-9)
    assert len(rows) == 8


def test_claimed_draws_that_are_all_alike_are_far_too_narrow():
    draws, points = copies(200, np.random.default_rng(5))
    alike = draws.rows(np.zeros(50, dtype=int))
    assert all(each.log_ratio < -10.0 for each in family_agreement.compare(alike, draws, points))
