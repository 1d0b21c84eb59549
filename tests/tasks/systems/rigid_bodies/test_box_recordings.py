"""Files of a shaken box: read as they were recorded, and what is refused in a line."""

from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import box_shooting, carried_box
from ricochet.tasks.systems.rigid_bodies import box_recordings
from tests.tasks.systems.rigid_bodies import boxes


@pytest.fixture(scope="module")
def values() -> np.ndarray:
    return boxes.table(boxes.telling(), 0)


def test_states_and_the_flange_are_those_of_the_recording(
    values: np.ndarray, tmp_path: Path
) -> None:
    recorded = box_recordings.read(boxes.write(tmp_path / "a.csv", values))
    joints, points = values[:, 1:8], values[:, 8:].reshape(-1, 4, 3)
    assert recorded.rate == pytest.approx(100.0)
    expected = box_shooting.states(points, joints, 100.0)
    np.testing.assert_allclose(recorded.states, expected, atol=1e-4)  # six decimals of a file
    carried = carried_box.carried(joints, 100.0, box_shooting.substeps(100.0)).numpy()
    np.testing.assert_allclose(recorded.inputs.reshape(carried.shape), carried, atol=0.05)


def test_columns_may_come_in_any_order_and_the_rate_by_hand(
    values: np.ndarray, tmp_path: Path
) -> None:
    one = box_recordings.read(boxes.write(tmp_path / "a.csv", values))
    order = np.random.default_rng(0).permutation(len(boxes.NAMES) - 1) + 1
    names = tuple(boxes.NAMES[number] for number in order)
    other = box_recordings.read(boxes.write(tmp_path / "b.csv", values[:, order], names), 100.0)
    np.testing.assert_allclose(one.states, other.states, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v, n: (v[:, :-1], n[:-1]), "no column z_z"),
        (lambda v, n: (v, (*n[:-1], "joint_1")), "the column joint_1 twice"),
        (lambda v, n: (v, (*n[:-1], "z_zz")), "the column z_zz.*did you mean"),
        (lambda v, n: (v, ("joint_8", *n[1:])), "the column joint_8"),
        (lambda v, n: (np.concatenate((v[:, :1], np.degrees(v[:, 1:8]), v[:, 8:]), 1), n),
         "joint_.* rad"),
        (lambda v, n: (v[:, [0, 2, 1, *range(3, 20)]], n), "joint_|points that miss"),
        (lambda v, n: (v[:, [*range(11), 14, 15, 16, 11, 12, 13, *range(17, 20)]], n),
         "points that miss a box"),
        (lambda v, n: (np.delete(v, 100, 0), n), "after the one before"),
        (lambda v, n: (np.where(np.arange(20) == 9, np.nan, v), n), "finite number"),
        (lambda v, n: (v[:30], n), "30 frames at 100 Hz, expected at least 41"),
        (lambda v, n: (np.concatenate((v[:, :8], 1e3 * v[:, 8:]), 1), n), "points that miss"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_shaken_box_is_refused_in_a_line(change, said, values, tmp_path) -> None:
    changed, names = change(values.copy(), boxes.NAMES)
    file = boxes.write(tmp_path / "bad.csv", changed, names)
    with pytest.raises(BadInput, match=said) as caught:
        box_recordings.read(file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_an_arm_that_is_faster_than_it_can_be_is_refused(
    values: np.ndarray, tmp_path: Path
) -> None:
    jumped = values.copy()
    jumped[100:, 6] += 0.2
    with pytest.raises(BadInput, match=r"joint_6.*rad/s, expected at most 2\.61"):
        box_recordings.read(boxes.write(tmp_path / "bad.csv", jumped))


def test_a_rate_that_no_slopes_can_be_taken_at_is_refused(
    values: np.ndarray, tmp_path: Path
) -> None:
    slow = values[::10]
    with pytest.raises(BadInput, match="10 Hz, expected at least 15 Hz"):
        box_recordings.read(boxes.write(tmp_path / "slow.csv", slow))
