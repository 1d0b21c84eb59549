"""The rig is what the settings say, or is refused."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import capture


@pytest.mark.parametrize("places", ["[[0, 0]]", "[]", "[[0, 0, x]]", "[[.nan, 0, 0]]"])
def test_places_of_microphones_are_three_finite_numbers_each(places: str) -> None:
    chosen = catalogue.load_settings(overrides=[f"capture.microphones={places}"])
    with pytest.raises(BadInput, match=r"capture\.microphones"):
        capture.open_rig("simulated", chosen, seed=0)


def test_a_rig_has_the_stated_microphones() -> None:
    stated = [[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [1.0, 1.0, 0.2]]
    chosen = catalogue.load_settings(overrides=[f"capture.microphones={stated}"])
    rig = capture.open_rig("simulated", chosen, seed=0).rig
    assert [list(each.position) for each in rig.microphones] == stated
