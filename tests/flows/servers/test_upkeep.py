"""What `ricochet up` does beside its servers keeps neither their start nor their end waiting."""

import contextlib
import subprocess
import time

import pytest

from ricochet.flows.servers import dead_run_search, upkeep
from ricochet.tasks.upkeep_settings import Keep
from tests.flows.harness import wait_for


class Searches:
    """Stands for the processes that look for dead runs: each takes so many seconds."""

    def __init__(self, seconds):
        self.seconds, self.commands, self.processes = seconds, [], []

    @contextlib.contextmanager
    def __call__(self, command):
        self.commands.append(command)
        with subprocess.Popen(["sleep", str(self.seconds)]) as process:
            self.processes.append(process)
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture
def lab(tmp_path):
    """A function that gives what is done beside servers, and the searches of it."""
    with contextlib.ExitStack() as labs:

        def begin(seconds):
            keep = Keep(flow_runs=1.0, runs=1.0, log_size=1e4, logs=3)
            searches = Searches(seconds)
            return labs.enter_context(upkeep.Upkeep(tmp_path, searches, keep)), searches

        yield begin


def test_the_first_search_is_waited_for(lab):
    care, searches = lab(0.3)
    care.search_first(lambda: True)
    assert searches.processes[0].returncode == 0 and not care.searching
    assert searches.commands == [dead_run_search.command(1, upkeep.INTERVAL)]


@pytest.mark.parametrize(("longest", "runs"), [(0.3, True), (60.0, False)])
def test_it_is_not_waited_for_long_nor_where_a_server_ended(lab, monkeypatch, longest, runs):
    """`up` did not see that its server was killed, and was not ready for minutes."""
    monkeypatch.setattr(upkeep, "FIRST", longest)
    care, searches = lab(60)
    care.search_first(lambda: runs)
    assert care.searching
    care.begun -= 2 * upkeep.INTERVAL
    care.tick()
    assert len(searches.commands) == 1
    with care:
        pass
    assert searches.processes[0].returncode is not None


def test_a_search_that_hangs_is_ended_and_followed_by_another(lab):
    care, searches = lab(600)
    care.search_first(lambda: False)
    for number, searching in enumerate((1, upkeep.SEARCHES), start=1):
        each = upkeep.INTERVAL + upkeep.LONGEST
        care.begun = time.monotonic() - searching * each
        care.tick()
        assert len(searches.commands) == number
        care.begun -= 1.1 * each
        care.tick()
        assert len(searches.commands) == number + 1
        assert searches.processes[number - 1].returncode is not None and care.searching


def test_a_search_that_is_killed_is_said_and_followed_by_another(lab, capsys):
    care, searches = lab(600)
    care.search_first(lambda: False)
    searches.processes[0].kill()
    searches.processes[0].wait()
    for _ in range(2):
        care.tick()
    said = capsys.readouterr().err
    assert said.count("looked for again later: the process for it ended with status -9") == 1
    care.begun = -1e9
    care.tick()
    assert len(searches.commands) == 2 and care.searching


def test_a_process_that_has_searched_its_times_is_followed_by_another(lab):
    care, searches = lab(0.1)
    care.tick()
    assert not searches.commands
    for number in range(1, 4):
        care.begun = -1e9
        care.tick()
        care.tick()
        assert len(searches.commands) == number
        wait_for(lambda: not care.searching, seconds=60.0)
        care.tick()
    every = dead_run_search.command(upkeep.SEARCHES, upkeep.INTERVAL)
    assert searches.commands == [every] * 3
    assert [process.returncode for process in searches.processes] == [0] * 3


def test_where_no_process_can_begin_the_next_time_one_does(lab, monkeypatch, capsys):
    def full(*_, **__):
        raise BlockingIOError("no process is left")

    care, searches = lab(0.1)
    with monkeypatch.context() as without:
        without.setattr(subprocess, "Popen", full)
        care.search_first(lambda: True)
    assert not care.searching and time.monotonic() - care.begun < upkeep.INTERVAL
    assert "looked for again later: no process is left" in capsys.readouterr().err
    care.begun = -1e9
    care.tick()
    assert len(searches.commands) == 2 and care.searching


def test_full_logs_are_moved_aside(lab, tmp_path):
    (tmp_path / "prefect.log").write_bytes(b"x" * 20_000)
    care, _ = lab(0.1)
    care.tick()
    assert (tmp_path / "prefect.log").stat().st_size == 0
    assert (tmp_path / "prefect.log.1").stat().st_size == 20_000
