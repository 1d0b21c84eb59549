import numpy as np
import pytest

from ricochet.models.sound import arrays
from ricochet.models.sound.arrays import Microphones

GOOD = np.array([[-0.30, -0.25, 0.0762], [0.30, -0.25, 0.0762], [0.0, 0.32, 0.0762]])


def test_speed_of_sound_matches_tables():
    """Tables of dry air: 331.3 m/s at 0, 343.2 at 20, 349.0 at 30 degrees Celsius."""
    speeds = [Microphones(GOOD, 44100.0, celsius).speed_of_sound for celsius in (0.0, 20.0, 30.0)]
    np.testing.assert_allclose(speeds, [331.3, 343.2, 349.0], atol=0.15)


def test_positions_are_held_as_a_copy_that_cannot_change():
    positions = GOOD.copy()
    microphones = Microphones(positions, 44100.0)
    positions[0] = 9.0
    np.testing.assert_array_equal(microphones.positions, GOOD)
    with pytest.raises(ValueError, match="read-only"):
        microphones.positions[0] = 1.0


def test_a_good_layout_passes_in_any_order_and_place():
    for layout in (GOOD, GOOD[::-1] + 5.0):
        arrays.check_layout(layout)
        np.testing.assert_array_equal(Microphones(layout, 44100.0).positions, layout)
        assert arrays.spread(layout) > arrays.LEAST_SPREAD


def test_spread_ignores_place_and_size():
    moved = 3.0 * GOOD + np.array([1.0, -2.0, 0.5])
    assert arrays.spread(moved) == pytest.approx(arrays.spread(GOOD))


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        (GOOD[:2], "3 or more"),
        (np.vstack([GOOD[:2], [[np.nan, 0, 0]]]), r"positions\[2\] is not finite"),
        (np.vstack([GOOD[:2], GOOD[:1]]), "0 and 2 coincide"),
        (np.outer([-1.0, 0.0, 1.0], [0.3, 0.2, 0.0]), "collinear"),
        (np.array([[0, 0, 0.1], [0.3, 0, 0.5], [0.6, 0, 0.2]]), "collinear"),
    ],
)
def test_a_layout_that_cannot_locate_is_refused(positions, words):
    with pytest.raises(ValueError, match=words):
        arrays.check_layout(positions)


def test_a_sample_rate_of_zero_is_refused():
    with pytest.raises(ValueError, match="sample_rate"):
        Microphones(GOOD, 0.0)
