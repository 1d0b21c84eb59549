"""A model whose steps are long where it was recorded, or within limits, is refused before a fit."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import mujoco_calls
from ricochet.tasks.systems.rigid_bodies import (
    model_files,
    model_inference,
    model_pace,
    model_parameters,
)
from ricochet.tasks.systems.rigid_bodies.model_inference import Making
from ricochet.tasks.systems.rigid_bodies.model_parameters import Unknown
from tests.models.systems.rigid_bodies import swings
from tests.tasks.systems.rigid_bodies.carts import late


def test_a_model_that_touches_where_it_was_recorded_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cart.xml"
    file.write_text(late(20, 3.0))
    model = model_files.read(file)
    still, there = np.zeros((400, 2 * model.nq)), np.zeros((400, 2 * model.nq))
    there[:, 0] = 3.0
    model_pace.check(file, model, [still])
    with pytest.raises(BadInput, match=r"steps of 0\.\d+ s where it was recorded"):
        model_pace.check(file, model, [still, there])


def limits(folder: Path, model: mujoco.MjModel, low: float, high: float) -> Unknown:
    """Return a place of the cart within limits, m, and a friction of any magnitude."""
    (folder / "cart.yaml").write_text(
        f"place: {{of: body cart pos x, low: {low}, high: {high}, unit: m}}\n"
        "friction: {of: joint hinge damping, low: 1e-3, high: 1, logarithmic: true}\n"
    )
    return model_parameters.read(folder / "cart.yaml", model)


def checked(folder: Path, text: str, low: float, high: float) -> None:
    """Check the cart at rest within limits of its place."""
    (folder / "cart.xml").write_text(text)
    model = mujoco.MjModel.from_xml_path(str(folder / "cart.xml"))
    unknown, still = limits(folder, model, low, high), np.zeros((400, 2 * model.nq))
    draw = np.random.default_rng(0)
    model_pace.check_parameters(folder / "cart.yaml", model, unknown, [still], draw)


def test_limits_within_which_it_touches_are_refused(tmp_path: Path) -> None:
    checked(tmp_path, late(20, 3.0), -1.0, 2.0)
    for high in (3.0, 500.0):  # at a corner, and at 2 values of 1000
        said = (
            r"cart\.yaml: found steps of 0\.\d+ s at place [23]\.?\d*, friction [\d.]+, expected na"
        )
        with pytest.raises(BadInput, match=said):
            checked(tmp_path, late(20, 3.0), -1.0, high)


def test_limits_within_which_mujoco_cannot_move_it_are_refused(tmp_path: Path) -> None:
    """In threads of its own MuJoCo would end the process."""
    small = late(60, 3.0).replace("60M", "100K")
    checked(tmp_path, small, -1.0, 2.0)
    with pytest.raises(BadInput, match=r"out of memory.* at place .*, expected steps that MuJoCo"):
        checked(tmp_path, small, -1.0, 3.0)


def test_steps_are_tried_at_limits_and_in_each_thousandth_between(tmp_path: Path) -> None:
    unknown = limits(tmp_path, swings.cart(), -1.0, 3.0)
    found = model_pace._values(unknown, np.random.default_rng(0))
    corners, between = np.split(found, [model_pace.CORNERS])
    expected = [[x, y] for x in (-1.0, 3.0) for y in (1e-3, 1.0)]
    np.testing.assert_allclose(np.unique(corners.round(12), axis=0), expected)
    rows = np.stack(((between[:, 0] + 1.0) / 4.0, np.log(between[:, 1] / 1e-3) / np.log(1e3)), 1)
    np.testing.assert_array_equal(
        np.sort((rows * model_pace.SPREAD).astype(int), 0)[:, 0], np.arange(model_pace.SPREAD)
    )


def test_steps_that_something_else_held_up_are_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, paces = swings.cart(), iter((0.05, 1e-5))
    monkeypatch.setattr(model_pace, "_pace", lambda *_: next(paces, 1e-5))
    still = np.zeros((3, 2 * model.nq))
    assert model_pace._least_pace(model, mujoco.MjData(model), still) == 1e-5
    monkeypatch.setattr(model_pace, "_pace", lambda *_: 0.05)
    assert model_pace._least_pace(model, mujoco.MjData(model), still) == 0.05


def moved(folder: Path, text: str) -> None:
    """Move a cart from where it touches others, in two threads, as a fit would that comes there."""
    model = mujoco.MjModel.from_xml_string(text)
    unknown = limits(folder, model, -1.0, 2.0)
    simulate = Making(model, unknown, 2)(100.0, torch.zeros(4, 50, model.nu).double())
    starts = torch.zeros(1, 4, 2 * model.nq).double()
    starts[..., 0] = 3.0
    with model_pace.watched(folder / "cart.xml"):
        simulate(torch.tensor([[[0.0, 0.01]]]).double(), starts, steps=50)


def test_what_mujoco_cannot_move_in_the_fit_ends_in_a_line(tmp_path: Path) -> None:
    """In threads of its own MuJoCo would end the process."""
    with pytest.raises(BadInput, match=r"cart\.xml: found .*out of memory.* in the fit, expected"):
        moved(tmp_path, late(60, 3.0).replace("60M", "100K"))


def test_long_steps_in_the_fit_end_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved(tmp_path, late(30, 3.0))
    monkeypatch.setattr(mujoco_calls, "_LOOK", 1e-3)
    monkeypatch.setattr(model_inference, "LONGEST", 0.0)
    with pytest.raises(BadInput, match=r"cart\.xml: found steps that take too long in the fit"):
        moved(tmp_path, late(30, 3.0))
