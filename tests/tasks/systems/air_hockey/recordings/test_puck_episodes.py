"""What was written is read; what cannot be a recording of this table is refused in one line."""

import json
import shutil

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.storage.files import sha256, write_arrays, write_json
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes
from tests.tasks.systems.air_hockey.recordings import recorded

MANIFEST = puck_episodes.MANIFEST


@pytest.fixture
def folder(tmp_path):
    return recorded.written(tmp_path / "one")


def restate(folder, **changes):
    content = json.loads((folder / MANIFEST).read_text())
    write_json(folder / MANIFEST, {**content, **changes})


def rewrite(folder, change, name="episode-0003.npz"):
    """Change an episode and state its new digest."""
    with np.load(folder / name) as found:
        arrays = dict(found)
    write_arrays(folder / name, change(arrays) or arrays)
    content = json.loads((folder / MANIFEST).read_text())
    for each in content["files"]:
        if each["file"] == name:
            each["sha256"] = sha256(folder / name)
    write_json(folder / MANIFEST, content)


def setting(name, index, value):
    def change(arrays):
        arrays[name][index] = value

    return change


def test_what_was_written_is_read_again(folder):
    found = puck_episodes.read(folder)
    by_start = {each.puck[5, 0]: each for each in found.episodes}
    for each in recorded.episodes(12):
        np.testing.assert_array_equal(by_start[each.puck[5, 0]].mallet, each.mallet)
    assert len(found.episodes) == 12 and len(found.digest) == 64


def test_its_numbers_alone_are_its_digest(folder, tmp_path):
    """Not its place, the order and names of its files, or a note."""
    digest = puck_episodes.read(folder).digest
    shutil.copytree(folder, tmp_path / "two")
    content = json.loads((folder / MANIFEST).read_text())
    restate(tmp_path / "two", files=content["files"][::-1], note="moved")
    assert puck_episodes.read(tmp_path / "two").digest == digest
    rewrite(folder, setting("puck", (7, 0), 0.1))
    assert puck_episodes.read(folder).digest != digest


def test_one_file_of_episodes_is_the_same_recording(folder, tmp_path):
    episodes = recorded.episodes(12)
    arrays = {n: np.stack([getattr(e, n) for e in episodes]) for n in ("puck", "mallet")}
    write_arrays(tmp_path / "all.npz", {"time": episodes[0].time, **arrays})
    content = json.loads((folder / MANIFEST).read_text())
    content["files"] = [{"file": "all.npz", "sha256": sha256(tmp_path / "all.npz")}]
    write_json(tmp_path / "all.json", content)
    found = puck_episodes.read(tmp_path / "all.npz")
    assert found.digest == puck_episodes.read(folder).digest


def test_every_fifth_episode_is_held_out_whatever_their_order(folder):
    learnt, held_out = puck_episodes.split(puck_episodes.read(folder))
    assert (len(learnt.puck), len(held_out.puck)) == (10, 2)
    content = json.loads((folder / MANIFEST).read_text())
    restate(folder, files=content["files"][::-1])
    _, again = puck_episodes.split(puck_episodes.read(folder))
    np.testing.assert_array_equal(again.puck, held_out.puck)


def test_episodes_begin_where_the_puck_is_first_seen_and_end_in_a_goal(folder):
    def change(arrays):
        arrays["puck"][:4] = np.nan
        arrays["puck"][40:] = 0.96, 0.05

    rewrite(folder, change)
    found = puck_episodes.read(folder)
    (one,) = (each for each in found.episodes if np.isnan(each.puck[0, 0]))
    assert np.isnan(one.puck[40:]).all()
    places = puck_episodes.padded([one, found.episodes[0]])
    assert np.isfinite(places.puck[0, :36]).all() and np.isnan(places.puck[0, 36:]).all()
    np.testing.assert_array_equal(places.mallet[0, :46], one.mallet[4:])


