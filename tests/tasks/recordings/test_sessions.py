"""The session format: what is written is read, and each fault is one line about one file."""

import json
import struct
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from ricochet.hardware.microphones.interface import Microphone
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import sessions as recordings
from ricochet.tasks.storage import files
from tests.tasks.recordings import small_sessions

TAKES = 3


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "evening"
    takes = [small_sessions.noise(seed) for seed in range(TAKES)]
    small_sessions.write_session(small_sessions.plan(path), takes, form="wav")
    return path


def spoil(folder, change):
    """Apply a change to the JSON of a session."""
    path = folder / "session.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def replace_take(folder, samples, *, rate=small_sessions.RATE, subtype="PCM_16"):
    """Put other sound in the place of the first take, with its digest put right."""
    path = folder / "take-0000.wav"
    soundfile.write(path, np.asarray(samples).T, rate, subtype=subtype)

    def change(content):
        content["takes"][0]["sha256"] = files.sha256(path.read_bytes())
        content["takes"][0]["frames"] = np.asarray(samples).shape[1]

    spoil(folder, change)


def only_reason(folder):
    """Read a session of which the first take alone is bad, and return its reason."""
    session = recordings.read_session(folder)
    assert len(session.takes) == TAKES - 1
    (entry,) = session.rejected
    assert entry.file == "take-0000.wav" and "\n" not in entry.reason
    return entry.reason


@pytest.mark.parametrize("form", ["wav", "flac"])
def test_what_is_written_is_read_sample_exact(tmp_path, form):
    plan = small_sessions.plan(tmp_path / "evening")
    takes = [small_sessions.noise(seed) for seed in range(TAKES)]
    written = small_sessions.write_session(plan, takes, form=form)
    found = recordings.read_session(plan.folder)
    assert found == written and replace(found, takes=()) == plan and found.rejected == ()
    for take, samples in zip(found.takes, takes, strict=True):
        read = recordings.load_take(plan.folder / take.file)
        assert read.dtype == np.float64
        np.testing.assert_array_equal(read, samples)


def test_the_order_in_which_microphones_are_listed_changes_nothing(folder):
    before = recordings.read_session(folder)
    spoil(folder, lambda content: content["rig"]["microphones"].reverse())
    assert recordings.read_session(folder) == before


def test_a_session_may_lack_the_truth_and_the_third_microphone(tmp_path):
    rig = replace(small_sessions.RIG, microphones=small_sessions.RIG.microphones[:2])
    plan = small_sessions.plan(tmp_path / "pair", rig=rig, truth=None)
    found = small_sessions.write_session(plan, [small_sessions.noise(1, channels=2)])
    assert found.truth is None and len(found.takes) == 1


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
def test_every_depth_of_the_format_is_read(folder, subtype):
    replace_take(folder, small_sessions.noise(9), subtype=subtype)
    assert recordings.read_session(folder).rejected == ()
    np.testing.assert_array_equal(
        recordings.load_take(folder / "take-0000.wav"), small_sessions.noise(9)
    )


def flat(samples, rows, value):
    changed = samples.copy()
    changed[rows] = value
    return changed


BAD_SOUND = {
    "wrong channel count": (small_sessions.noise(5, channels=2), {}, "2 channels, expected 3"),
    "wrong rate": (small_sessions.noise(5), {"rate": 16000}, "16000 Hz, expected 8000 Hz"),
    "not a number": (
        flat(small_sessions.noise(5), (1, 40), np.nan),
        {"subtype": "FLOAT"},
        "nan in channel 1 at frame 40",
    ),
    "infinite": (
        flat(small_sessions.noise(5), (0, 7), np.inf),
        {"subtype": "FLOAT"},
        "inf in channel 0",
    ),
    "clipped": (flat(small_sessions.noise(5), (2, slice(50, 54)), 1.0), {}, "clipped, 4 frames"),
    "clipped below": (
        flat(small_sessions.noise(5), (2, slice(50, 54)), -1.0),
        {},
        "clipped, 4 frames",
    ),
    "silent": (np.zeros((3, 800)), {}, "silence in every channel"),
    "stuck": (
        flat(small_sessions.noise(5), (1, slice(200, None)), 0.1),
        {},
        "channel 1: found stuck at 0.09998 for 600",
    ),
    "dead channel": (flat(small_sessions.noise(5), 1, 0.0), {}, "stuck at 0 for 800 frames"),
    "copied channel": (small_sessions.noise(5)[[0, 1, 1]], {}, "a copy of another"),
    "8 bit": (small_sessions.noise(5), {"subtype": "PCM_U8"}, "PCM_U8"),
    "no frames": (np.zeros((3, 0)), {}, "no frames"),
}


