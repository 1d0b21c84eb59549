"""The journal: everything pushed is on the disk, what was lost is located."""

import errno

import numpy as np
import pytest

from ricochet.hardware.microphones import journal
from ricochet.models.core.bad_input import BadInput

RATE, CHANNELS = 8000, 2


def blocks(count: int, *, size: int = 100) -> np.ndarray:
    draw = np.random.default_rng(3)
    return draw.standard_normal((count, size, CHANNELS)).astype(np.float32)


def write(path, pushed, **options) -> journal.Journal:
    sink = journal.Journal(path, channels=CHANNELS, sample_rate=RATE, **options)
    for block in pushed:
        sink.push(block)
    sink.close()
    return sink


def test_what_was_pushed_is_read_sample_exact(tmp_path):
    pushed = blocks(70)
    sink = write(tmp_path / "j", pushed, seconds_ahead=1.0)
    samples, rate = journal.read(tmp_path / "j")
    assert rate == RATE and sink.gaps == []
    np.testing.assert_array_equal(samples.T, pushed.reshape(-1, CHANNELS))


def test_the_size_of_the_blocks_changes_nothing(tmp_path):
    pushed = blocks(12)
    write(tmp_path / "a", pushed)
    write(tmp_path / "b", pushed.reshape(40, 30, CHANNELS))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_full_ring_drops_whole_blocks_and_says_where(tmp_path, monkeypatch):
    """A writer that does not come round in time: the ring of 250 frames takes two blocks."""
    monkeypatch.setattr(journal, "POLL_PERIOD", 30.0)
    sink = journal.Journal(
        tmp_path / "j", channels=CHANNELS, sample_rate=RATE, seconds_ahead=250 / RATE
    )
    while sink._writer.is_alive() and not sink._closing._cond._waiters:  # asleep on an empty ring
        pass
    pushed = blocks(4)
    for block in pushed:
        sink.push(block)
    sink.close()
    assert sink.gaps == [200, 300]
    np.testing.assert_array_equal(
        journal.read(tmp_path / "j")[0].T, pushed[:2].reshape(-1, CHANNELS)
    )


def test_a_frame_cut_short_is_left_out(tmp_path):
    pushed = blocks(3)
    path = tmp_path / "j"
    write(path, pushed)
    path.write_bytes(path.read_bytes()[:-5])
    np.testing.assert_array_equal(journal.read(path)[0].T, pushed.reshape(-1, CHANNELS)[:-1])


def test_a_full_disk_is_reported_at_closing_and_leaves_what_was_written(tmp_path):
    class Full:
        """A file that is full after its third write."""

        def __init__(self, file):
            self.file, self.left = file, 3

        def write(self, content):
            self.left -= 1
            if self.left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.file.write(content)

        def __getattr__(self, name):
            return getattr(self.file, name)

    sink = journal.Journal(tmp_path / "j", channels=CHANNELS, sample_rate=RATE)
    sink._file = Full(sink._file)
    pushed = blocks(200)
    for block in pushed:
        sink.push(block)
        while sink._ring.ready and sink._failure is None:
            pass
    with pytest.raises(OSError, match="No space left"):
        sink.close()
    samples, _ = journal.read(tmp_path / "j")
    np.testing.assert_array_equal(samples.T, pushed[:3].reshape(-1, CHANNELS))


@pytest.mark.parametrize("content", [b"", b"not a header\n", b"{}\n", b"[1]\n"])
def test_what_is_no_journal_is_refused(tmp_path, content):
    path = tmp_path / "j"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="no header"):
        journal.read(path)
