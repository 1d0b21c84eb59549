"""A file that grows holds what was added at every moment, and is one line on a full disk."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.recordings.growing_file import GrowingFile

SOUND = np.random.default_rng(0).uniform(-0.5, 0.5, (2, 3000)).astype(np.float32)


def test_what_is_added_is_read_back(tmp_path: Path) -> None:
    with GrowingFile(tmp_path / "new" / "a.wav", channels=2, sample_rate=8000) as file:
        for part in np.split(SOUND, 3, axis=1):
            file.add(part)
    found = audio_files.read(tmp_path / "new" / "a.wav")
    assert found.sample_rate == 8000
    np.testing.assert_array_equal(found.samples, SOUND)


def test_what_a_kill_leaves_is_whole(tmp_path: Path) -> None:
    with GrowingFile(tmp_path / "a.wav", channels=2, sample_rate=8000) as file:
        file.add(SOUND)
        shutil.copy(tmp_path / "a.wav", tmp_path / "killed.wav")
    np.testing.assert_array_equal(audio_files.read(tmp_path / "killed.wav").samples, SOUND)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.wav").mkdir()
    with pytest.raises(BadInput, match=r"a\.wav: found .*, expected a place that can be written"):
        GrowingFile(tmp_path / "a.wav", channels=1, sample_rate=8000)


def test_a_full_disk_is_one_line_and_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with GrowingFile(tmp_path / "a.wav", channels=2, sample_rate=8000) as file:
        file.add(SOUND)

        def full(*_: object) -> None:
            raise soundfile.LibsndfileError(2)

        with monkeypatch.context() as patched, pytest.raises(BadInput, match="free space"):
            patched.setattr(soundfile.SoundFile, "write", full)
            file.add(SOUND)
    np.testing.assert_array_equal(audio_files.read(tmp_path / "a.wav").samples, SOUND)
