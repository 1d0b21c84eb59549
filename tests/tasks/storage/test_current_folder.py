"""No verb starts where other users may write, but what reads nothing there."""

import os

import pytest

from ricochet.flows import cli
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import current_folder
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.storage.provenance import ROOT


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """The current folder, in which all may write."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.chdir(folder)
    return folder


def test_such_a_folder_is_refused_in_a_line(shared, capsys):
    assert cli.main(["simulate"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"the current folder, {shared}: found a folder where all may rename" in line
    assert not list(shared.iterdir())
    shared.chmod(0o755)
    current_folder.refuse_foreign()


def test_what_a_shell_completes_is_printed_anywhere(shared, capsys):
    assert cli.main(["completion", "bash"]) == 0
    assert capsys.readouterr().out


def test_a_checkout_is_trusted_as_its_code_is(monkeypatch):
    monkeypatch.chdir(ROOT / "docs")
    current_folder.refuse_foreign()


def test_a_folder_that_is_gone_is_refused(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(BadInput, match="the current folder: found none"):
        current_folder.refuse_foreign()


def test_results_go_by_no_link_of_another_user(tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    assert output_folder(tmp_path / "link" / "a") == tmp_path / "theirs" / "a"
    monkeypatch.setattr("os.geteuid", lambda: 4321)
    if (tmp_path / "link").lstat().st_uid == 0:  # root's links are everybody's
        os.lchown(tmp_path / "link", 65534, 65534)
    for path in (tmp_path / "link", tmp_path / "link" / "a" / "b"):
        with pytest.raises(BadInput, match="a link of user"):
            output_folder(path)