@pytest.mark.parametrize("fault", BAD_SOUND)
def test_a_bad_take_is_set_aside_with_its_reason(folder, fault):
    samples, options, says = BAD_SOUND[fault]
    replace_take(folder, samples, **options)
    assert says in only_reason(folder)


def test_three_loud_frames_that_differ_are_not_clipped(folder):
    samples = small_sessions.noise(5)
    samples[0, 50:53] = (0.9, 0.99, 0.9)
    replace_take(folder, samples)
    assert recordings.read_session(folder).rejected == ()


def test_a_missing_an_empty_and_a_cut_take_are_set_aside(folder):
    path = folder / "take-0000.wav"
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    assert "cut short, 4700 of 4800 bytes" in only_reason(folder)
    path.write_bytes(content[:20])
    assert "unreadable" in only_reason(folder)
    path.write_bytes(b"")
    assert "zero bytes" in only_reason(folder)
    path.unlink()
    assert "No such file" in only_reason(folder)


def test_a_cut_flac_is_set_aside(tmp_path):
    plan = small_sessions.plan(tmp_path / "evening")
    small_sessions.write_session(plan, [small_sessions.noise(seed) for seed in range(2)])
    path = plan.folder / "take-0001.flac"
    path.write_bytes(path.read_bytes()[:-2000])
    session = recordings.read_session(plan.folder)
    assert [entry.file for entry in session.rejected] == ["take-0001.flac"]


def test_a_recorder_that_never_closed_its_header_is_read(folder):
    """Streamed WAV files say 0xFFFFFFFF for their length: what is there is the recording."""
    path = folder / "take-0000.wav"
    content = bytearray(path.read_bytes())
    at = content.index(b"data") + 4
    content[at : at + 4] = struct.pack("<I", 0xFFFFFFFF)
    path.write_bytes(content)
    np.testing.assert_array_equal(recordings.load_take(path), small_sessions.noise(0))


def test_a_flipped_bit_is_found_by_the_digest(folder):
    path = folder / "take-0000.wav"
    content = bytearray(path.read_bytes())
    content[-7] ^= 1
    path.write_bytes(content)
    assert "sha256" in only_reason(folder)


def test_a_take_that_is_a_link_is_set_aside(folder, tmp_path):
    path = folder / "take-0000.wav"
    path.rename(tmp_path / "elsewhere.wav")
    path.symlink_to(tmp_path / "elsewhere.wav")
    assert "a link" in only_reason(folder)


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(content):
        for key in keys:
            content = content[key]
        content[last] = value

    return change


@pytest.mark.parametrize(
    "change",
    [put("object", "drop_height", None), lambda content: content["object"].pop("drop_height")],
    ids=["null", "absent"],
)
def test_a_session_may_leave_out_the_height_of_release(folder, change):
    spoil(folder, change)
    session = recordings.read_session(folder)
    assert session.drop_height is None
    again = recordings.to_json(session, session.takes)
    assert recordings.parse(json.dumps(again), folder / "session.json")[0].drop_height is None


