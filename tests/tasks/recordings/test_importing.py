"""Recordings become takes: what was recorded is not changed, and what differs is named."""

import json
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import importing, sessions
from ricochet.tasks.recordings.importing import Cuts
from tests.tasks.recordings import small_sessions

RATE = small_sessions.RATE


def whole(path, samples, rate):
    return Cuts(((0, samples.shape[1]),))


def sealed(folder, files, *, cut=whole, **changes):
    """Write files as a session into a folder, and read it."""
    plan = small_sessions.plan(folder, truth=None, **changes)
    folder.mkdir()
    importing.write(folder, plan, files, importing.statement(plan, files, None), cut=cut)
    return sessions.read_session(folder)


def record(path, seed=0, *, subtype="PCM_16", rate=RATE, channels=3):
    samples = small_sessions.noise(seed, channels=channels)
    soundfile.write(path, samples.T, rate, subtype=subtype)
    return samples


FORMS = [
    ("a.wav", "PCM_16", "take-0000.wav"),
    ("a.flac", "PCM_24", "take-0000.flac"),
    ("a.wav", "FLOAT", "take-0000.wav"),
    ("a.aiff", "PCM_16", "take-0000.flac"),
    ("a.WAV", "PCM_32", "take-0000.flac"),
]


@pytest.mark.parametrize(("name", "subtype", "take"), FORMS)
def test_a_form_without_loss_keeps_every_sample(tmp_path, name, subtype, take):
    samples = record(tmp_path / name, subtype=subtype)
    session = sealed(tmp_path / "s", [tmp_path / name])
    assert [each.file for each in session.takes] == [take] and session.rejected == ()
    found = sessions.load_take(session.folder / take)
    assert np.array_equal(found, samples.astype(np.float64))


def test_wav_and_flac_stay_as_they_are_byte_by_byte(tmp_path):
    for name in ("a.wav", "b.flac"):
        record(tmp_path / name)
    session = sealed(tmp_path / "s", [tmp_path / "a.wav", tmp_path / "b.flac"])
    for take, name in zip(session.takes, ("a.wav", "b.flac"), strict=True):
        assert (session.folder / take.file).read_bytes() == (tmp_path / name).read_bytes()


def test_pieces_together_are_the_recording(tmp_path):
    samples = record(tmp_path / "a.wav", subtype="PCM_24")
    pieces = Cuts(((0, 300), (300, 800)), ("two",))
    session = sealed(tmp_path / "s", [tmp_path / "a.wav"], cut=lambda *_: pieces)
    found = [sessions.load_take(session.folder / take.file) for take in session.takes]
    assert np.array_equal(np.concatenate(found, axis=1), samples.astype(np.float64))
    rows = json.loads((session.folder / "import.json").read_text())["takes"]
    assert [(row["file"], row["first"], row["end"]) for row in rows] == [
        ("a.wav", 0, 300),
        ("a.wav", 300, 800),
    ]
    assert importing.notes(session.folder) == ["a.wav: two"]


def test_recordings_that_differ_in_rate_or_channels_are_named(tmp_path):
    record(tmp_path / "a.wav")
    record(tmp_path / "b.wav", rate=RATE * 2)
    record(tmp_path / "c.wav", channels=2)
    with pytest.raises(BadInput, match=r"b\.wav: found 16000 Hz, expected 8000 Hz, as a\.wav"):
        sealed(tmp_path / "s", [tmp_path / "a.wav", tmp_path / "b.wav"])
    with pytest.raises(BadInput, match=r"c\.wav: found 2 channels, expected 3"):
        sealed(tmp_path / "t", [tmp_path / "c.wav"])


def test_a_folder_gives_its_recordings_by_name_and_nothing_else(tmp_path):
    for name in ("b.wav", "a.FLAC", "._c.wav", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    found = importing.find([tmp_path])
    assert [path.name for path in found] == ["a.FLAC", "b.wav"]


def test_names_that_are_no_recordings_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "a.wav").write_text("x")
    (tmp_path / "empty").mkdir()
    for paths, fault in (
        ([tmp_path / "a.txt"], r"a\.txt"),
        ([tmp_path / "absent.wav"], "nothing"),
        ([tmp_path / "empty"], "0 recordings"),
        ([tmp_path / "a.wav", tmp_path], "named twice"),
    ):
        with pytest.raises(BadInput, match=fault):
            importing.find(paths)


def test_the_statement_is_of_what_was_recorded_not_of_where_it_lies(tmp_path):
    record(tmp_path / "a.wav", 1)
    record(tmp_path / "b.wav", 2)
    (tmp_path / "c.wav").write_bytes((tmp_path / "a.wav").read_bytes())
    plan = small_sessions.plan(tmp_path / "s", truth=None)
    first, second, copy = (
        importing.statement(plan, [tmp_path / name], None) for name in ("a.wav", "b.wav", "c.wav")
    )
    assert first == copy and importing.name_of("a", first) == importing.name_of("a", copy)
    assert first != second
    for changed in (replace(plan, ball="golf"), replace(plan, drop_height=0.5)):
        assert importing.statement(changed, [tmp_path / "a.wav"], None) != first
    assert importing.statement(plan, [tmp_path / "a.wav"], 0.003) != first


def test_the_level_of_a_channel_is_that_of_all_takes(tmp_path):
    for name, size in (("a.wav", 0.25), ("b.wav", 0.5)):
        tone = np.tile([size, -size, 0.0], 400)
        soundfile.write(tmp_path / name, np.outer(tone, [1.0, 0.5]) + 2**-12, RATE)
    rig = replace(small_sessions.RIG, microphones=small_sessions.RIG.microphones[:2])
    session = sealed(tmp_path / "s", [tmp_path / "a.wav", tmp_path / "b.wav"], rig=rig)
    if session.rejected:  # channels that are one and the same are set aside
        pytest.fail(str(session.rejected))
    first, second = importing.levels(session)
    assert first.peak == pytest.approx(0.5, abs=1e-3)
    assert second.peak == pytest.approx(0.25, abs=1e-3)
    assert first.rms == pytest.approx(np.sqrt((0.25**2 + 0.5**2) / 2 * 2 / 3), abs=1e-3)
