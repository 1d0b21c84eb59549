"""The pages that are made from the program hold all of it, with what it says of itself."""

from typing import Annotated, Literal

import yaml
from annotated_types import Ge, Interval, Unit

import ricochet
from docs.extensions import settings_page, verbs_page
from ricochet.flows.command_line.verbs import all_verbs
from ricochet.tasks.settings import PARAMS_FILE
from tests.checkouts import ROOT


def test_every_verb_is_there_once_with_its_example() -> None:
    text = verbs_page.text()
    for verb in all_verbs():
        name = " ".join(verb.words)
        assert text.count(f"### ricochet {name}\n") == 1, name
        assert verb.example.splitlines()[-1].strip() in text, name


def test_every_setting_is_there_with_its_value() -> None:
    values = yaml.safe_load(PARAMS_FILE.read_text())
    rows = list(settings_page.rows())
    found = {(row.section, row.key): yaml.safe_load(row.value) for row in rows}
    assert found == {(name, key): value for name in values for key, value in values[name].items()}
    text = settings_page.text()
    assert all(f"## {name}\n" in text for name in values)
    assert "| `temperature` | `21.5` | number from -40 to 60 | degrees Celsius |" in text


def test_ranges_are_said_in_words() -> None:
    said = settings_page.accepted
    assert said(Annotated[int, Ge(1)]) == "whole number from 1"
    length = Annotated[float, Interval(gt=0.0, le=1.0), Unit("m")]
    assert said(length | None) == "number above 0 to 1 m, or null"
    assert said(Literal["flac", "wav"]) == "flac or wav"
    assert said(bool) == "true or false" and said(list[int]) == "list"


def test_the_page_of_the_api_has_the_public_names_and_no_other() -> None:
    text = (ROOT / "docs" / "reference" / "api.md").read_text()
    found = [line.split("ricochet.")[1] for line in text.splitlines() if line.startswith(".. auto")]
    assert sorted(found) == sorted(ricochet.__all__)
