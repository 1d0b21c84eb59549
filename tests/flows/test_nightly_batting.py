"""Batting's part of a night: off unless asked for; what is trained is validated."""

import pytest

from ricochet.flows import nightly
from ricochet.tasks.systems import catalogue
from tests.flows.nights import raising

ON = "nightly.batting=true"


@pytest.fixture
def taken(monkeypatch):
    """The flows of a night that consists of batting alone, faked, in their order."""
    listed, found = catalogue.nightly_steps, []
    monkeypatch.setattr(
        catalogue, "nightly_steps", lambda name: listed(name) if name == "batting" else ()
    )

    def train(name, **words):
        found.append(("train", name, words["seed"]))
        return {"registered": {"batting-board": "1"}}

    def validate(**words):
        found.append(("validate", words["name"]))
        return {"unchanged": False, "promoted": True}

    monkeypatch.setattr(nightly.training, "train", train)
    monkeypatch.setattr(nightly.validation, "validate", validate)
    return found


def night(place, *overrides):
    return nightly.nightly.fn(session="s", out=str(place), seed=4, overrides=list(overrides))


def test_batting_is_left_out_unless_it_is_asked_for(tmp_path, taken) -> None:
    assert "batting" not in night(tmp_path)
    assert taken == []


def test_what_is_trained_is_validated(tmp_path, taken) -> None:
    result = night(tmp_path, ON)
    assert taken == [("train", "batting", 4), ("validate", "batting-board")]
    assert result["batting"] == {"batting-board": "promoted"}
    assert result["failures"] == []


def test_a_training_that_fails_is_a_line(tmp_path, taken, monkeypatch) -> None:
    monkeypatch.setattr(nightly.training, "train", raising(ValueError("no board\nat all")))
    with pytest.raises(nightly.IncompleteNightError) as caught:
        night(tmp_path, ON)
    assert caught.value.result["batting"] == {"training": "no board at all"}
