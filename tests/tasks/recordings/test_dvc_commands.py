"""DVC's commands end in time, and what they say is bounded."""

import sys
import time

import pytest

from ricochet.tasks.recordings import dvc_commands
from ricochet.tasks.recordings.dvc_commands import Dvc, LateError, PublicationError

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


def test_nobody_is_asked_anything(saying, tmp_path):
    saying("import sys; print(sys.stdin.read() == '')")
    assert Dvc(tmp_path).run("add") == "True\n"
