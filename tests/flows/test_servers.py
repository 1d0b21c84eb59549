"""`ricochet up`: both servers answer, a schedule fires by itself, and nothing is left behind."""

import json
import os
import signal
import socket
import time
import urllib.request
from pathlib import Path

import pytest

from flows import cli, servers
from models.core.bad_input import BadInput
from tests.flows.harness import started, wait_for


def alive(group):
    """Tell whether a process group has a member that is no zombie."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            return True
    return False


def test_a_port_in_use_is_bad_input_and_starts_nothing(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        request = servers.Request("127.0.0.1", taken.getsockname()[1], 0, state=tmp_path)
        with (
            pytest.raises(BadInput, match="address already in use"),
            servers.servers(request) as (_, children),
        ):
            assert children.processes == []


def test_servers_of_a_process_that_is_gone_are_not_found(tmp_path):
    (tmp_path / "servers.json").write_text(json.dumps({"process": 2**22 + 1, "prefect": "x"}))
    assert servers.find_running(tmp_path) is None
    (tmp_path / "servers.json").write_text("{half")
    assert servers.find_running(tmp_path) is None


def test_a_child_that_ignores_the_first_request_is_ended_all_the_same(tmp_path):
    children = servers.Children(tmp_path, {"PATH": "/usr/bin:/bin"})
    child = children.start("stubborn", ["sh", "-c", "trap '' TERM; echo up; sleep 60 & wait; wait"])
    wait_for(lambda: "up" in (tmp_path / "stubborn.log").read_text(), seconds=5)
    children.end(patience=0.2)
    assert child.returncode == -signal.SIGKILL
    assert not alive(child.pid)


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_interrupt_does_not_cut_short_the_ending(first):
    """Two times Ctrl-C left both servers running."""
    ended = False
    with servers._stoppable():
        try:
            os.kill(os.getpid(), first)
            time.sleep(5.0)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            ended = True
    assert ended


def test_the_configuration_folder_holds_no_code():
    assert list((servers.ROOT / "mlflow").rglob("*.py")) == []


def test_a_second_up_says_that_servers_are_up(tmp_path, capsys):
    found = {"process": os.getpid(), "mlflow": "http://a", "prefect": "http://b"}
    (tmp_path / "servers.json").write_text(json.dumps(found))
    assert cli.main(["up", "--state", str(tmp_path)]) == 2
    assert "http://a" in capsys.readouterr().err


@pytest.mark.slow
def test_up_answers_fires_a_schedule_and_leaves_nothing_behind(tmp_path):
    """One test, since the servers take half a minute to start.

    With a SQLAlchemy past its pin flows still run, and only schedules never fire.
    """
    with started(tmp_path) as running:
        for address in (f"{running.mlflow}/health", f"{running.prefect}/api/health"):
            with urllib.request.urlopen(address, timeout=10) as answer:
                assert answer.status == 200
        found = servers.find_running(tmp_path / "state")
        assert (found["mlflow"], found["prefect"]) == (running.mlflow, running.prefect)
        assert len(found["children"]) == 3
        assert all(alive(group) for group in found["children"])
        wait_for((tmp_path / "ticks").exists, seconds=90)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
        assert not any(alive(group) for group in found["children"])
        assert servers.find_running(tmp_path / "state") is None
