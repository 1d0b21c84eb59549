"""Labels of frames against closed forms."""

import numpy as np
import pytest

from ricochet.models.systems.drawers import labels
from ricochet.models.systems.drawers.labels import PERIOD


def test_even_motion_has_its_speed_and_position() -> None:
    found = labels.of_track(np.array([0.0, 2.0]), np.array([0.4, 0.0]), 20)
    assert found.speed == pytest.approx(0.2) and found.velocity == pytest.approx(-0.2)
    assert found.position == pytest.approx(0.4 - 0.2 * (np.arange(20) + 1.0) * PERIOD)


def test_a_frame_in_which_the_drawer_turns_back_has_speed_but_no_velocity() -> None:
    times = np.array([0.0, 0.5 * PERIOD, PERIOD])
    found = labels.of_track(times, np.array([0.0, 0.01, 0.0]), 1)
    assert found.speed[0] == pytest.approx(0.02 / PERIOD)
    assert found.velocity[0] == pytest.approx(0.0, abs=1e-12)


def test_before_and_after_the_track_the_drawer_rests() -> None:
    found = labels.of_track(np.array([1.0, 1.5]), np.array([0.1, 0.3]), 40)
    assert found.speed[: int(1.0 / PERIOD)] == pytest.approx(0.0)
    assert found.position[-1] == pytest.approx(0.3) and found.speed[-1] == 0.0


def test_a_motion_played_backwards_has_the_other_sign() -> None:
    times = np.linspace(0.0, 1.92, 193)
    track = 0.2 * np.sin(2.0 * times)
    forth, back = (labels.of_track(times, each, 30) for each in (track, track[::-1]))
    assert back.velocity[::-1] == pytest.approx(-forth.velocity, abs=1e-9)
    assert back.speed[::-1] == pytest.approx(forth.speed, abs=1e-9)
