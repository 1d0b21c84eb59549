"""The bat: swings within its range and rate that pass the wanted angle, and Eq. 10 by frames."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_ANGLE, LARGEST_RATE

ANGLES = st.floats(-LARGEST_ANGLE, LARGEST_ANGLE)


def angles(path: BatPath, times: np.ndarray) -> np.ndarray:
    return np.array([bat.angle_and_rate(path, time)[0] for time in times])


def swung(now: float, time: float, angle: float, rate: float) -> tuple[bool, BatPath]:
    path = BatPath(np.zeros(4), np.zeros(4))
    return bat.swing(now, time, angle, rate, path), path


@settings(max_examples=150, deadline=None, derandomize=True)
@given(ANGLES, st.floats(0.02, 5.0), ANGLES, st.floats(-LARGEST_RATE, LARGEST_RATE))
def test_a_possible_swing_never_jumps_and_keeps_range_and_rate(
    now: float, time: float, angle: float, rate: float
) -> None:
    possible, path = swung(now, time, angle, rate)
    assume(possible)
    assert path.times[0] == 0.0 and (np.diff(path.times) > 0.0).all()
    assert path.angles[0] == now
    times = np.arange(0.0, path.times[-1] + 0.2, 2e-3)
    followed = angles(path, times)
    assert np.abs(followed).max() <= LARGEST_ANGLE + 1e-8
    assert np.abs(np.diff(followed)).max() <= LARGEST_RATE * 2e-3 + 1e-8
    # What the last knots add is at rest.
    assert bat.angle_and_rate(path, path.times[-1] + 1.0) == (path.angles[-1], 0.0)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(ANGLES, st.floats(0.4, 5.0), ANGLES, st.floats(-0.65, 0.65))
def test_a_swing_passes_the_wanted_angle_at_the_wanted_rate(
    now: float, time: float, angle: float, rate: float
) -> None:
    possible, path = swung(now, time, angle, rate)
    assume(possible)
    start, end = path.times[1], path.times[2]
    assume(start <= time <= end)
    assert angles(path, np.array([time]))[0] == pytest.approx(angle, abs=1e-8)
    assume(start + 1e-6 < time < end - 1e-6)
    assert bat.angle_and_rate(path, time)[1] == pytest.approx(rate, abs=1e-6)


def test_most_swings_of_the_grid_are_possible_and_turn_at_the_impact() -> None:
    """What the properties above assume is met: they are not empty."""
    possible, turning = 0, 0
    for angle in np.linspace(-LARGEST_ANGLE, LARGEST_ANGLE, 21)[1:-1]:
        for rate in np.linspace(-0.65, 0.65, 14):
            can, path = swung(0.1, 1.03, angle, rate)
            possible += can
            turning += can and path.times[1] <= 1.03 <= path.times[2]
    assert possible == 19 * 14 and turning > 0.9 * possible


def test_a_swing_that_leaves_the_range_or_is_too_far_away_is_not_possible() -> None:
    assert not swung(0.0, 1.0, LARGEST_ANGLE + 0.01, 0.0)[0]
    assert not swung(-0.5, 0.1, 0.5, 0.0)[0]  # 1 rad in 0.1 s
    assert swung(-0.5, 1.0, 0.5, 0.0)[0]


def test_knots_of_a_swing_are_frames_of_the_camera() -> None:
    for time in np.arange(0.51, 0.6, 0.013):
        _, path = swung(0.1, time, -0.2, 0.4)
        frames = path.times / CAMERA_PERIOD
        np.testing.assert_allclose(frames, np.round(frames), atol=1e-9)


def test_rate_and_time_to_the_next_knot_are_those_of_the_piece() -> None:
    path = BatPath(np.array([0.0, 0.5, 0.6]), np.array([0.1, 0.3, 0.2]))
    assert bat.angle_and_rate(path, 0.25) == pytest.approx((0.2, 0.4))
    assert bat.angle_and_rate(path, 0.5) == pytest.approx((0.3, -1.0))  # after the knot
    assert bat.angle_and_rate(path, 0.9) == (0.2, 0.0)
    assert bat.time_to_knot(path, 0.25) == pytest.approx(0.25)
    assert bat.time_to_knot(path, 0.5) == pytest.approx(0.1)
    assert bat.time_to_knot(path, 0.6) == math.inf
    assert bat.angle_and_rate(bat.hold(0.2), 3.0) == (0.2, 0.0)


@pytest.mark.parametrize("frequency", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("now", [0.0, 0.3, -0.5])
def test_a_cyclic_path_is_the_sine_of_equation_10_from_the_angle_on(
    frequency: float, now: float
) -> None:
    path = bat.cyclic(now, frequency, 20.0)
    phase = math.asin(now / bat.AMPLITUDE)
    expected = bat.AMPLITUDE * np.sin(frequency * path.times + phase)
    np.testing.assert_allclose(path.angles, expected, atol=1e-12)
    assert path.angles[0] == pytest.approx(now) and path.angles[1] > path.angles[0]
    np.testing.assert_allclose(np.diff(path.times), CAMERA_PERIOD)
    assert path.times[-1] >= 20.0 - 1e-9


@pytest.mark.parametrize("now", [0.5, -0.52, 0.41])
def test_a_cyclic_path_first_goes_evenly_to_a_smaller_amplitude(now: float) -> None:
    path = bat.cyclic(now, 0.8, 10.0, 0.4)
    steps = np.abs(np.diff(path.angles))
    assert path.angles[0] == now and steps.max() <= LARGEST_RATE * CAMERA_PERIOD + 1e-12
    inside = np.flatnonzero(np.abs(path.angles) <= 0.4 + 1e-12)[0]
    assert inside == math.ceil((abs(now) - 0.4) / (LARGEST_RATE * CAMERA_PERIOD))
    later = path.times[inside:] - path.times[inside]
    expected = 0.4 * np.sin(0.8 * later + math.copysign(0.5 * math.pi, now))
    np.testing.assert_allclose(path.angles[inside:], expected, atol=1e-12)


def test_without_frequency_the_bat_rests() -> None:
    np.testing.assert_allclose(bat.cyclic(0.2, 0.0, 3.0).angles, 0.2, atol=1e-15)
