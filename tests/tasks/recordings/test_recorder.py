"""Sealing: complete or absent, never recorded twice, salvaged after any crash."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.hardware import locks
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.recordings import recorder as sealing
from ricochet.tasks.recordings import sessions as recordings
from tests.tasks.recordings import small_sessions

DROPS, DURATION = 3, 0.1


def record(folder, rig=None, **options):
    recorder = rig or small_sessions.NoiseRig()
    return sealing.record_session(
        recorder, small_sessions.plan(folder), takes=DROPS, duration=DURATION, **options
    )


def tree(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


class CrashError(Exception):
    """Stands for a kill between two steps."""


def crash_at(number):
    def before(index):
        if index == number:
            raise CrashError

    return before


def test_a_recorded_session_holds_every_take_and_no_scaffolding(tmp_path):
    seen = []
    sealed = record(tmp_path / "a", progress=lambda done, total: seen.append((done, total)))
    assert sealed.state == "recorded" and len(sealed.session.takes) == DROPS
    assert seen == [(1, 3), (2, 3), (3, 3)]
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == {"session.json", "capture.json"} | {f"take-000{n}.flac" for n in range(DROPS)}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_same_id_is_returned_as_it_is(tmp_path):
    record(tmp_path / "a")
    before, rig = tree(tmp_path), small_sessions.NoiseRig()
    again = record(tmp_path / "a", rig)
    assert again.state == "unchanged" and rig.takes == 0 and tree(tmp_path) == before


def test_what_a_crash_left_is_sealed_as_interrupted_and_not_recorded_again(tmp_path):
    with pytest.raises(CrashError):
        record(tmp_path / "a", small_sessions.NoiseRig(crash_at(2)))
    assert not (tmp_path / "a").exists()
    rig = small_sessions.NoiseRig()
    sealed = record(tmp_path / "a", rig)
    assert rig.takes == 0 and sealed.state == "interrupted" and len(sealed.session.takes) == 2
    assert json.loads((tmp_path / "a" / "capture.json").read_text())["state"] == "interrupted"
    assert record(tmp_path / "a").state == "unchanged"


def test_the_take_in_progress_is_salvaged_from_its_journal(tmp_path, monkeypatch):
    """The crash comes when the journal is complete and the sound file is not yet written."""

    def fail(*_args, **_options):
        raise CrashError

    with monkeypatch.context() as patch, pytest.raises(CrashError):
        patch.setattr(audio_files, "encode", fail)
        record(tmp_path / "a")
    session = record(tmp_path / "a").session
    (take,) = session.takes
    assert take.xruns == 1
    np.testing.assert_array_equal(
        recordings.load_take(tmp_path / "a" / take.file), small_sessions.noise(0)
    )


class Spoilt(small_sessions.NoiseRig):
    """A recorder whose second take holds what is no number."""

    def record(self, duration, *, journal=None):
        recording = super().record(duration, journal=journal)
        if self.takes == 2:
            recording.samples[1, [40, 41, 90]] = np.nan, np.inf, -np.inf
        return recording


def test_samples_that_are_not_finite_are_stored_as_0_and_the_take_is_set_aside(tmp_path):
    session = record(tmp_path / "a", Spoilt()).session
    assert [take.file for take in session.takes] == ["take-0000.flac", "take-0002.flac"]
    (bad,) = session.rejected
    assert bad.file == "take-0001.flac"
    assert bad.reason == (
        "found 3 samples of channel 1 not finite, the first at frame 40, "
        "expected numbers throughout: they were stored as 0"
    )
    manifest = json.loads((tmp_path / "a" / "session.json").read_text())
    assert [take.get("not_finite") for take in manifest["takes"]] == [
        None,
        [{"channel": 1, "first": 40, "samples": 3}],
        None,
    ]
    stored = recordings.load_take(tmp_path / "a" / "take-0001.flac")
    assert np.array_equal(stored[1, [40, 41, 90]], np.zeros(3)) and stored[1, 42] != 0.0


def steps_of_a_session(folder) -> int:
    """Count the renames by which a session is made."""
    count, rename = [0], Path.rename

    def counted(path, target):
        count[0] += 1
        return rename(path, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "rename", counted)
        record(folder)
    return count[0]


@pytest.mark.parametrize("operation", ["rename", "unlink"])
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_step_leaves_nothing_half_and_loses_no_complete_take(
    tmp_path, operation, after
):
    """Kill at the n-th rename or removal, for every n: the next call seals what there was."""
    steps = steps_of_a_session(tmp_path / "counted") + DROPS
    plain = getattr(Path, operation)
    for step in range(steps):
        folder, calls, complete = tmp_path / f"s{step}", [0], [0]

        def crashing(path, *arguments, _step=step, _calls=calls, _complete=complete, **options):
            _calls[0] += 1
            if _calls[0] == _step + 1 and not after:
                raise CrashError
            result = plain(path, *arguments, **options)
            named = arguments and str(arguments[0]).endswith("takes.json")
            _complete[0] += bool(operation == "rename" and named)
            if _calls[0] == _step + 1:
                raise CrashError
            return result

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, operation, crashing)
            with contextlib.suppress(CrashError):
                record(folder)
        sealed_at_once = folder.exists()
        rig = small_sessions.NoiseRig()
        sealed = record(folder, rig)
        assert sealed.session.rejected == ()
        digests = [take.sha256 for take in sealed.session.takes]
        assert len(set(digests)) == len(digests) and len(digests) >= complete[0]
        assert rig.takes == 0 or complete[0] == 0
        assert not sealing.partial_folder(folder).exists()
        assert sealed.state == "unchanged" or not sealed_at_once


def test_an_unwritable_place_is_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match="expected a place that can be written"):
        record(tmp_path / "file" / "a")


def test_what_could_not_be_sealed_is_refused_before_anything_is_recorded(tmp_path):
    plan = replace(small_sessions.plan(tmp_path / "a"), ball="ping pong")
    with pytest.raises(BadInput, match=r"object\.ball: found 'ping pong'"):
        sealing.record_session(None, plan, takes=1, duration=0.1)
    assert list(tmp_path.iterdir()) == []


def test_a_session_in_the_making_is_refused_to_another(tmp_path):
    def meanwhile(index):
        if index == 1:
            with pytest.raises(locks.BusyError):
                record(tmp_path / "a")

    assert record(tmp_path / "a", small_sessions.NoiseRig(meanwhile)).state == "recorded"


def test_one_rig_has_one_user(tmp_path):
    rig = small_sessions.NoiseRig()
    rig.exclusive = True
    lock = locks.RigLock(rig.rig.name, str(tmp_path))
    with locks.hold(lock), pytest.raises(locks.BusyError):
        record(tmp_path / "a", rig, lock_scope=str(tmp_path))


def test_encoding_is_the_same_twice():
    first = audio_files.encode(
        small_sessions.noise(1), sample_rate=small_sessions.RATE, form="flac"
    )
    assert first == audio_files.encode(
        small_sessions.noise(1), sample_rate=small_sessions.RATE, form="flac"
    )


@pytest.mark.parametrize("name", ["", ".", "a/b", "..", ".hidden", "a\n", "\x1b]0;title"])
def test_a_name_that_no_folder_can_have_is_refused_before_anything_is_recorded(name):
    """An empty one had taken the folder of all sessions for itself."""
    with pytest.raises(BadInput, match="a plain name, as of a folder"):
        sealing.check_name(name)
