import os
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import files


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    files.write_json(path, {"a": 1})

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="no space left on device"):
        files.write_json(path, {"a": 2})
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.json"]
    assert path.read_text() == '{\n  "a": 1\n}\n'


def test_a_folder_whose_making_fails_is_absent(tmp_path):
    with pytest.raises(RuntimeError), files.whole_folder(tmp_path / "out") as partial:
        (partial / "half").write_text("x")
        raise RuntimeError("interrupted")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    for name in ("first", "second"):
        with files.whole_folder(tmp_path / "out") as partial:
            (partial / name).write_text("x")
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["second"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_an_output_folder_under_a_file_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="not a directory"):
        files.output_folder(tmp_path / "file" / "out")


def test_json_refuses_a_number_that_json_does_not_know(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "x.json", {"a": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_arrays_return_as_written_and_objects_are_refused(tmp_path):
    theta = np.arange(6.0).reshape(3, 2)
    files.write_arrays(tmp_path / "a.npz", {"theta": theta})
    with np.load(tmp_path / "a.npz") as found:
        np.testing.assert_array_equal(found["theta"], theta)
    with pytest.raises(ValueError, match="theta must hold numbers"):
        files.write_arrays(tmp_path / "b.npz", {"theta": np.array([{}])})


def test_the_digest_of_a_value_ignores_the_order_of_keys_and_sees_every_number():
    first = files.digest_of({"a": 1, "b": [2, 3]})
    assert first == files.digest_of({"b": [2, 3], "a": 1})
    assert first != files.digest_of({"a": 1, "b": [2, 4]})


def test_cached_arrays_are_made_once_a_key_and_again_where_damaged(tmp_path):
    made = []

    def make():
        made.append(len(made))
        return {"a.b": np.array([1.0, len(made)])}

    def kept(key):
        return files.cached_arrays(tmp_path, "modes", key, make)["a.b"].tolist()

    assert kept("1" * 64) == kept("1" * 64) == [1.0, 1.0]
    assert kept("2" * 64) == [1.0, 2.0]
    (found,) = tmp_path.iterdir()  # what is outdated is gone
    content = found.read_bytes()
    for damaged in (b"", content[:-40], bytes(reversed(content))):
        found.write_bytes(damaged)
        assert kept("2" * 64)[1] == len(made)
    assert len(made) == 5


def test_cached_arrays_of_another_key_or_changed_by_hand_are_made_again(tmp_path):
    """Keys that begin alike share a name; a file of numbers alone says nothing of where from."""
    one, other = "1" * 64, "1" * 63 + "2"

    def kept(key, value):
        return files.cached_arrays(tmp_path, "modes", key, lambda: {"a": np.array([value])})["a"][0]

    assert (kept(one, 1.0), kept(one, 2.0)) == (1.0, 1.0)
    assert kept(other, 3.0) == 3.0
    (path,) = tmp_path.iterdir()
    with np.load(path) as found:
        whole = dict(found)
    for changed in ({"a": np.array([9.0])}, {**whole, "a": np.array([9.0])}):
        files.write_arrays(path, changed)
        assert kept(other, 4.0) == 4.0
        files.write_arrays(path, whole)
        assert kept(other, 5.0) == 3.0


def test_no_changed_byte_of_kept_arrays_is_an_error_or_another_number(tmp_path):
    def kept():
        made = {"a": np.arange(6.0)}
        return files.cached_arrays(tmp_path, "modes", "3" * 64, lambda: made)["a"].tolist()

    expected = kept()
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        assert kept() == expected


@pytest.mark.parametrize(
    "put",
    [
        os.mkfifo,
        Path.mkdir,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path),
        lambda path: np.savez(path, **{"a": np.array([1.0]), "seal": np.array([1.0])}),
        lambda path: np.savez(path, a=np.array([1.0]), seal=np.array([{}])),
    ],
)
def test_what_is_no_kept_file_is_made_again_from_a_fallback_on(tmp_path, put):
    fallback, kept = tmp_path / "fallback", tmp_path / "kept"
    fallback.mkdir()
    kept.mkdir()
    put(fallback / f"modes-{'1' * 16}.npz")
    arrays = files.cached_arrays(
        kept, "modes", "1" * 64, lambda: {"a": np.array([2.0])}, fallbacks=(fallback,)
    )
    assert arrays["a"].tolist() == [2.0]
    assert [path.name for path in kept.iterdir()] == [f"modes-{'1' * 16}.npz"]


def test_a_regular_file_is_read_up_to_its_bound(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert files.read_regular(path, "a file", largest=5) == b"12345"
    assert files.read_regular(path, "a file", largest=2**50) == b"12345"  # nothing for its bound
    with pytest.raises(BadInput, match="x: found 5 bytes, expected at most 4 bytes"):
        files.read_regular(path, "a file", largest=4)


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda path: path, "no such file"),
        (lambda path: path / "x\0y", "embedded null byte"),
        (lambda path: path / ("a" * 5000), r"\(\d+ characters\): found file name too long"),
        (lambda path: path.mkdir() or path, "a folder"),
        (lambda path: os.mkfifo(path) or path, "no regular file"),
        (lambda path: path.symlink_to("/dev/zero") or path, "a link"),
        (lambda path: path.symlink_to(path) or path, "a link"),
        (lambda path: Path("/dev/zero"), "no regular file"),
    ],
)
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, make, found):
    with pytest.raises(BadInput, match=f"(?i)found .*{found}|{found}.*expected a file") as error:
        files.read_regular(make(tmp_path / "one"), "a file", largest=100)
    assert str(error.value).isprintable() and len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("put", "found"),
    [
        (lambda path: None, "nothing there"),
        (os.mkfifo, "a pipe"),
        (Path.mkdir, "a folder"),
        (lambda path: path.symlink_to("absent"), "a link that leads nowhere"),
        (lambda path: path.symlink_to(path), "a link that leads nowhere"),
        (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
    ],
)
def test_what_lies_in_place_of_a_file_is_said(tmp_path, put, found):
    put(tmp_path / "one.wav")
    assert files.what_lies_at(tmp_path / "one.wav") == found
