"""What errors add to residuals against draws of them, and what is left of a law's scatter."""

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


def test_the_scatter_of_contacts_is_what_is_left_of_that_of_residuals():
    """400 contacts whose law scatters by 0.03, seen with errors; a variance to 7 %."""
    draw, count = np.random.default_rng(2), 400
    before = draw.uniform(0.5, 2.0, (count, 2)) * (1.0, -0.8)
    size = contact_frames.sizes(before)
    after = before @ WALL.T + 0.03 * size * draw.standard_normal((count, 2))
    seen = before + PUCK * draw.standard_normal((count, 2))
    left = after + PUCK * draw.standard_normal((count, 2))
    residual = (left - seen @ WALL.T) / contact_frames.sizes(seen)
    fitted = LinearGaussian(WALL, np.zeros(2), residual.T @ residual / count)
    among = contacts(seen, left)
    added = measurement_errors.variance(fitted, among, errors(), TABLE)
    found = measurement_errors.without(fitted, added, among)
    np.testing.assert_allclose(np.diag(found.covariance), 0.03**2, rtol=0.25)
    assert (np.diag(found.covariance) < np.diag(fitted.covariance)).all()


def test_some_scatter_is_always_left_and_none_is_added():
    among = contacts(np.array([[1.0, 0.5]]), np.array([[-0.7, 0.4]]))
    wide, none = np.full((1, 2), 100.0), np.zeros((1, 2))
    left = measurement_errors.without(law(WALL), wide, among).covariance
    np.testing.assert_allclose(left, measurement_errors.LEAST * law(WALL).covariance)
    same = measurement_errors.without(law(WALL), none, among).covariance
    np.testing.assert_array_equal(same, law(WALL).covariance)
