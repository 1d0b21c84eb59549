"""What a server says reaches a terminal in one plain line, cut short."""

import logging
import re
import subprocess
import sys

import pytest

from ricochet.tasks.recordings import dvc_program, dvc_said
from tests.tasks.recordings import false_ssh

PULL = [sys.executable, "-P", "-m", dvc_program.__name__, "pull", "data.dvc"]
HOSTILE = "\x1b]0;renamed\x07\x1b[31m\r\nERROR: forged\x9b2J\u202e"


@pytest.fixture
def printed(monkeypatch):
    """Return what DVC prints of an error that is met with a message."""
    logger = pytest.importorskip("dvc.logger", reason="dvc is missing")
    kind = logger.ColorFormatter
    monkeypatch.setattr(logger, "_iter_causes", logger._iter_causes)
    command = pytest.importorskip("dvc.cli")
    monkeypatch.setattr(command, "_log_unknown_exceptions", command._log_unknown_exceptions)
    monkeypatch.setattr(kind, "formatMessage", kind.formatMessage)
    monkeypatch.setattr(kind, "formatException", kind.formatException, raising=False)
    dvc_said.verify_words()

    def show(message, error, *, traceback=False):
        words = ("dvc", logging.ERROR, "file", 1, message, (), (type(error), error, None))
        shown = kind(log_colors=False, show_traceback=traceback)
        return shown.format(logging.LogRecord(*words))

    return show


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("traceback", [False, True])
@pytest.mark.parametrize("kind", [OSError, PermissionError, RuntimeError])
def test_an_error_of_others_is_one_plain_line(printed, kind, traceback):
    said = printed("failed", caused(RuntimeError("first"), kind(HOSTILE)), traceback=traceback)
    line = said.split("\n")[0]
    assert line.startswith("ERROR: failed - first: \\x1b]0;renamed")
    assert all(each.isprintable() for each in said.split("\n"))
    assert traceback or line == said


def test_a_long_error_says_how_long_it_was(printed):
    said = printed("failed", OSError(HOSTILE * 1000))
    assert said.endswith(f"({len(HOSTILE) * 1000} characters)")
    assert len(said) < 2000


def test_what_dvc_itself_says_keeps_its_lines_and_no_more_of_a_long_text(printed):
    from dvc.exceptions import DvcException

    assert printed("first\nsecond", DvcException("third\nfourth")) == (
        "ERROR: first\nsecond - third\nfourth"
    )
    assert printed("\x1b[34mblue\x1b[39m", DvcException("sky")) == "ERROR: blue - sky"
    long = printed(f"a\n{HOSTILE}", DvcException(HOSTILE * 10_000))
    assert all(each.isprintable() for each in long.split("\n"))
    assert len(long) < 10 * dvc_said.LONGEST_MESSAGE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("thing", "found"),
    [
        ("error", r"\\x1b]0;renamed\\x07.*characters"),
        ("no mode", "found no regular file"),
        ("questions", "Permission denied"),
    ],
)
def test_what_an_ssh_server_says_or_asks_ends_a_pull_in_plain_lines(
    root, monkeypatch, thing, found
):
    pytest.importorskip("dvc_ssh", reason="dvc-ssh is missing")
    monkeypatch.setenv("HOME", str(root.parent))
    with false_ssh.running(root.parent / "ssh", thing, root):
        done = subprocess.run(PULL, cwd=root, capture_output=True, text=True, timeout=120.0)
    first, *more = done.stderr.splitlines()
    assert done.returncode == 1
    assert re.search(found, first) and first.isprintable() and len(first) < 2000
    assert more == (thing == "questions") * [
        "ERROR: failed to pull data from the cloud - 1 files failed to download"
    ]
