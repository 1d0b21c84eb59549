"""The paper's fusion: exact velocities are integrated, wrong signs drift, limits seen hold."""

import numpy as np
import pytest

from ricochet.models.systems.drawers.kinematics.joints import Joint, Kind
from ricochet.models.systems.drawers.tracking import paper_fusion
from ricochet.models.systems.drawers.tracking.paper_fusion import Lit, Velocities

FRAME = 0.064


def lit(places: np.ndarray, zero: float = 0.0) -> Lit:
    rates = np.gradient(places, FRAME)
    spread = np.diag([1e-4, 1e-4, 1e-3, 1e-2]) ** 2
    return Lit(
        [
            Joint(Kind.PRISMATIC, np.array([0.0, 0.0, q + zero, v]), spread, 0.0, np.zeros(6))
            for q, v in zip(places, rates, strict=True)
        ],
        zero,
    )


def motion(count: int = 300) -> tuple[np.ndarray, np.ndarray]:
    times = FRAME * np.arange(count)
    return 0.2 * (1.0 - np.cos(0.5 * times)), 0.1 * np.sin(0.5 * times)


@pytest.mark.parametrize("zero", [0.0, 0.03])
def test_exact_velocities_are_integrated(zero: float) -> None:
    places, velocities = motion()
    found = paper_fusion.fused(lit(places[:200], zero), Velocities(velocities, 0.01), FRAME)
    np.testing.assert_allclose(found[:200], places[:200], atol=2e-3)
    # A velocity stands for the end of its frame: half a frame of the greatest change of it.
    assert np.abs(found - places)[200:].max() < 0.01


def test_wrong_signs_drift_to_a_limit_that_was_seen_and_no_further() -> None:
    places, velocities = motion()
    heard = Velocities(np.abs(velocities) + 0.2, 0.01)
    found = paper_fusion.fused(lit(places[:200]), heard, FRAME)
    assert found.max() == pytest.approx(places[:200].max(), abs=5e-3)
    assert found[-1] == pytest.approx(places[:200].max(), abs=5e-3)


def test_without_sound_a_place_is_held_or_goes_on() -> None:
    places, _ = motion()
    known = lit(places[:150])  # on the way back
    held = paper_fusion.held(known, 300)
    coasting = paper_fusion.coasting(known, 300, FRAME)
    np.testing.assert_array_equal(held[150:], places[149])
    assert coasting[150] == pytest.approx(places[150], abs=2e-3)
    assert coasting[-1] == coasting.min() == places[:150].min()


def test_a_drawer_that_was_never_seen_is_taken_for_closed() -> None:
    none = Lit([])
    assert (paper_fusion.fused(none, Velocities(np.ones(5), 0.1), FRAME) == 0.0).all()
    assert (paper_fusion.held(none, 5) == 0.0).all()
    assert (paper_fusion.coasting(none, 5, FRAME) == 0.0).all()
