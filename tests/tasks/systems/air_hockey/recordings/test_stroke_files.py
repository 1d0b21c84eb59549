"""Files of strokes say what to play, the same for the same seed."""

import json
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.recordings import stroke_files
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.training.steps import TrainingRequest


@pytest.fixture
def request_(tmp_path: Path) -> TrainingRequest:
    settings = catalogue.load_settings().changed(Hockey, episodes=10, steps=50)
    return TrainingRequest(settings, tmp_path / "out", seed=3)


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


def test_the_same_seed_writes_the_same_numbers(request_, tmp_path):
    for name in ("a.npz", "b.npz"):
        stroke_files.write(request_, tmp_path / name)
    with np.load(tmp_path / "a.npz") as one, np.load(tmp_path / "b.npz") as other:
        for name in one.files:
            np.testing.assert_array_equal(one[name], other[name])


def test_another_kind_of_file_is_refused(request_, tmp_path):
    with pytest.raises(BadInput, match=r"a file NAME\.npz"):
        stroke_files.write(request_, tmp_path / "strokes.csv")
