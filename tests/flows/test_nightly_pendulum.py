"""The pendulum's part of a night: off unless asked for, of the sample or of named recordings."""

from pathlib import Path

import pytest

from ricochet.flows import nightly
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies import sample
from tests.flows.nights import raising

ON = "nightly.pendulum=true"


@pytest.fixture
def taken(monkeypatch):
    """The flows of a night that consists of the pendulum alone, faked, in their order."""
    listed, found = catalogue.nightly_steps, []
    monkeypatch.setattr(
        catalogue, "nightly_steps", lambda name: listed(name) if name == "rigid_bodies" else ()
    )

    def infer(name, files, register_as, **words):
        found.append(("infer", name, tuple(Path(file).name for file in files), words["seed"]))
        return {"registered": {"name": f"pendulum-{register_as}", "version": "1"}}

    def validate(**words):
        found.append(("validate", words["name"]))
        return {"unchanged": False, "promoted": True}

    monkeypatch.setattr(nightly.inference, "infer", infer)
    monkeypatch.setattr(nightly.validation, "validate", validate)
    monkeypatch.setattr(
        sample, "make", lambda folder: tuple(folder / f"run-{number}.csv" for number in range(3))
    )
    return found


def night(place, *overrides):
    return nightly.nightly.fn(session="s", out=str(place), seed=4, overrides=list(overrides))


def test_the_pendulum_is_left_out_unless_it_is_asked_for(tmp_path, taken) -> None:
    assert "pendulum" not in night(tmp_path)
    assert taken == []


@pytest.mark.parametrize(
    ("words", "name", "files"),
    [
        ((ON,), "pendulum-sample", ("run-0.csv", "run-1.csv", "run-2.csv")),
        ((ON, "nightly.pendulum_files=[films/a.csv]"), "pendulum-nightly", ("a.csv",)),
    ],
)
def test_recordings_are_inferred_and_what_is_registered_is_validated(
    tmp_path, taken, words, name, files
) -> None:
    result = night(tmp_path, *words)
    assert taken == [("infer", "double-pendulum", files, 4), ("validate", name)]
    assert result["pendulum"] == {name: "promoted"}
    assert result["failures"] == []


def test_an_inference_that_fails_is_a_line_and_nothing_is_validated(
    tmp_path, taken, monkeypatch
) -> None:
    monkeypatch.setattr(nightly.inference, "infer", raising(ValueError("no film\nat all")))
    with pytest.raises(nightly.IncompleteNightError) as caught:
        nightly.nightly.fn(session="s", out=str(tmp_path), overrides=[ON])
    assert caught.value.result["pendulum"] == {"inference": "no film at all"}
    assert caught.value.result["failures"] == ["infer pendulum: no film at all"]
    assert taken == []
