"""Files of unknown parameters: what they name is found, and every fault is named by its key."""

import re
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.rigid_bodies import model_parameters
from tests.models.systems.rigid_bodies import swings

GOOD = """
mass: {of: body cart mass, low: 0.5, high: 3, unit: kg}
pull: {of: option gravity z, low: -12, high: -8, unit: m/s^2}
friction: {of: joint hinge damping, low: 1e-4, high: 1, unit: N m s, logarithmic: true}
slip: {of: geom box friction, low: 0, high: 1}
"""


def read(folder: Path, text: str) -> model_parameters.Unknown:
    file = folder / "cart.yaml"
    file.write_text(text)
    return model_parameters.read(file, swings.cart())


def test_entries_are_places_limits_and_units(tmp_path: Path) -> None:
    found = read(tmp_path, GOOD)
    assert found.names == ("mass", "pull", "friction", "slip")
    assert found.units == ("kg", "m/s^2", "N m s", "1")
    assert found.limits.low.tolist() == [0.5, -12.0, 1e-4, 0.0]
    assert found.logarithmic.tolist() == [False, False, True, False]
    assert [place.field for place in found.places] == [
        "body_mass", "gravity", "dof_damping", "geom_friction"
    ]  # fmt: skip


BROKEN = {
    "an unknown key": ("a: {of: body bob mass, low: 1, hihg: 2}", "a: found unknown key 'hihg'"),
    "a key is missing": ("a: {of: body bob mass, low: 1}", "a.high: found nothing"),
    "limits are swapped": ("a: {of: body bob mass, low: 2, high: 1}", "a.low: found 2, expected l"),
    "limits are equal": ("a: {of: body bob mass, low: 1, high: 1}", "a.low: found 1, expected l"),
    "a limit is infinite": ("a: {of: body bob mass, low: 1, high: .inf}", "a.high: found inf"),
    "a limit is no number": ("a: {of: body bob mass, low: x, high: 1}", "a.low: found 'x'"),
    "a limit is a truth": ("a: {of: body bob mass, low: true, high: 2}", "a.low: found True"),
    "a mass may be nothing": ("a: {of: body bob mass, low: 0, high: 1}", "expected a positive num"),
    "a damping is negative": ("a: {of: joint hinge damping, low: -1, high: 1}", "at least 0"),
    "a logarithm of nothing": (
        "a: {of: joint hinge damping, low: 0, high: 1, logarithmic: true}",
        "a.low: found 0, expected a positive number, as it is logarithmic",
    ),
    "logarithmic is no truth": (
        "a: {of: body bob mass, low: 1, high: 2, logarithmic: 3}", "a.logarithmic: found 3"
    ),
    "no such body": ("a: {of: body bobb mass, low: 1, high: 2}", "did you mean bob?"),
    "no such quantity": ("a: {of: body bob mas, low: 1, high: 2}", "did you mean mass?"),
    "of is no text": ("a: {of: 3, low: 1, high: 2}", "a.of: found 3, expected words such as"),
    "a unit is a list": ("a: {of: body bob mass, low: 1, high: 2, unit: []}", "a.unit: found []"),
    "an entry is a number": ("a: 3", "a: found 3, expected of, low, high"),
    "a number twice": (
        "a: {of: body bob mass, low: 1, high: 2}\nb: {of: body bob mass, low: 1, high: 2}",
        "b.of: found what a is of, expected another number",
    ),
    "a name twice": (
        "a: {of: body bob mass, low: 1, high: 2}\na: {of: body cart mass, low: 1, high: 2}",
        "no YAML: the key a twice",
    ),
    "a reference": ("a: &x {of: body bob mass, low: 1, high: 2}\nb: *x", "a reference to another"),
    "a list": ("- a", "found list, expected names"),
    "nothing": ("", "found nothing, expected names"),
    "no YAML": ("a: {", "no YAML"),
    "an object": ("a: !!python/object:os.system x", "no YAML"),
    "a name that is a number": ("3: {of: body bob mass, low: 1, high: 2}", "the name '3'"),
    "too many": ("\n".join(f"a{n}: 1" for n in range(21)), "found 21 parameters, expected at mo"),
}  # fmt: skip


@pytest.mark.parametrize("text, words", BROKEN.values(), ids=BROKEN)
def test_a_fault_is_named_by_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)) as error:
        read(tmp_path, text)
    assert "cart.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_is_beside_the_model_and_not_too_large(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"arm\.yaml: found no such file, expected it, or --param"):
        model_parameters.beside(tmp_path / "arm.xml")
    (tmp_path / "arm.yml").touch()
    assert model_parameters.beside(tmp_path / "arm.xml") == tmp_path / "arm.yml"
    with pytest.raises(BadInput, match="at most 65536 bytes"):
        read(tmp_path, " " * (model_parameters.LARGEST + 1))
