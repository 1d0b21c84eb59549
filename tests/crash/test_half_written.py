"""Half-written things are never visible as done: a real kill at every step of making them."""

import json

import numpy as np
import pytest

from ricochet.tasks.recordings import recorder
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.registry import packages
from ricochet.tasks.storage import files
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests.crash import kill
from tests.tasks.recordings import small_sessions


def record(folder):
    return recorder.record_session(
        small_sessions.NoiseRig(), small_sessions.plan(folder), takes=2, duration=0.1, form="wav"
    )


def listed(folder):
    """Return the names in a folder that a reader would look at."""
    return [path.name for path in folder.iterdir() if not path.name.startswith(".")]


@pytest.mark.slow
def test_a_session_is_whole_or_absent_and_no_complete_take_is_lost(tmp_path):
    for step in kill.at_every_step(tmp_path, lambda step: record(tmp_path / f"s{step}")):
        folder = tmp_path / f"s{step}"
        if folder.exists():
            assert recordings.read_session(folder).rejected == ()
            assert len(recordings.read_session(folder).takes) == 2
        partial = recorder.partial_folder(folder)
        takes = partial / recorder.TAKES
        complete = len(json.loads(takes.read_text())) if takes.exists() else 0
        sealed = record(folder)
        assert sealed.session.rejected == () and len(sealed.session.takes) >= complete
        assert not partial.exists() and listed(tmp_path).count(folder.name) == 1
        assert record(folder).state == "unchanged"


def test_a_package_is_whole_or_absent(tmp_path, package):
    for step in kill.at_every_step(
        tmp_path, lambda step: packages.write_package(tmp_path / f"p{step}", package, reader=GRID)
    ):
        if (tmp_path / f"p{step}").exists():
            left = packages.read_package(tmp_path / f"p{step}", reader=GRID)
            assert left.data_digest == package.data_digest
        packages.write_package(tmp_path / f"p{step}", package, reader=GRID)
        assert (
            packages.read_package(tmp_path / f"p{step}", reader=GRID).data_digest
            == package.data_digest
        )


@pytest.mark.parametrize("before", [None, b'{"old": 1}\n'])
def test_a_result_is_the_old_one_or_the_new_one(tmp_path, before):
    path = tmp_path / "result.json"

    def write(_step):
        files.write_json(path, {"numbers": list(range(2000))})

    if before is not None:
        path.write_bytes(before)
    for _ in kill.at_every_step(tmp_path, write):
        if before is None:
            assert not path.exists() or len(json.loads(path.read_text())["numbers"]) == 2000
        else:
            assert path.read_bytes() == before or "numbers" in json.loads(path.read_text())


def test_arrays_are_whole_or_absent(tmp_path):
    path, numbers = tmp_path / "samples.npz", np.arange(5000.0)
    for _ in kill.at_every_step(tmp_path, lambda _: files.write_arrays(path, {"x": numbers})):
        if path.exists():
            with np.load(path) as found:
                np.testing.assert_array_equal(found["x"], numbers)
