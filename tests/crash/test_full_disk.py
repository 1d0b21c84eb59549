"""A full disk ends in a clear error; what was complete stays, and there is no half file."""

import errno
import os

import pytest

from models.core.bad_input import BadInput
from tasks import audio, promotion_log, sealing
from tasks.promotion_log import Entry, Pair
from tests.tasks import sessions


def record(folder):
    return sealing.record_session(sessions.NoiseRig(), sessions.plan(folder), drops=3, duration=0.1)


def tree(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_full_disk_is_one_line_and_keeps_what_was_complete(tmp_path, monkeypatch):
    """The disk fills at the n-th forced write, for every n; then there is room again."""
    plain = os.fsync
    for number in range(12):
        folder, calls = tmp_path / f"s{number}", [0]

        def full(handle, _calls=calls, _number=number):
            _calls[0] += 1
            if _calls[0] == _number + 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return plain(handle)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(BadInput, match="No space left on device") as caught:
                record(folder)
        assert "free space on the disk" in str(caught.value) and "\n" not in str(caught.value)
        assert record(folder).session.rejected == ()


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "x"
    audio.write_durably(path, b"old")

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="No space left"):
        audio.write_durably(path, b"new")
    assert tree(tmp_path) == {"x": b"old"}


def test_a_promotion_that_cannot_be_logged_moves_nothing_and_the_log_stays_readable(
    tmp_path, monkeypatch
):
    log = tmp_path / "promotions.jsonl"
    entry = Entry("promote", "ball-table", Pair(None, None), Pair("1", None), "run", "a test")
    promotion_log.append(log, entry)

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(BadInput, match="no space left on device"):
            promotion_log.append(log, entry)
    assert promotion_log.read(log)[0] == entry
