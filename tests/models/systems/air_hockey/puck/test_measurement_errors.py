"""What errors add to residuals against draws of them, and what is left of a law's scatter."""

from dataclasses import fields

import numpy as np
import pytest

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.puck import contact_frames, measurement_errors
from ricochet.models.systems.air_hockey.puck.measurement_errors import Errors
from ricochet.models.systems.air_hockey.puck.segmentation import Contacts
from ricochet.models.systems.air_hockey.table import Table
from tests.oracles.hockey_records import MALLET, WALL

TABLE = Table()
PUCK, MALLET_V, PLACE = 0.01, 0.02, 6e-4


def errors(shape: tuple[int, int] = (1, 2)) -> Errors:
    """Errors of one size throughout."""
    return Errors(*(np.full(shape, sd) for sd in (PLACE, PUCK, PLACE, MALLET_V)))


def contacts(before: np.ndarray, after: np.ndarray) -> Contacts:
    count = len(before)
    zeros, ones = np.zeros(count, int), np.ones(count, int)
    touch, pairs = np.zeros(count), np.tile((1.0, 0.0), (count, 1))
    return Contacts(zeros, zeros, ones, touch, pairs, before, after, pairs)


def law(matrix: np.ndarray, sd: float = 0.03) -> LinearGaussian:
    return LinearGaussian(matrix, np.zeros(2), sd**2 * np.eye(2))


@pytest.mark.parametrize(("matrix", "pairs"), [(WALL, 1), (MALLET, 2)])
def test_the_variance_is_that_of_residuals_of_drawn_errors(matrix, pairs):
    """20000 draws: a variance to 1 %, three errors; what is of second order adds little."""
    draw, count = np.random.default_rng(0), 20_000
    before = draw.normal(0.0, 1.0, 2 * pairs)
    after = matrix @ before
    found = measurement_errors.variance(
        law(matrix), contacts(before[None], after[None]), errors(), TABLE
    )[0]
    sds = np.repeat((PUCK, MALLET_V)[:pairs], 2)
    seen = before + sds * draw.standard_normal((count, 2 * pairs))
    left = after + PUCK * draw.standard_normal((count, 2))
    if pairs == 2:
        angle = np.hypot(PLACE, PLACE) / TABLE.contact_radius * draw.standard_normal(count)
        turn = np.array(((np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))))
        seen = np.einsum("ijk,kpj->kpi", turn, seen.reshape(-1, 2, 2)).reshape(-1, 4)
        left = np.einsum("ijk,kj->ki", turn, left)
    residual = left - seen @ matrix.T
    np.testing.assert_allclose(found, residual.var(0), rtol=0.04)


def test_mirrored_contacts_have_the_same_variance():
    draw = np.random.default_rng(1)
    before, after = draw.standard_normal((7, 4)), draw.standard_normal((7, 2))
    mirror = np.array((1.0, -1.0))
    one, other = (
        measurement_errors.variance(law(MALLET), contacts(b, a), errors(), TABLE)
        for b, a in ((before, after), (before * np.tile(mirror, 2), after * mirror))
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


def seen_banks(
    count: int, sd: np.ndarray, draw: np.random.Generator, scatter: float = 0.03
) -> tuple[Contacts, np.ndarray]:
    """Banks whose law scatters, seen with errors of those deviations, and variances they add."""
    before = draw.uniform(0.5, 2.0, (count, 2)) * (1.0, -0.8)
    size = contact_frames.sizes(before)
    after = before @ WALL.T + scatter * size * draw.standard_normal((count, 2))
    seen = before + sd[:, None] * draw.standard_normal((count, 2))
    left = after + sd[:, None] * draw.standard_normal((count, 2))
    added = sd[:, None] ** 2 * (1.0 + np.square(WALL).sum(1))
    return contacts(seen, left), added


def fitted(among: Contacts) -> LinearGaussian:
    """The law of the contacts as they were seen."""
    residual = (among.after - among.before @ WALL.T) / contact_frames.sizes(among.before)
    return LinearGaussian(WALL, np.zeros(2), residual.T @ residual / len(residual))


def test_the_scatter_of_contacts_is_what_is_left_of_that_of_residuals():
    """400 contacts whose law scatters by 0.03, seen with errors; a variance to 7 %."""
    among, added = seen_banks(400, np.full(400, PUCK), np.random.default_rng(2))
    found = measurement_errors.without(fitted(among), added, among)
    np.testing.assert_allclose(np.diag(found.covariance), 0.03**2, rtol=0.25)
    assert (np.diag(found.covariance) < np.diag(fitted(among).covariance)).all()


def test_contacts_known_well_say_most_among_many_known_badly():
    """30 of 120 contacts are known: the deviation to 13 %, where what was fitted is far above."""
    for seed in range(10):
        sd = np.repeat((1e-3, 0.1), (30, 90))
        among, added = seen_banks(120, sd, np.random.default_rng((3, seed)), scatter=0.01)
        law_seen = fitted(among)
        found = np.sqrt(np.diag(measurement_errors.without(law_seen, added, among).covariance))
        assert (np.sqrt(np.diag(law_seen.covariance)) > 0.05).all()
        np.testing.assert_allclose(found, 0.01, rtol=0.45)


def test_the_scatter_is_the_mean_of_its_posterior_by_a_fine_sum():
    among, added = seen_banks(12, np.full(12, 0.03), np.random.default_rng(4))
    law_seen = fitted(among)
    size = contact_frames.sizes(among.before)
    off = (among.after - among.before @ WALL.T) / size * np.sqrt(12 / (12 - 2))
    found = np.diag(measurement_errors.without(law_seen, added, among).covariance)
    for j in range(2):
        most = 2.0 * np.sqrt(law_seen.covariance[j, j])
        sd = (np.arange(20_000) + 0.5) / 20_000 * most
        total = sd[:, None] ** 2 + added[:, j] / size[:, j] ** 2
        density = np.prod(np.exp(-0.5 * off[:, j] ** 2 / total) / np.sqrt(total), axis=1)
        expected = (density * sd**2).sum() / density.sum()
        np.testing.assert_allclose(found[j], min(expected, law_seen.covariance[j, j]), rtol=0.02)


def test_contacts_that_do_not_count_change_nothing():
    among, added = seen_banks(60, np.full(60, PUCK), np.random.default_rng(5))
    half = Contacts(*(getattr(among, each.name)[:30] for each in fields(among)))
    weight = np.repeat((1.0, 0.0), 30)[:, None] * np.ones(2)
    counted = measurement_errors.without(law(WALL), added, among, weight=weight)
    alone = measurement_errors.without(law(WALL), added[:30], half)
    np.testing.assert_allclose(counted.covariance, alone.covariance, rtol=1e-12)


def test_errors_that_say_nothing_take_nothing_off_and_none_is_added():
    among = contacts(np.array([[1.0, 0.5]]), np.array([[-0.7, 0.4]]))
    left = measurement_errors.without(law(WALL), np.full((1, 2), 100.0), among).covariance
    np.testing.assert_allclose(left, law(WALL).covariance)
    among, _ = seen_banks(40, np.zeros(40), np.random.default_rng(6))
    same = measurement_errors.without(fitted(among), np.zeros((40, 2)), among).covariance
    np.testing.assert_allclose(same, fitted(among).covariance)
