"""A clone of somebody else's recordings names no program, and no place but below itself."""

import subprocess

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import dvc_repository
from ricochet.tasks.storage.provenance import ROOT

CONFIG = """[core]
    remote = lab
['remote "lab"']
    url = ../store
"""


@pytest.mark.parametrize("word", dvc_repository.FILES_OF_KEYS)
@pytest.mark.parametrize("line", ["    {word} = ../keys\n", "'{word}'=../keys\n", "\t{WORD} = a\n"])
def test_a_clone_says_nowhere_which_program_gives_keys(tmp_path, word, line):
    (tmp_path / ".dvc").mkdir()
    (tmp_path / "below").mkdir()
    dvc_repository.refuse_programs(tmp_path / "below")
    text = CONFIG + line.format(word=word, WORD=word.upper())
    (tmp_path / ".dvc" / "config").write_text(text)
    with pytest.raises(BadInput, match=f"(?i)found '{word}'"):
        dvc_repository.refuse_programs(tmp_path / "below")
    (tmp_path / ".dvc" / "config").write_text(CONFIG)
    dvc_repository.refuse_programs(tmp_path / "below")


@pytest.mark.parametrize("path", ["a", "a/b.flac", "first/.hidden", "..a", "é", "a/" * 15 + "b"])
def test_a_plain_name_is_taken(path):
    assert dvc_repository.is_plain(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "a/",
        "a//b",
        "../a",
        "a/./b",
        ".git/x",
        "a\0",
        3,
        None,
        "a" * 1001,
        "a/" * 16 + "b",
    ],
)
def test_no_other_is(path):
    assert not dvc_repository.is_plain(path)


def test_settings_of_one_clone_alone_came_with_none(tmp_path):
    own = tmp_path / ".dvc" / dvc_repository.OWN
    own.parent.mkdir()
    own.write_text("[cache]\n")
    dvc_repository.refuse_programs(tmp_path)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    dvc_repository.refuse_programs(tmp_path)
    subprocess.run(["git", "add", "-f", str(own)], cwd=tmp_path, check=True)
    with pytest.raises(BadInput, match="a file of Git's"):
        dvc_repository.refuse_programs(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "[plots]\n    out_dir = '''x\nremote.lab.configpath=../keys'''\n",
        "['remote \"lab.configpath=../keys #\"']\n    url = a\n",
        "[core]\n    'a=b' = c\n",
        "[core]\n    [[deeper]]\n        a = b\n",
        "[core\n",
    ],
)
def test_no_word_becomes_another_in_a_list_of_all(tmp_path, text):
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text(text)
    with pytest.raises(BadInput, match=r"config: found "):
        dvc_repository.refuse_programs(tmp_path)


def test_usual_settings_are_taken(tmp_path):
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text(
        f"{CONFIG}    # theirs\n    verify = true\n[cache]\n    type = reflink,copy\n"
    )
    dvc_repository.refuse_programs(tmp_path)
    dvc_repository.refuse_programs(ROOT)


@pytest.mark.parametrize("name", [".dvc", ".dvc/config", ".dvc/config.local"])
def test_what_a_pull_may_write_is_no_setting(tmp_path, name):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "config").write_text(CONFIG)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(tmp_path / "store" / ("config" if "/" in name else ""))
    with pytest.raises(BadInput, match="found a link"):
        dvc_repository.refuse_programs(tmp_path)
