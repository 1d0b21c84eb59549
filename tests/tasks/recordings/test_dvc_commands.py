"""DVC's commands end in time, and what they say is bounded."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from ricochet.tasks.recordings import dvc_commands
from ricochet.tasks.recordings.dvc_commands import Dvc, LateError, PublicationError
from tests.checkouts import python_path

WORDS = "import sys\nwhile True: sys.{}.write('a ' * 50_000)"


@pytest.fixture
def saying(monkeypatch):
    """Have a program of a test's own run in place of DVC's."""
    ended = dvc_commands._ended

    def run(program):
        def instead(_, *where):
            return ended([sys.executable, "-c", program], *where)

        monkeypatch.setattr(dvc_commands, "_ended", instead)

    return run


@pytest.mark.parametrize("where", ["stdout", "stderr"])
def test_who_speaks_without_end_is_ended(saying, monkeypatch, tmp_path, where):
    monkeypatch.setattr(dvc_commands, "SAID", 10**6)
    saying(WORDS.format(where))
    with pytest.raises(PublicationError, match=r"^dvc push: says more than 1000000 bytes$"):
        Dvc(tmp_path).run("push", check=False)


def test_a_long_error_is_cut_and_an_answer_is_whole(saying, tmp_path):
    saying("import sys; print('a ' * 10**6, file=sys.stderr); print('b' * 10**6); sys.exit(1)")
    assert Dvc(tmp_path).run("push", check=False) == "b" * 10**6 + "\n"
    with pytest.raises(PublicationError) as caught:
        Dvc(tmp_path).run("push")
    assert str(caught.value) == "dvc push: " + "a " * (dvc_commands.SHOWN // 2)


def test_all_commands_of_one_have_its_time_together(saying, tmp_path):
    saying("import time; time.sleep(600)")
    late = Dvc(tmp_path, until=time.monotonic() + 0.2)
    for _ in range(2):
        with pytest.raises(LateError, match=r"^dvc pull: no end within the 21600 s"):
            late.run("pull")


STARTED = """
import os, pathlib, sys
from ricochet.tasks.recordings.parent_process import end_with_starter
end_with_starter()
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
import time; time.sleep(60.0)
"""
STARTER = """
import os, signal, sys, threading, time
from pathlib import Path
from ricochet.tasks.recordings import dvc_commands
ended = dvc_commands._ended
program = [sys.executable, "-c", sys.argv[1], sys.argv[2]]
dvc_commands._ended = lambda _, *where: ended(program, *where)
threading.Thread(target=dvc_commands.Dvc(Path(".")).run, args=("push",), daemon=True).start()
while not (os.path.exists(sys.argv[2]) and Path(sys.argv[2]).read_text()):
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_command_ends_with_who_was_killed_as_he_waited_for_it(tmp_path):
    note = tmp_path / "note"
    words = [sys.executable, "-c", STARTER, STARTED, str(note)]
    environment = os.environ | {"PYTHONPATH": python_path()}
    assert subprocess.run(words, cwd=tmp_path, env=environment).returncode == -signal.SIGKILL
    end = time.monotonic() + 30.0
    while psutil.pid_exists(int(note.read_text())) and time.monotonic() < end:
        time.sleep(0.05)
    assert not psutil.pid_exists(int(note.read_text()))


def test_nobody_is_asked_anything(saying, tmp_path):
    saying("import sys; print(sys.stdin.read() == '')")
    assert Dvc(tmp_path).run("add") == "True\n"
