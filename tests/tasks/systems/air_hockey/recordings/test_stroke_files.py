"""Files of strokes say what to play, the same for the same seed."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.recordings import stroke_files
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.training.steps import TrainingRequest


@pytest.fixture(scope="module")
def plans():
    """What was planned for how many episodes and steps from which seed, for the whole file."""
    return {}


@pytest.fixture(autouse=True)
def planned(request, plans, monkeypatch):
    """Plan the same once, but where a test is about that."""
    plan = stroke_files.recording_plan.plan

    def kept(table, *, draw, **words):
        key = (repr(table), *sorted(words.items()), str(draw.bit_generator.state))
        if key not in plans:
            plans[key] = plan(table, draw=draw, **words)
        return plans[key]

    if "anew" not in request.fixturenames:
        monkeypatch.setattr(stroke_files.recording_plan, "plan", kept)


@pytest.fixture
def anew():
    """Plan each time."""


@pytest.fixture
def request_(tmp_path: Path) -> TrainingRequest:
    return of(tmp_path)


def of(folder: Path, episodes: int = 10, steps: int = 50) -> TrainingRequest:
    settings = catalogue.load_settings().changed(Hockey, episodes=episodes, steps=steps)
    return TrainingRequest(settings, folder / "out", seed=3)


def test_strokes_and_throws_are_written_with_what_to_do(request_, tmp_path):
    file = tmp_path / "new" / "strokes.npz"
    line = stroke_files.write(request_, file)
    assert "5 strokes and 5 throws" in line and "\n" not in line
    content = json.loads(file.with_suffix(".json").read_text())
    assert content["sha256"] == sha256(file)
    assert content["kinds"].count("stroke") == 5
    with np.load(file) as found:
        shapes = {name: found[name].shape for name in found.files}
        strokes = np.array(content["kinds"]) == "stroke"
        assert np.isfinite(found["contact"]).all(-1).tolist() == strokes.tolist()
    assert shapes == {
        "puck": (10, 4),
        "joints": (10, 7),
        "commands": (10, 50, 2, 7),
        "contact": (10, 5),
    }
    assert not request_.out.exists()


def test_the_same_seed_writes_the_same_numbers(request_, tmp_path, anew):
    for name in ("a.npz", "b.npz"):
        stroke_files.write(request_, tmp_path / name)
    with np.load(tmp_path / "a.npz") as one, np.load(tmp_path / "b.npz") as other:
        for name in one.files:
            np.testing.assert_array_equal(one[name], other[name])


def test_another_kind_of_file_is_refused(request_, tmp_path):
    with pytest.raises(BadInput, match=r"a file NAME\.npz"):
        stroke_files.write(request_, tmp_path / "strokes.csv")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"steps": 3}, r"hockey\.steps: found 3, expected 50 to 500"),
        ({"steps": 20}, r"hockey\.steps: found 20, expected 50 to 500"),
        ({"steps": 600}, r"hockey\.steps: found 600, expected 50 to 500"),
        ({"episodes": 9}, r"hockey\.episodes: found 9, expected 10 to 1000"),
        ({"episodes": 1001}, r"hockey\.episodes: found 1001, expected 10 to 1000"),
    ],
)
def test_what_could_not_be_read_as_a_recording_is_not_written(tmp_path, changes, line):
    with pytest.raises(BadInput, match=line):
        stroke_files.write(of(tmp_path, **changes), tmp_path / "strokes.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_stroke_that_does_not_meet_its_puck_is_said_of_the_steps(request_, tmp_path, monkeypatch):
    def plan(*_, **__):
        raise ValueError("stroke: does not meet its puck")

    monkeypatch.setattr(stroke_files.recording_plan, "plan", plan)
    with pytest.raises(BadInput, match=r"hockey\.steps: found 50 \(stroke: does not meet"):
        stroke_files.write(request_, tmp_path / "strokes.npz")


def test_strokes_that_were_written_before_are_replaced(request_, tmp_path):
    file = tmp_path / "strokes.npz"
    stroke_files.write(request_, file)
    before = sha256(file)
    stroke_files.write(of(tmp_path, episodes=11), file)
    assert sha256(file) != before
    assert json.loads(file.with_suffix(".json").read_text())["sha256"] == sha256(file)


@pytest.mark.parametrize(
    "content", [b"{}", b'{"schema": "ricochet.puck-episodes/1"}', b"no JSON", b"[" * 10**6]
)
def test_the_manifest_of_something_else_is_never_overwritten(request_, tmp_path, content):
    manifest = tmp_path / "strokes.json"
    manifest.write_bytes(content)
    with pytest.raises(BadInput, match=r"strokes\.json: found another file, expected a new name"):
        stroke_files.write(request_, tmp_path / "strokes.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["strokes.json"]
    assert manifest.read_bytes() == content


def test_a_manifest_of_much_is_not_read(request_, tmp_path, monkeypatch):
    """One of 60 MB took 1.8 GB."""
    monkeypatch.setattr(limits, "TEXT", 10_000)
    (tmp_path / "strokes.json").write_bytes(b"[" + b"[]," * 10_000 + b"[]]")
    with pytest.raises(BadInput, match=r"strokes\.json: found 30004 bytes, expected at most 10000"):
        stroke_files.write(request_, tmp_path / "strokes.npz")


def test_a_file_that_no_manifest_of_strokes_states_is_never_overwritten(request_, tmp_path):
    file = tmp_path / "strokes.npz"
    file.write_bytes(b"mine")
    with pytest.raises(BadInput, match=r"strokes\.npz: found a file that strokes\.json does not"):
        stroke_files.write(request_, file)
    file.unlink()
    stroke_files.write(request_, file)
    manifest = file.with_suffix(".json").read_bytes()
    file.write_bytes(b"mine")
    with pytest.raises(BadInput, match="does not state"):
        stroke_files.write(request_, file)
    assert (file.read_bytes(), file.with_suffix(".json").read_bytes()) == (b"mine", manifest)


@pytest.mark.parametrize("name", ["strokes.npz", "strokes.json"])
def test_links_and_pipes_of_the_names_are_refused(request_, tmp_path, name):
    for put in (os.mkfifo, lambda path: path.symlink_to("nowhere")):
        put(tmp_path / name)
        with pytest.raises(BadInput, match="expected a new name"):
            stroke_files.write(request_, tmp_path / "strokes.npz")
        (tmp_path / name).unlink()
