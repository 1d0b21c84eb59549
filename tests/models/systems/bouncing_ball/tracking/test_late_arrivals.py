"""Places behind a late arrival: planted ones, their density by differences, and symmetries."""

import numpy as np
import pytest
from scipy import optimize

from ricochet.models.systems.bouncing_ball.tracking import late_arrivals
from ricochet.models.systems.bouncing_ball.tracking.late_arrivals import Detour

MICROPHONES = np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]])
CONTACTS = [(-0.15, 0.02), (0.05, -0.05), (0.1, 0.1)]


def ranges(place: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.array([*place, 0.0]) - MICROPHONES, axis=1)


def located(contact: np.ndarray, late: np.ndarray) -> np.ndarray:
    """The place whose range differences are those of a contact with late arrivals, by fsolve."""
    expected = ranges(contact) + late

    def misfit(place: np.ndarray) -> np.ndarray:
        found = ranges(place) - expected
        return found[1:] - found[0]

    place, _, code, _ = optimize.fsolve(misfit, contact, full_output=True)
    return place if code == 1 else np.full(2, np.nan)


@pytest.mark.parametrize("contact", CONTACTS)
@pytest.mark.parametrize("microphone", [0, 1, 2])
def test_one_of_the_places_is_the_contact(contact: tuple[float, float], microphone: int) -> None:
    late = 0.12 * np.eye(3)[microphone]
    wrong = located(np.array(contact), late)
    assert np.hypot(*(wrong - contact)) > 0.03
    found = late_arrivals.estimates(wrong, MICROPHONES, detour=Detour(mean=0.12))
    away = [np.hypot(*(place.mean - contact)) for place in found]
    assert min(away) < 1e-6


def test_the_stretch_is_the_area_that_a_small_square_takes() -> None:
    wrong, step = located(np.array([0.05, -0.05]), np.array([0.15, 0.0, 0.0])), 1e-5
    detour = Detour(mean=0.15)
    here = late_arrivals.estimates(wrong, MICROPHONES, detour=detour)
    moved = [
        late_arrivals.estimates(wrong + shift, MICROPHONES, detour=detour)
        for shift in step * np.eye(2)
    ]
    for index, place in enumerate(here):
        columns = [(each[index].mean - place.mean) / step for each in moved]
        area = abs(np.linalg.det(np.column_stack(columns)))
        assert np.exp(place.log_stretch) == pytest.approx(area, rel=1e-3)


def test_the_covariance_holds_the_contact() -> None:
    """Squared distance over the covariance: 2 on average, but for the bend of the hyperbola.

    300 draws: three standard errors of the mean of chi^2_2 are 3 * 2 / sqrt(300) = 0.35; `range_sd`
    counts a bend of up to some millimetres, which is less than its noise of 5 mm here.
    """
    draw = np.random.default_rng(0)
    squares = []
    for _ in range(300):
        contact, microphone = draw.uniform(-0.15, 0.15, 2), draw.integers(3)
        late = draw.normal(0.15, 0.03) * np.eye(3)[microphone] + draw.normal(0.0, 0.005, 3)
        wrong = located(contact, late)
        if not np.isfinite(wrong).all():
            continue
        detour = Detour(mean=0.15, sd=0.03, range_sd=0.008)
        each = [
            float((contact - p.mean) @ np.linalg.solve(p.covariance, contact - p.mean))
            for p in late_arrivals.estimates(wrong, MICROPHONES, detour=detour)
        ]
        squares.append(min(each))
    assert len(squares) > 250
    assert 0.8 < np.mean(squares) < 2.35


def test_the_order_of_microphones_does_not_matter_and_a_mirror_image_is_mirrored() -> None:
    wrong = np.array([0.12, -0.2])
    one = late_arrivals.estimates(wrong, MICROPHONES, detour=Detour())
    turned = late_arrivals.estimates(wrong, MICROPHONES[[1, 2, 0]], detour=Detour())
    sign = np.array([-1.0, 1.0, 1.0])
    mirrored = late_arrivals.estimates(wrong * sign[:2], MICROPHONES * sign, detour=Detour())
    assert len(one) == len(turned) == len(mirrored) > 0
    for places, axes in ((turned, np.ones(2)), (mirrored, sign[:2])):
        other = sorted((place.mean * axes).tolist() for place in places)
        np.testing.assert_allclose(other, sorted(p.mean.tolist() for p in one), atol=1e-6)


def test_a_place_in_line_with_the_microphones_tells_nothing() -> None:
    row = np.array([[-0.3, 0.4, 0.0], [0.0, 0.4, 0.0], [0.3, 0.4, 0.0]])
    assert late_arrivals.estimates(np.array([0.6, 0.4]), row, detour=Detour()) == ()
