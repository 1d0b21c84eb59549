"""Recordings of a model: joints and sites are the same motion, and what is not the model's."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.rigid_bodies import model_recordings
from tests.models.systems.rigid_bodies import swings
from tests.tasks.systems.rigid_bodies import carts
from tests.tasks.systems.rigid_bodies.carts import JOINTS, SITES, written

CART = swings.cart()
COLUMNS = carts.moved(0, 0.5, noise=0.0)
BARE = {name: values for name, values in COLUMNS.items()}


def test_joints_and_sites_are_the_same_motion_whatever_the_order(tmp_path: Path) -> None:
    joints = model_recordings.read(written(tmp_path / "a.csv", COLUMNS, JOINTS), CART)
    sites = model_recordings.read(written(tmp_path / "b.csv", COLUMNS, SITES), CART)
    turned = model_recordings.read(
        written(tmp_path / "c.csv", COLUMNS, JOINTS[::-1][:3]), CART, 100
    )
    np.testing.assert_allclose(joints.states, sites.states, atol=1e-5)
    np.testing.assert_allclose(joints.states, turned.states, atol=1e-6)
    np.testing.assert_allclose(joints.states[:, 1], COLUMNS["hinge"], atol=1e-4)
    assert (joints.rate, turned.rate) == (pytest.approx(100.0), 100.0)
    np.testing.assert_allclose(joints.inputs[:, 0], COLUMNS["push"], rtol=1e-8)


def test_controls_that_are_not_recorded_are_nothing_and_known_to_be_so(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", COLUMNS, JOINTS[:3])
    found = model_recordings.read(file, CART)
    assert not found.inputs.any()
    assert found.unrecorded == ("push",)
    assert model_recordings.read(written(tmp_path / "b.csv", COLUMNS), CART).unrecorded == ()


def test_hinges_are_unwrapped_and_slides_are_not(tmp_path: Path) -> None:
    time = COLUMNS["time"]
    turning = {**COLUMNS, "hinge": np.angle(np.exp(20j * time)), "slide": 20.0 * (time > 0.3)}
    found = model_recordings.read(written(tmp_path / "a.csv", turning), CART).states
    np.testing.assert_allclose(found[:, 1], 20.0 * time, atol=1e-4)
    assert np.ptp(found[:, 0]) > 15.0


def changed(**values: np.ndarray) -> dict[str, np.ndarray]:
    return {**COLUMNS, **values}


HALF = np.arange(len(COLUMNS["time"])) > 20
REFUSED = {
    "a joint is missing": (COLUMNS, ("time", "slide"), "found no column hinge, expected the colu"),
    "an unknown column": (changed(hinges=HALF), (*JOINTS, "hinges"), "did you mean hinge?"),
    "a column twice": (COLUMNS, (*JOINTS, "hinge"), "the column hinge twice"),
    "a part of a site": (COLUMNS, ("time", "tip_x", "tip_y", "front_x"), "no column tip_z"),
    "joints and sites": (COLUMNS, (*JOINTS, "tip_x"), "found the column tip_x"),
    "a number is none": (changed(slide=np.where(HALF, np.nan, 0.0)), JOINTS, "row 23: found 'nan'"),
    "a gap": (changed(time=COLUMNS["time"] + HALF), JOINTS, "frame 22: found 1.01 s after"),
    "time goes back": (changed(time=-COLUMNS["time"]), JOINTS, "frame 2"),
    "an angle jumps": (changed(hinge=2.0 * HALF), JOINTS, "an angle that changes by 2.00 rad"),
    "a site that is open": (COLUMNS, ("time", "front_x", "front_y", "front_z"), "joint hinge open"),
    "sites of another model": (
        changed(tip_z=COLUMNS["tip_z"] + np.cos(30.0 * COLUMNS["time"])), SITES, "sites that the m"
    ),
    "no rate": (COLUMNS, ("slide", "hinge"), "no column time and no rate"),
    "it is short": ({k: v[:6] for k, v in COLUMNS.items()}, JOINTS, "found 6 frames, expected at"),
}  # fmt: skip


@pytest.mark.parametrize("columns, names, words", REFUSED.values(), ids=REFUSED)
def test_what_is_not_the_models_is_refused_in_a_line(
    tmp_path: Path, columns: dict, names: tuple[str, ...], words: str
) -> None:
    file = written(tmp_path / "run.csv", columns, names)
    with pytest.raises(BadInput, match=re.escape(words)) as error:
        model_recordings.read(file, CART)
    assert "run.csv" in str(error.value)
    assert "\n" not in str(error.value)


def test_columns_need_names(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("1,2,3\n1,2,3\n")
    with pytest.raises(BadInput, match="found 3 columns without names, expected the columns sl"):
        model_recordings.read(tmp_path / "run.csv", CART)


def test_rates_are_those_that_mujoco_has_at_each_frame(tmp_path: Path) -> None:
    """Semi-implicit steps of 5 ms and a pendulum's 25 rad/s^2: slopes would be off by 0.06."""
    model = swings.cart()
    data, rates = mujoco.MjData(model), []
    data.qpos[:] = 0.05, 0.8
    columns: dict[str, list[float]] = {"time": [], "slide": [], "hinge": []}
    for frame in range(60):
        for name, value in zip(columns, (frame / 100.0, *data.qpos), strict=True):
            columns[name].append(float(value))
        rates.append(data.qvel.copy())
        for _ in range(2):
            mujoco.mj_step(model, data)
    file = written(tmp_path / "a.csv", {k: np.array(v) for k, v in columns.items()}, JOINTS[:3])
    found = model_recordings.read(file, model).states[5:-5, 2:]
    np.testing.assert_allclose(found, np.array(rates)[5:-5], atol=5e-3)


def test_positions_are_as_recorded_and_only_rates_are_of_polynomials(tmp_path: Path) -> None:
    seen = carts.moved(0, 0.5)
    found = model_recordings.read(written(tmp_path / "a.csv", seen), CART).states
    np.testing.assert_allclose(found[:, 0], seen["slide"], rtol=1e-8)
    np.testing.assert_allclose(found[:, 1], seen["hinge"], rtol=1e-8)
    slopes = np.gradient(seen["hinge"], 0.01)
    assert np.abs(found[2:-2, 3] - slopes[2:-2]).max() < 0.3
