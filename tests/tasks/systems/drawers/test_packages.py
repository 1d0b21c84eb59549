"""Packages of drawers: what is written is read, and what no controller should see is refused."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference.small_networks import LEAST_SCALE
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Arrays, read_package, write_package
from ricochet.tasks.systems.drawers import kinds, packages
from ricochet.tasks.systems.drawers.packages import Drawer
from tests.models.systems.drawers import hearings

PLACES = np.array([[0.0, 0.0, 0.0], [0.05, 0.0, 0.0], [0.0, 0.05, 0.0]])


@pytest.fixture(scope="module")
def drawer() -> Drawer:
    grammar = Grammar(0.01, 0.29, 0.7, 0.1, 0.2, 1.5, 0.3, 0.93)
    return Drawer(replace(hearings.random(3), grammar=grammar), PLACES)


def write(drawer: Drawer, folder: Path) -> None:
    packages.write(
        drawer,
        folder,
        name="drawer-desk",
        checks={"dark": 0.3},
        key="0" * 64,
        git_commit="none",
        settings={},
    )


def test_what_is_written_is_read(drawer: Drawer, tmp_path: Path) -> None:
    write(drawer, tmp_path / "package")
    found = packages.read(tmp_path / "package")
    assert found.hearing.grammar == drawer.hearing.grammar
    np.testing.assert_array_equal(found.microphones, PLACES)
    sent = packages.inputs(3)
    before, after = (packages.evaluate(packages._arrays(each), sent) for each in (drawer, found))
    for name, values in before.items():
        np.testing.assert_array_equal(after[name], values)


def test_a_list_has_the_stroke_and_the_errors_that_were_measured(
    drawer: Drawer, tmp_path: Path
) -> None:
    write(drawer, tmp_path / "package")
    package = read_package(tmp_path / "package", reader=packages.READER)
    assert [each.text for each in packages.describe(package)] == ["0.28 m"]
    errors = {
        "speed_rmse": {"ours": {"value": 0.031}},
        "position_rmse": {"light_off": {"ours": {"value": 0.0135}}},
    }
    said = {e.name: e.text for e in packages.describe(replace(package, checks=errors))}
    assert said["error of the speed"] == "0.031 m/s" and said["error in the dark"] == "0.0135 m"


def scaled(name: str, factor: float) -> Callable[[Arrays], None]:
    return lambda arrays: arrays.update({name: factor * arrays[name]})


def put(name: str, place: int, value: float) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name].reshape(-1)[place] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("speed_centre", 3, np.nan), "speed_centre"),
        (scaled("speed_scale", -1.0), "speed: scales"),
        (scaled("place_unit", 0.0), "place: a unit beyond 1e-09"),
        (lambda a: a.update(place_centre=a["place_centre"][:-1]), "place: scales"),
        (lambda a: a.update(speed_weights_1=a["speed_weights_1"][:, :-1]), "speed: layer 1"),
        (lambda a: a.update(speed_biases_0=a["speed_biases_0"][:1]), "speed: layer 0"),
        (lambda a: a.update(direction_weights_2=a["direction_weights_2"][..., :1]), "layer 2"),
        (lambda a: a.update(widening=np.ones(3)), "widening of a speed"),
        (put("widening", 0, 0.0), "widening of a speed"),
        (put("reading", 2, -1.0), "reading of place"),
        (put("reading", 2, 1e-300), "reading of place"),
        (put("reading", 3, -0.1), "a worth of the direction beyond 0 to 5"),
        (put("reading", 3, 5.01), "a worth of the direction beyond 0 to 5"),
        (put("speed_scale", 0, 1e-305), "speed: scales of (168,) inputs, expected 168 of 1e-09"),
        (put("direction_unit", 0, 1e3), "direction: a unit beyond 1e-09 to 100"),
        (put("grammar", 0, 0.5), "limits 0.5 and 0.29 m"),
        (put("grammar", 1, 50.0), "limits 0.01 and 50 m"),
        (put("grammar", 1, 0.01 + 1e-9), "limits 0.01 and 0.01 m, 1e-09 m apart"),
        (put("grammar", 1, 0.019), "limits 0.01 and 0.019 m, 0.009 m apart"),
        (put("grammar", 2, 1.2), "a share of the grammar"),
        (put("grammar", 5, 0.5), "a widening below 1"),
        (put("grammar", 7, 1.0), "a level that is no probability"),
        (put("grammar", 8, 0.0), "rests that never begin"),
        (put("grammar", 9, 1.0), "never end"),
        (lambda a: a.update(grammar=a["grammar"][:8]), "a grammar of 8 numbers"),
        (lambda a: a.update(microphones=a["microphones"][:2]), "microphones of shape (2, 3)"),
        (lambda a: a.update(microphones=np.vstack([PLACES, PLACES])), "place: scales"),
        (lambda a: a.update(microphones=np.tile(PLACES, (6, 1))), "microphones of shape (18, 3)"),
        (put("speed_weights_0", 0, 1e9), "speed_weights_0"),
        (lambda a: a.update(widening=np.ones(4, np.float32)), "float32"),
    ],
)
def test_what_no_controller_should_see_is_refused(
    drawer: Drawer, change: Callable[[Arrays], None], words: str
) -> None:
    arrays = packages._arrays(drawer)
    change(arrays)
    with pytest.raises(ValueError, match=re.escape(words)):
        packages.evaluate(arrays, packages.inputs(3))


def test_limits_that_are_not_those_of_the_grammar_are_refused(
    drawer: Drawer, tmp_path: Path
) -> None:
    write(drawer, tmp_path / "a")
    package = read_package(tmp_path / "a", reader=packages.READER)
    other = replace(package, parameters=(Parameter("opening", "m", 0.0, 0.5),))
    with pytest.raises(BadInput, match="expected those of its grammar"):
        write_package(tmp_path / "b", other, reader=packages.READER)


def test_a_package_of_another_kind_is_refused(drawer: Drawer, tmp_path: Path) -> None:
    write(drawer, tmp_path / "a")
    package = replace(read_package(tmp_path / "a", reader=packages.READER), kind="grid")
    with pytest.raises(BadInput, match="expected drawer-hearing"):
        packages.from_package(package, where="b")


@pytest.mark.parametrize("name", ["drawer-kitchen-small", "drawer-7"])
def test_names_of_drawers_are_known(name: str) -> None:
    assert kinds.DRAWER.matches(name)
    kinds.DRAWER.refuse(name)


@pytest.mark.parametrize("name", ["drawer-Big", "drawer--a", "drawer-a_b", "drawer-" + "a" * 60])
def test_names_that_cannot_be_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match="small letters, digits and hyphens"):
        kinds.DRAWER.refuse(name)


def test_layers_that_multiply_beyond_all_measure_are_refused(
    drawer: Drawer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred frames in 64 members of 4096 units are 200 MB a layer."""
    arrays = packages._arrays(drawer)
    members, _, units = arrays["speed_weights_0"].shape
    monkeypatch.setattr(packages, "MOST_TOGETHER", members * units)
    assert packages.evaluate(arrays, packages.inputs(3))
    monkeypatch.setattr(packages, "MOST_TOGETHER", members * units - 1)
    with pytest.raises(ValueError, match="speed: layer 0 of shape"):
        packages.evaluate(arrays, packages.inputs(3))


