"""JSON into frozen dataclasses: strict types, known keys, and every fault one line."""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.checked_json import EXACT, Moment, Name, Whole, expecting


@dataclass(frozen=True)
class Leaf:
    __pydantic_config__ = EXACT
    count: Whole
    share: Annotated[float, expecting("a share")] = 0.5


@dataclass(frozen=True)
class Note:
    """A text, and nothing else."""

    text: str

    __pydantic_config__ = EXACT


@dataclass(frozen=True)
class Tree:
    __pydantic_config__ = EXACT
    name: Name
    planted: Moment
    leaves: tuple[Leaf, ...]
    first: Leaf | None = None


def read(leaves: str = "[]", *, name: str = '"oak"', planted: str = '"2026-11-20"', more: str = ""):
    text = f'{{"name": {name}, "planted": {planted}, "leaves": {leaves}{more}}}'
    return checked_json.read(Tree, text, "tree.json")


def test_what_is_there_is_read_and_what_may_be_absent_has_its_default():
    found = read('[{"count": 3}, {"count": 0, "share": 1}]', more=', "first": {"count": 2}')
    assert found.leaves == (Leaf(3), Leaf(0, 1.0)) and found.first == Leaf(2)
    assert isinstance(found.leaves[1].share, float)


@pytest.mark.parametrize(
    ("leaves", "more"),
    [("[]", ', "name": "elm"'), ('[{"count": 1, "count": 1}]', "")],
)
def test_a_key_that_stands_twice_is_refused(leaves, more):
    with pytest.raises(BadInput, match=r"tree\.json: found key '\w+' twice, expected each"):
        read(leaves, more=more)


def test_a_name_is_no_longer_than_a_file_system_takes():
    assert len(read(name=f'"{"a" * 255}"').name) == 255
    with pytest.raises(BadInput, match=r"name: found 'aaa.*at most 255") as error:
        read(name=f'"{"a" * 256}"')
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("text", "hour"),
    [("2026-11-20T20:13:00Z", 20), ("2026-11-20T20:13:00", 20), ("2026-11-20T20:13:00+02:00", 18)],
)
def test_a_moment_is_in_utc(text, hour):
    assert read(planted=f'"{text}"').planted == datetime(2026, 11, 20, hour, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"leaves": '[{"count": 1}, {"cuont": 1, "count": 1}]'},
         "tree.json: leaves[1]: found unknown key 'cuont', expected a known one, the nearest"),
        ({"more": ', "first": {"count": 1, "shade": 1}'}, "first: found unknown key 'shade'"),
        ({"leaves": "[{}]"}, "tree.json: leaves[0]: found no key 'count'"),
        ({"leaves": '[{"count": true}]'}, "leaves[0].count: found True"),
        ({"leaves": '[{"count": 1.0}]'}, "leaves[0].count: found 1.0"),
        ({"leaves": '[{"count": -1}]'}, "leaves[0].count: found -1, expected greater than or"),
        ({"leaves": '[{"count": 1, "share": NaN}]'}, "share: found nan, expected a share"),
        ({"leaves": '[{"count": 1, "share": "1"}]'}, "share: found '1', expected a share"),
        ({"leaves": "{}"}, "tree.json: leaves: found {}, expected a valid array"),
        ({"name": '"../oak"'}, "tree.json: name: found '../oak', expected letters, digits"),
        ({"name": '"oak\\n"'}, "expected letters, digits"),
        ({"name": "3"}, "tree.json: name: found 3"),
        ({"planted": '"12"'}, "a time like"),
        ({"planted": "12"}, "a time like"),
        ({"name": '"' + "k" * 70 + '/"'}, "tree.json: name: found 'kkk"),
        ({"name": '"'}, "tree.json: found no JSON"),
    ],
)  # fmt: skip
def test_a_fault_names_its_key_in_one_short_line(arguments, says):
    with pytest.raises(BadInput) as caught:
        read(**arguments)
    line = str(caught.value)
    assert line.startswith("tree.json: ") and says in line
    assert "\n" not in line and len(line) < 160


@pytest.mark.parametrize(
    "values", ["1,", "[],", '"",', "{},"], ids=["numbers", "lists", "texts", "objects"]
)
def test_more_values_than_are_read_are_refused_before_they_are(values):
    many = f"[{values * limits.VALUES}0]"
    with pytest.raises(BadInput, match=f"^a: found more than {limits.VALUES} values"):
        checked_json.read(Tree, many, "a")
    text = '","' * limits.VALUES  # commas in a text are none between values
    assert checked_json.read(Note, f'{{"text": {json.dumps(text)}}}', "a") == Note(text)


def test_of_very_many_faults_the_number_is_said():
    faults = ",".join(f'"{number}": 0' for number in range(checked_json.FAULTS + 1))
    with pytest.raises(BadInput, match=r"^a: found \d+ faults, expected none$"):
        checked_json.read(Note, f"{{{faults}}}", "a")


def test_other_json_has_a_bound_of_values_too(monkeypatch):
    monkeypatch.setattr(limits, "VALUES", 1000)
    assert len(checked_json.parse("[" + "[]," * 498 + "[]]", "it")) == 499
    with pytest.raises(BadInput, match="more than 1000 values"):
        checked_json.parse("[" + "[]," * 1000 + "[]]", "it")


def test_many_long_numbers_are_looked_at_once_each():
    """Looked at from each of their digits, a megabyte of them took 1.5 s, and 0.09 s so."""
    text = "[" + ",".join(["1" * limits.DIGITS] * 3000) + "]"
    began = time.process_time()
    checked_json.check(text, "it")
    assert time.process_time() - began < 0.5
