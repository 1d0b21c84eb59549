"""Logs never grow beyond a bound, and a process that writes to one goes on doing so."""

import errno
import os
import shutil
import subprocess
import sys

from ricochet.flows.servers import children, kill_guard, logs
from ricochet.tasks.storage import process_ids
from tests.flows.harness import wait_for

WRITER = """
import sys
for line in sys.stdin:
    print(line.strip() * 1000, flush=True)
"""


def test_a_full_log_is_moved_aside_and_its_writer_goes_on_at_the_start(tmp_path):
    log = tmp_path / "a.log"
    with log.open("ab") as file:
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=file, text=True
        )
    with writer:
        for letter in "abcd":
            writer.stdin.write(f"{letter}\n")
            writer.stdin.flush()
            wait_for(lambda: log.stat().st_size == 1001, seconds=20)
            assert logs.rotate(log, largest=1000, kept=2)
            assert log.stat().st_size == 0
    said = {path.name: path.read_text()[0] for path in tmp_path.iterdir() if path.stat().st_size}
    assert said == {"a.log.1": "d", "a.log.2": "c"}


def test_of_a_log_that_grew_far_beyond_its_bound_the_end_is_kept(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("old\n" * 10_000 + "new\n" * 10)
    assert logs.rotate(log, largest=1000, kept=2)
    part = (tmp_path / "a.log.1").read_text()
    assert len(part) == 2000 and part.endswith("new\n" * 10)


def test_a_log_that_is_not_full_or_not_there_is_left(tmp_path):
    log = tmp_path / "a.log"
    assert not logs.rotate(log, largest=10, kept=2)
    log.write_text("ten bytes.")
    assert not logs.rotate(log, largest=10, kept=2)
    assert log.read_text() == "ten bytes." and len(list(tmp_path.iterdir())) == 1


def test_no_part_is_lost_while_a_full_disk_takes_no_copy(tmp_path, monkeypatch):
    log = tmp_path / "a.log"
    log.write_text("x" * 100)
    for number in (1, 2, 3):
        (tmp_path / f"a.log.{number}").write_text(f"part {number}")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}

    def copy_half(source, target):
        target.write(source.read(50))
        raise OSError(errno.ENOSPC, "no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfileobj", copy_half)
        for _ in range(4):
            assert not logs.rotate(log, largest=10, kept=3)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before
    assert logs.rotate(log, largest=10, kept=3)
    parts = [(tmp_path / f"a.log.{number}").read_text() for number in (1, 2, 3)]
    assert parts == ["x" * 20, "part 1", "part 2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(before)


def test_what_an_earlier_child_said_stays_in_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv(kill_guard.MARK, process_ids.name_of(os.getpid()))
    for word in ("first", "second"):
        command = ["sh", "-c", f"echo {word}"]
        with children.running(command, log=tmp_path / "a.log", environment=os.environ) as child:
            child.wait(10)
    assert (tmp_path / "a.log").read_text() == "first\nsecond\n"