BAD_SESSIONS = {
    "unknown key": (put("surfaec", 1), "unknown key 'surfaec'"),
    "unknown inner key": (put("object", "bal", 1), "object: found unknown key 'bal'"),
    "unknown key of a take": (put("takes", 0, "shaa", 1), "nearest is 'sha256'"),
    "missing key": (lambda content: content.pop("rig"), "no key 'rig'"),
    "other schema": (put("schema", "ricochet.session/2"), "expected ricochet.session/1"),
    "text for a number": (put("object", "drop_height", "high"), "object.drop_height"),
    "no height": (put("object", "drop_height", 0), "object.drop_height"),
    "a height below the surface": (put("object", "drop_height", -0.3), "object.drop_height"),
    "a height that is no number": (put("object", "drop_height", float("nan")), "drop_height"),
    "a truth value for a height": (put("object", "drop_height", False), "object.drop_height"),
    "not finite": (put("rig", "temperature", float("nan")), "rig.temperature"),
    "no rate": (put("rig", "sample_rate", 0), "rig.sample_rate"),
    "truth value for a number": (put("takes", 0, "xruns", True), "takes[0].xruns"),
    "a path for a file": (put("takes", 0, "file", "../other/take-0000.wav"), "takes[0].file"),
    "a path for an id": (put("id", "../x"), ": id"),
    "one file twice": (put("takes", 0, "file", "take-0001.wav"), "one file twice"),
    "no digest": (put("takes", 0, "sha256", "abc"), "64 hexadecimal"),
    "no time": (put("started_at", "yesterday"), "a time like"),
    "a time that is none in UTC": (put("started_at", "0001-01-01T00:00:00+14:00"), "a time like"),
    "a number past all floats": (put("object", "drop_height", 10**400), "at most 300 digits"),
    "a height past all bounds": (put("object", "drop_height", 10**200), "object.drop_height"),
    "no microphones": (put("rig", "microphones", []), "channels []"),
    "a missing channel": (put("rig", "microphones", 2, "channel", 3), "channels [0, 1, 3]"),
    "a channel twice": (put("rig", "microphones", 2, "channel", 1), "channels [0, 1, 1]"),
    "a missing position": (lambda content: content["rig"]["microphones"][1].pop("position"),
                           "microphones[1]: found no key 'position'"),
    "a short position": (put("rig", "microphones", 1, "position", [0.0, 0.1]), "3 numbers"),
    "collinear": (put("rig", "microphones", 2, "position", [0.8, -0.35, 0.0762]), "collinear"),
    "coincident": (put("rig", "microphones", 2, "position", [0.25, -0.3, 0.0762]), "coincide"),
    "far apart": (put("rig", "microphones", 1, "position", [9.0, 9.0, 0.0]), "at most 10 m"),
    "air that nobody breathes": (put("rig", "temperature", -99.0), "rig.temperature"),
    "a list": (put("object", []), "an object"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD_SESSIONS)
def test_a_bad_session_is_refused_in_one_line_that_names_file_and_key(folder, fault):
    change, says = BAD_SESSIONS[fault]
    spoil(folder, change)
    with pytest.raises(BadInput) as caught:
        recordings.read_session(folder)
    line = str(caught.value)
    assert line.startswith(str(folder / "session.json")) and says in line and "\n" not in line


def test_a_folder_without_a_session_and_broken_json_are_refused(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        recordings.read_session(tmp_path)
    (tmp_path / "session.json").write_text("{")
    with pytest.raises(BadInput, match="no JSON"):
        recordings.read_session(tmp_path)


def test_a_session_with_extra_microphones_than_channels_sets_all_takes_aside(tmp_path):
    fourth = Microphone(3, (0.1, 0.1, 0.0762))
    rig = replace(small_sessions.RIG, microphones=(*small_sessions.RIG.microphones, fourth))
    found = small_sessions.write_session(
        small_sessions.plan(tmp_path / "evening", rig=rig), [small_sessions.noise(1)]
    )
    assert found.takes == () and "3 channels, expected 4" in found.rejected[0].reason


def test_the_digest_of_the_data_is_that_of_the_tracking_file(tmp_path):
    file = tmp_path / "data.dvc"
    assert recordings.data_digest(file) is None
    digest = "0" * 32 + ".dir"
    file.write_text(f"outs:\n- md5: {digest}\n  path: data\n")
    assert recordings.data_digest(file) == digest


def test_a_recording_counts_once_whatever_its_name(folder):
    """Taken twice, a posterior would be narrower than what was heard."""
    file = folder / "session.json"
    content = json.loads(file.read_text())
    first = content["takes"][0]
    (folder / "copy.flac").hardlink_to(folder / first["file"])
    content["takes"].append({**first, "file": "copy.flac"})
    file.write_text(json.dumps(content))
    session = recordings.read_session(folder)
    assert [take.file for take in session.takes] == [take["file"] for take in content["takes"][:-1]]
    (rejected,) = session.rejected
    assert rejected.file == "copy.flac" and f"the recording of {first['file']}" in rejected.reason


def test_a_recording_of_an_earlier_session_is_left_out(folder):
    one = recordings.read_session(folder)
    other = replace(one, identity="other", takes=one.takes[1:])
    first, second = recordings.once([one, other])
    assert first == one and second.takes == ()
    assert [entry.file for entry in second.rejected] == [take.file for take in one.takes[1:]]
    assert f"the recording of {one.identity}/{one.takes[1].file}" in second.rejected[0].reason
