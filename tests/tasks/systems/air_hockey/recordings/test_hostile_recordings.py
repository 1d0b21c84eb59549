"""What a stranger may put in place of a recording is refused in one line, soon and unread."""

import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import sha256, write_arrays, write_json
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes
from tests.tasks.systems.air_hockey.recordings import recorded

MANIFEST = puck_episodes.MANIFEST
ONE = "episode-0003.npz"

pytestmark = pytest.mark.timeout(60)  # of a reader that waits for a pipe


@pytest.fixture
def folder(tmp_path):
    return recorded.written(tmp_path / "one")


def stated(folder):
    return json.loads((folder / MANIFEST).read_text())


def put(folder, content, name=ONE):
    """Replace an episode and state its digest."""
    (folder / name).write_bytes(content)
    manifest = stated(folder)
    for each in manifest["files"]:
        each["sha256"] = sha256(content) if each["file"] == name else each["sha256"]
    write_json(folder / MANIFEST, manifest)


def arrays_of(folder, name=ONE):
    with np.load(folder / name) as found:
        return dict(found)


def refused(path, line):
    with pytest.raises(BadInput, match=line) as error:
        puck_episodes.read(path)
    assert str(error.value).isprintable() and len(str(error.value)) < 1000


@pytest.mark.parametrize("name", [ONE, MANIFEST])
@pytest.mark.parametrize("target", ["/dev/zero", "../outside", ONE])
def test_links_are_refused_wherever_they_lead(folder, name, target):
    (folder / name).rename(folder.parent / "outside")
    (folder / name).symlink_to(target)
    refused(folder, rf"{name}: found a link")


@pytest.mark.parametrize("name", [ONE, MANIFEST])
def test_pipes_and_folders_are_refused_without_waiting(folder, name):
    for make, found in ((os.mkfifo, "no regular file"), (os.mkdir, "a folder")):
        (folder / name).unlink()
        make(folder / name)
        refused(folder, f"{name}: found {found}")


def test_large_files_are_refused_unread(folder):
    with (folder / MANIFEST).open("ab") as file:
        file.truncate(2**40)
    refused(folder, f"{MANIFEST}: found {2**40} bytes, expected at most")


@pytest.mark.parametrize("shape", ["(10000000000000, 2)", "(10000000000000000000000, 2)", "(("])
def test_an_archive_whose_header_lies_is_refused(folder, shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("puck.npy", header + bytes(800))
    put(folder, content.getvalue())
    refused(folder, f"{ONE}.*: found (800|928|no archive of numbers)")


@pytest.mark.parametrize("key", ["file", "sha256"])
def test_a_file_is_stated_once(folder, key):
    manifest = stated(folder)
    manifest["files"][1][key] = manifest["files"][0][key]
    write_json(folder / MANIFEST, manifest)
    refused(folder, f"files: found {key} .* twice, expected each once")


@pytest.mark.parametrize("most", ["MOST_EPISODES", "MOST_SAMPLES"])
def test_no_file_is_read_once_there_are_too_many(folder, monkeypatch, most):
    """Of 12 episodes of 50 samples; the fourth file passes either bound."""
    read = []

    def read_regular(path, expected, *, largest):
        read.append(path.name)
        return path.read_bytes()

    monkeypatch.setattr(puck_episodes, "read_regular", read_regular)
    monkeypatch.setattr(puck_episodes, most, {"MOST_EPISODES": 3, "MOST_SAMPLES": 199}[most])
    refused(folder, "found (4 episodes|200 samples), expected 0 to")
    assert read == [MANIFEST, *(f"episode-{number:04d}.npz" for number in range(4))]


@pytest.mark.parametrize("name", ["puck_velocity", "mallet_velocity"])
def test_velocities_are_those_of_all_episodes_or_of_none(folder, name):
    """Those of some would be dropped, and nobody would know."""
    for number in range(12):
        if number:
            refused(folder, f"{name} in {number} of 12 episodes")
        file = f"episode-{number:04d}.npz"
        arrays = arrays_of(folder, file)
        slope = np.gradient(arrays[name.removesuffix("_velocity")], 0.02, axis=0)
        places = np.isfinite(arrays[name.removesuffix("_velocity")])
        arrays[name] = np.where(places, np.nan_to_num(slope), np.nan)
        write_arrays(folder / file, arrays)
        put(folder, (folder / file).read_bytes(), file)
    learnt, held_out = puck_episodes.split(puck_episodes.read(folder))
    assert getattr(learnt, name) is not None and getattr(held_out, name) is not None


def test_a_key_that_stands_twice_is_refused(folder):
    text = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text.replace('"period"', '"period": 5.0, "period"', 1))
    refused(folder, "found key 'period' twice")


def single(folder, files=("all.npz",)):
    """One file of all episodes, whose manifest states some files."""
    episodes = recorded.episodes(12)
    arrays = {n: np.stack([getattr(e, n) for e in episodes]) for n in ("puck", "mallet")}
    write_arrays(folder / "all.npz", {"time": episodes[0].time, **arrays})
    listed = [{"file": name, "sha256": sha256(folder / name)} for name in files]
    write_json(folder / "all.json", {**stated(folder), "files": listed})
    return folder / "all.npz"


def test_a_single_file_is_the_one_that_is_read(folder):
    assert len(puck_episodes.read(single(folder)).episodes) == 12
    for files in ([ONE], ["all.npz", ONE], [f"episode-{number:04d}.npz" for number in range(12)]):
        refused(single(folder, files), r"all\.json: files: found others, expected all\.npz alone")


def test_other_endings_and_what_is_not_there_are_refused(folder):
    file = single(folder)
    file.rename(folder / "all.exe")
    refused(folder / "all.exe", r"no file NAME\.npz, expected a folder with recording")
    refused(file, r"all\.npz: found no file, expected a folder with")


@pytest.mark.parametrize("name", ["a\0b.npz", "a" * 5000, "a" * 5000 + ".npz", "a\nb", ".", ".."])
def test_names_that_are_none_are_refused_in_one_line(tmp_path, name):
    refused(tmp_path / "new" / name if name.startswith("a") else Path(tmp_path, name), "found")