def test_numbers_at_their_bounds_are_read_and_leave_every_answer_finite(drawer: Drawer) -> None:
    arrays = packages._arrays(drawer)
    for name in packages.NETWORKS:
        arrays[f"{name}_scale"] = np.full_like(arrays[f"{name}_scale"], LEAST_SCALE)
        arrays[f"{name}_centre"] = np.full_like(arrays[f"{name}_centre"], -packages.LARGEST)
        arrays[f"{name}_unit"] = np.array([packages.LARGEST_UNIT])
        for layer in range(packages.LAYERS):
            weights = arrays[f"{name}_weights_{layer}"]
            arrays[f"{name}_weights_{layer}"] = packages.LARGEST * np.where(weights > 0.0, 1.0, 0.9)
    arrays["widening"] = np.full(4, packages.LARGEST)
    arrays["reading"] = np.array([0.0, 0.06, packages.LARGEST, 5.0])
    found = packages.evaluate(arrays, packages.inputs(3))
    assert all(np.isfinite(values).all() for values in found.values())
    assert found["speeds"].max() > 1e20


def test_the_shortest_drawer_and_the_largest_ring_are_read(tmp_path: Path) -> None:
    places = np.random.default_rng(0).normal(size=(packages.CHANNELS[1], 3))
    heard = replace(hearings.random(len(places)), grammar=Grammar(0.0, packages.SHORTEST))
    write(Drawer(heard, places), tmp_path / "package")
    assert packages.read(tmp_path / "package").hearing.grammar == heard.grammar
