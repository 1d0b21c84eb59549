"""A full disk ends in a clear error; what was complete stays, and there is no half file."""

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import recorder
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.registry import promotion, promotion_log, runs
from ricochet.tasks.registry.promotion_log import AliasPair, Entry
from ricochet.tasks.storage import files
from tests.crash import registry_kills
from tests.tasks.recordings import small_sessions


def record(folder):
    return recorder.record_session(
        small_sessions.NoiseRig(), small_sessions.plan(folder), takes=3, duration=0.1
    )


def tree(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Filling:
    """A file whose writes are counted with those of its fellows; the n-th stops half-way."""

    def __init__(self, file, left):
        self.file, self.left = file, left

    def write(self, content):
        self.left[0] -= 1
        if self.left[0] == 0:
            self.file.write(memoryview(content)[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(content)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.file.close()


def fill(patch, number, folder):
    """Let the disk be full at the n-th write under a folder, once; returns what counts down."""
    left, plain = [number], Path.open

    def opened(path, mode="r", *more, **words):
        file = plain(path, mode, *more, **words)
        return Filling(file, left) if path.is_relative_to(folder) and mode != "rb" else file

    patch.setattr(Path, "open", opened)
    return left


def complete(folder):
    """Return the takes that a session in the making lists, by the digest of their files."""
    listed = recorder.partial_folder(folder) / recorder.TAKES
    return [row["sha256"] for row in json.loads(listed.read_text())] if listed.exists() else []


def test_a_full_disk_is_one_line_and_keeps_what_was_complete(tmp_path, monkeypatch):
    """The disk fills at the n-th write, for every n; then there is room again. Three takes are a
    plan, four writes each, a report and a manifest: fifteen."""
    counts = []
    for number in range(1, 100):
        folder, said = tmp_path / f"s{number}", ""
        with monkeypatch.context() as patch:
            left = fill(patch, number, tmp_path)
            try:
                record(folder)
            except BadInput as error:
                said = str(error)
        if left[0] > 0:
            assert not said
            break
        assert "no space left on device, expected free space on the disk" in said
        assert "\n" not in said
        kept = complete(folder)
        counts.append(len(kept))
        session = record(folder).session
        assert session.rejected == ()
        assert [take.sha256 for take in session.takes][: len(kept)] == kept
        for index, take in enumerate(session.takes):
            whole = small_sessions.noise(index)[:, : take.frames]
            np.testing.assert_array_equal(recordings.load_take(folder / take.file), whole)
    assert len(counts) >= 15 and counts == sorted(counts) and set(counts) == {0, 1, 2, 3}


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "x"
    files.write_bytes(path, b"old")

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="no space left"):
        files.write_bytes(path, b"new")
    assert tree(tmp_path) == {"x": b"old"}


def test_a_log_on_a_full_disk_stays_readable(tmp_path, monkeypatch):
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    entry = Entry(
        "promote", "ball-table", AliasPair(None, None), AliasPair("1", None), "run", "a test"
    )
    promotion_log.append(entry)
    with monkeypatch.context() as patch:
        fill(patch, 1, tmp_path)
        with pytest.raises(BadInput, match="no space left on device"):
            promotion_log.append(entry)
    promotion_log.append(entry)
    assert promotion_log.read() == (entry, entry)


@pytest.mark.slow
def test_a_promotion_that_cannot_be_logged_moves_no_alias_and_again_it_is_done_once(
    tmp_path, monkeypatch
):
    """The first write says what begins: no alias moves. The second says that it is done."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    tracker = runs.connect(store=tmp_path / "mlflow")
    for number in (1, 2):
        name = f"ball-{number}"
        registry_kills.prepare(tmp_path, name, "promote")
        before = promotion.present(tracker, name)
        with monkeypatch.context() as patch:
            fill(patch, number, promotion_log.place())
            with pytest.raises(BadInput, match="no space left on device"):
                registry_kills.promote(tracker, name, "2")
        assert promotion.present(tracker, name) == (before if number == 1 else AliasPair("2", "1"))
        for _ in range(2):
            registry_kills.promote(tracker, name, "2")
            assert promotion.present(tracker, name) == AliasPair("2", "1")
        entries = promotion_log.read(name)
        assert [entry.step for entry in entries] == ["begun", "done"] * 2
