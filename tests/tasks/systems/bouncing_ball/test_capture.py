"""The rig is what the settings say, or is refused."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import capture
from ricochet.tasks.systems.bouncing_ball.settings import Drops


@pytest.mark.parametrize("places", ["[[0, 0]]", "[]", "[[0, 0, x]]", "[[.nan, 0, 0]]"])
def test_places_of_microphones_are_three_finite_numbers_each(places: str) -> None:
    chosen = catalogue.load_settings(overrides=[f"capture.microphones={places}"])
    with pytest.raises(BadInput, match=r"capture\.microphones"):
        capture.open_rig("simulated", chosen, seed=0)


def settings_with(*overrides: str) -> Settings:
    return catalogue.load_settings(overrides=[f"capture.{each}" for each in overrides])


def test_takes_that_end_before_the_third_bounce_are_refused() -> None:
    with pytest.raises(BadInput, match=r"found 1\.6 s, expected at least 1\.94 s"):
        capture.open_rig("simulated", settings_with("drop_height=1.0"), seed=0)
    capture.open_rig("simulated", settings_with("drop_height=1.0", "duration=2.0"), seed=0)


def test_the_simulated_rig_needs_a_height_and_a_real_one_may_leave_it_out() -> None:
    unknown = settings_with("drop_height=null")
    with pytest.raises(BadInput, match=r"capture\.drop_height: found null"):
        capture.open_rig("simulated", unknown, seed=0)
    assert unknown[Drops].drop_height is None


@pytest.mark.parametrize("height", ["9", "0.01", "high"])
def test_heights_that_no_calibration_takes_are_not_recorded(height: str) -> None:
    with pytest.raises(BadInput, match=r"capture\.drop_height.* or null"):
        settings_with(f"drop_height={height}")


def test_a_rig_has_the_stated_microphones() -> None:
    stated = [[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [1.0, 1.0, 0.2]]
    chosen = catalogue.load_settings(overrides=[f"capture.microphones={stated}"])
    rig = capture.open_rig("simulated", chosen, seed=0).rig
    assert [list(each.position) for each in rig.microphones] == stated
