"""Passwords in files: their owner's alone, made once, refused where others may read them."""

import os

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import secret_files


def test_a_secret_is_made_once_and_is_its_owners_alone(tmp_path):
    folder = secret_files.own_folder(tmp_path / "secrets")
    first = secret_files.kept(folder, "a", prefix="name:")
    assert first.startswith("name:") and len(first) > 40
    assert secret_files.kept(folder, "a") == first == secret_files.read(folder, "a")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "a").stat().st_mode & 0o777 == 0o600
    assert secret_files.fresh(folder, "a") != first
    assert [path.name for path in folder.iterdir()] == ["a"]


def test_no_mask_makes_a_secret_readable(tmp_path):
    before = os.umask(0)
    try:
        folder = secret_files.own_folder(tmp_path / "secrets")
        secret_files.fresh(folder, "a")
    finally:
        os.umask(before)
    assert (folder / "a").stat().st_mode & 0o077 == folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_may_read_is_refused(tmp_path, mode):
    (tmp_path / "a").write_text("a" * 20)
    (tmp_path / "a").chmod(mode)
    with pytest.raises(BadInput, match=f"mode {mode:04o}, expected mode 0600"):
        secret_files.read(tmp_path, "a")


def test_a_folder_that_others_may_enter_is_refused(tmp_path):
    tmp_path.chmod(0o755)
    with pytest.raises(BadInput, match="mode 0755, expected mode 0700"):
        secret_files.own_folder(tmp_path)


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 30, b"\n" + b"a" * 30, b"\0" * 30])
def test_what_is_no_password_is_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    (tmp_path / "a").chmod(0o600)
    with pytest.raises(BadInput, match="no such line"):
        secret_files.read(tmp_path, "a")


def test_a_link_is_no_secret(tmp_path):
    (tmp_path / "b").write_text("a" * 20)
    (tmp_path / "b").chmod(0o600)
    (tmp_path / "a").symlink_to(tmp_path / "b")
    with pytest.raises(BadInput, match="a link"):
        secret_files.read(tmp_path, "a")