FAULTS = [
    (setting("puck", slice(None), 400.0), r"0003.npz: puck: found \[400.0, 400.0\] at sample 0"),
    (setting("puck", (9, 1), np.inf), "puck: found infinite or half a place"),
    (setting("puck", (9, 1), np.nan), "half a place"),
    (setting("puck", slice(3, None), np.nan), "3 places of the puck"),
    (setting("puck", slice(None, None, 3), np.nan), "no 3 places in a row"),
    (lambda a: a.update(puck=a["puck"].astype(np.longdouble)), "expected float32 or float64"),
    (lambda a: a.update(puck=a["puck"].astype(">f8")), "expected float32 or float64"),
    (lambda a: a.update(puck=a["puck"].astype(int)), "expected float32 or float64"),
    (lambda a: a.update({"a\nb\x1b[31m": a["puck"]}), r"arrays \['a\\nb\\x1b"),
    (setting("time", slice(20, None), 1.0), "time: found 0.62 s after sample 19"),
    (lambda a: a.update(time=a["time"] * 0.99), "time: found 0.0198 s .* of drift"),
    (lambda a: a.update(mallet=a["puck"] + 0.01), "too near"),
    (lambda a: a.update(puck=a["puck"][:-1]), "shape"),
    (lambda a: a.update(puck=a["puck"].astype(str)), "expected float32 or float64"),
    (lambda a: a.update(extra=a["puck"]), r"arrays \['extra', "),
    (lambda a: a.update(puck_velocity=a["puck"] + 5.0), "off what the places say"),
    (lambda a: a.update(puck_velocity=a["puck"] + 500.0), "m/s, expected at most"),
]


@pytest.mark.parametrize(("change", "line"), FAULTS)
def test_an_episode_that_cannot_be_one_is_refused_in_one_line(folder, change, line):
    rewrite(folder, change)
    with pytest.raises(BadInput, match=line) as error:
        puck_episodes.read(folder)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"schema": "ricochet.puck-episodes/2"}, "schema"),
        ({"period": 0.01}, "period: found 0.01, expected 0.02 s"),
        ({"frame": "camera"}, "frame"),
        ({"table": {"half_length": 1.0}}, "table"),
        ({"files": []}, "0 files"),
        ({"files": [{"file": "../x.npz", "sha256": "0" * 64}]}, "file"),
        ({"files": [{"file": "x.npz", "sha256": "0"}]}, "64 hexadecimal digits"),
        ({"files": [{"file": "x.npz", "sha256": "0" * 64}]}, "x.npz"),
        ({"other": 1}, "unknown key 'other'"),
    ],
)
def test_a_manifest_that_says_something_else_is_refused(folder, changes, line):
    restate(folder, **changes)
    with pytest.raises(BadInput, match=line):
        puck_episodes.read(folder)


def test_a_table_may_differ_by_less_than_a_millimetre(folder):
    content = json.loads((folder / MANIFEST).read_text())
    near, far = ({**content["table"], "half_width": 0.519 + off} for off in (0.0009, 0.0015))
    restate(folder, table=near)
    puck_episodes.read(folder)
    restate(folder, table=far)
    with pytest.raises(BadInput, match=r"table.half_width: found 0.5205 m, expected 0.519 m"):
        puck_episodes.read(folder)


def test_changed_damaged_repeated_and_few_episodes_are_refused(folder):
    content = json.loads((folder / MANIFEST).read_text())
    with np.load(folder / "episode-0000.npz") as found:
        np.savez(folder / "again.npz", **found)
    again = {"file": "again.npz", "sha256": sha256(folder / "again.npz")}
    restate(folder, files=[*content["files"], again])
    with pytest.raises(BadInput, match="an episode twice"):
        puck_episodes.read(folder)
    restate(folder, files=content["files"][:5])
    with pytest.raises(BadInput, match="5 episodes, expected 10 to"):
        puck_episodes.read(folder)
    restate(folder, files=content["files"])
    first = folder / "episode-0000.npz"
    first.write_bytes(first.read_bytes()[:-9])
    with pytest.raises(BadInput, match="as stated"):
        puck_episodes.read(folder)
    files = [{**content["files"][0], "sha256": sha256(first)}, *content["files"][1:]]
    restate(folder, files=files)
    with pytest.raises(BadInput, match="no archive of numbers"):
        puck_episodes.read(folder)


def test_what_unpacks_to_too_much_is_refused_unread(folder, monkeypatch):
    rewrite(folder, lambda arrays: {**arrays, "puck": np.zeros((2_000_000, 2))})
    monkeypatch.setattr(puck_episodes, "LARGEST", 2**20)
    with pytest.raises(BadInput, match="bytes unpacked, expected at most"):
        puck_episodes.read(folder)


def test_no_recording_is_bad_input(tmp_path):
    for place in (tmp_path, tmp_path / "nothing", tmp_path / "nothing.npz"):
        with pytest.raises(BadInput, match="a folder with recording"):
            puck_episodes.read(place)


def test_the_table_is_stated_as_it_is(folder):
    content = json.loads((folder / MANIFEST).read_text())
    for name, value in content["table"].items():
        assert value == getattr(Table(), name)
