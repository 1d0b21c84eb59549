"""Files of motions: both forms mean the same, and what cannot be a pendulum's is refused."""

import re
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.rigid_bodies import motion_files

RATE, FRAMES = 200.0, 120
TIME = np.arange(FRAMES) / RATE
ANGLES = np.stack((0.8 * np.cos(5.0 * TIME), 0.5 * np.sin(7.0 * TIME)), 1)
NAMES = ",".join(motion_files.MARKERS)


def places() -> np.ndarray:
    """Markers in pixels, the film's origin anywhere."""
    one, two = ANGLES[:, 0], ANGLES.sum(1)
    elbow = 500.0 + 300.0 * np.stack((np.cos(one), np.sin(one)), 1)
    tip = elbow + 200.0 * np.stack((np.cos(two), np.sin(two)), 1)
    return np.hstack((np.full((FRAMES, 2), 500.0), elbow, tip))


def written(folder: Path, values: np.ndarray, header: str = "") -> Path:
    file = folder / "run.csv"
    lines = [header] if header else []
    file.write_text("\n".join([*lines, *(",".join(f"{x:.9g}" for x in row) for row in values)]))
    return file


def test_markers_and_angles_are_the_same_motion(tmp_path: Path) -> None:
    by_angles = motion_files.read(written(tmp_path, ANGLES), RATE)
    by_markers = motion_files.read(written(tmp_path, places(), NAMES), RATE)
    np.testing.assert_allclose(by_markers.states, by_angles.states, atol=1e-4)
    np.testing.assert_allclose(by_angles.states[:, :2], ANGLES, atol=1e-4)
    slope = -4.0 * np.sin(5.0 * TIME)
    np.testing.assert_allclose(by_angles.states[5:-5, 2], slope[5:-5], atol=1e-3)


def test_a_column_of_time_states_the_rate(tmp_path: Path) -> None:
    timed = np.hstack((3.0 + TIME[:, None], ANGLES))
    found = motion_files.read(written(tmp_path, timed, "time,angle_1,angle_2"))
    assert abs(found.rate - RATE) < 1e-6
    plain = motion_files.read(written(tmp_path, ANGLES), RATE)
    np.testing.assert_allclose(found.states, plain.states, atol=1e-6)


def test_angles_within_a_turn_are_unwrapped(tmp_path: Path) -> None:
    turning = np.stack((20.0 * TIME, -15.0 * TIME), 1)
    wrapped = np.angle(np.exp(1j * turning))
    found = motion_files.read(written(tmp_path, wrapped), RATE).states
    np.testing.assert_allclose(found[:, :2], turning, atol=1e-4)


def gap(values: np.ndarray) -> np.ndarray:
    return np.delete(np.hstack((TIME[:, None], values)), 40, axis=0)


SWAPPED = [2, 3, 0, 1, 4, 5]
REFUSED = {
    "a column is missing": (places()[:, :5], "", "found 5 columns without names, expected the col"),
    "names are others": (ANGLES, "alpha,beta", "found alpha,beta, expected the columns pivot_x"),
    "markers are swapped": (places()[:, SWAPPED], NAMES, "the pivot moves by"),
    "a frame is missing": (gap(ANGLES), "time,angle_1,angle_2", "frame 41: found 0.01 s after"),
    "a number is none": (
        np.where(np.arange(FRAMES)[:, None] == 7, np.nan, ANGLES),
        "",
        "row 8: found 'nan', expected a finite number",
    ),
    "it jumps": (
        np.where(np.arange(FRAMES)[:, None] == 60, places() @ -np.eye(6), places()),
        NAMES,
        "expected at most",
    ),
    "an angle jumps": (
        np.where(np.arange(FRAMES)[:, None] == 60, ANGLES + 2.0, ANGLES),
        "angle_1,angle_2",
        "an angle changes by",
    ),
    "it is short": (ANGLES[:8], "", "found 8 frames, expected at least 11"),
    "it is empty": (ANGLES[:0], "", "found nothing, expected the columns"),
    "it has one frame": (
        np.hstack((TIME[:1, None], ANGLES[:1])),
        "time,angle_1,angle_2",
        "found a single frame",
    ),
}


@pytest.mark.parametrize("values, header, words", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_a_pendulum_is_refused(
    tmp_path: Path, values: np.ndarray, header: str, words: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(words)) as error:
        motion_files.read(written(tmp_path, values, header), RATE)
    assert "run.csv" in str(error.value)


def test_a_rate_is_needed_and_must_agree(tmp_path: Path) -> None:
    file = written(tmp_path, ANGLES)
    with pytest.raises(BadInput, match="no column time and no rate"):
        motion_files.read(file)
    with pytest.raises(BadInput, match="a rate of 0 Hz"):
        motion_files.read(file, 0.0)
    timed = written(tmp_path, np.hstack((TIME[:, None], ANGLES)), "time,angle_1,angle_2")
    with pytest.raises(BadInput, match="times of 200 Hz, expected the 100 Hz"):
        motion_files.read(timed, 100.0)


def test_rows_of_another_length_and_bytes_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("1,2\n1,2,3\n")
    with pytest.raises(BadInput, match="row 2: found 3 cells, expected 2"):
        motion_files.read(file, RATE)
    file.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(BadInput, match="no text, expected text with"):
        motion_files.read(file, RATE)
    with pytest.raises(BadInput, match="No such file"):
        motion_files.read(tmp_path / "none.csv", RATE)
    with pytest.raises(BadInput, match="/dev/zero: found no regular file"):
        motion_files.read(Path("/dev/zero"), RATE)
