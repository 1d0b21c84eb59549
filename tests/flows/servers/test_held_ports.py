"""A port stays its user's as long as a program lives that sends logins there."""

import contextlib
import socket
import subprocess
import sys

import psutil
import pytest

from ricochet.flows.servers import held_ports, listening
from ricochet.models.core.bad_input import BadInput
from tests.flows.harness import wait_for
from tests.flows.servers.strangers import takes

HOLDER = """
import sys
from pathlib import Path
from ricochet.flows.servers import held_ports
held_ports.hold(Path(sys.argv[1]), [int(port) for port in sys.argv[2:]])
print("held", flush=True)
input()
"""


@contextlib.contextmanager
def holder(state, *ports):
    """Run a program that holds ports until the block ends."""
    words = [sys.executable, "-c", HOLDER, str(state), *map(str, ports)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as program:
        assert program.stdout.readline() == "held\n"
        yield program
        program.communicate("\n", timeout=60)


def refused(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) != 0


def test_once_the_servers_end_calls_are_refused_and_only_their_user_gets_the_port(tmp_path):
    with contextlib.ExitStack() as programs:
        with listening.held("127.0.0.1", [0, 0]) as sockets:
            listeners = [each for one in sockets for each in one]
            ports = [one[0].getsockname()[1] for one in sockets]
            with held_ports.offered(tmp_path, listeners):
                for _ in range(2):
                    programs.enter_context(holder(tmp_path, *ports))
        for port in ports:
            wait_for(lambda port=port: refused(port), seconds=60)
            assert takes(port) == []
        with listening.held("127.0.0.1", ports) as again:
            for [listener, *_], port in zip(again, ports, strict=True):
                with socket.create_connection(("127.0.0.1", port), 5) as asking:
                    listener.accept()[0].close()
                    assert asking.recv(1) == b""
                assert takes(port) == []
                with pytest.raises(BadInput, match="already in use"):
                    listening.listen("127.0.0.1", port)
    assert all("127.0.0.1" in takes(port) for port in ports)


def test_a_server_that_was_starting_when_up_ended_leaves_no_port_that_listens(tmp_path):
    """The next `up` was refused its port until that program ended."""
    with contextlib.ExitStack() as programs:
        with listening.held("127.0.0.1", [0]) as [[listener, *_]]:
            port = listener.getsockname()[1]
            with held_ports.offered(tmp_path, [listener]):
                programs.enter_context(holder(tmp_path, port))
            wait_for(lambda: refused(port), seconds=60)
            listener.listen(5)
            assert not refused(port)
        wait_for(lambda: refused(port), seconds=60)
        with listening.held("127.0.0.1", [port]):
            assert takes(port) == []


def test_a_program_that_was_killed_holds_nothing_and_costs_the_servers_nothing(tmp_path):
    with listening.held("127.0.0.1", [0]) as [[listener, *_]]:
        port = listener.getsockname()[1]
        with held_ports.offered(tmp_path, [listener]):
            before = psutil.Process().num_fds()
            for _ in range(3):
                with holder(tmp_path, port) as program:
                    program.kill()
                    program.wait()
            wait_for(lambda: psutil.Process().num_fds() == before, seconds=60)
            assert not refused(port)
    assert "127.0.0.1" in takes(port)


def test_programs_beyond_a_number_are_sent_away_and_there_is_room_again(tmp_path, monkeypatch):
    monkeypatch.setattr(held_ports, "LINES", 1)
    with listening.held("127.0.0.1", [0]) as [[listener, *_]]:
        port = listener.getsockname()[1]
        with held_ports.offered(tmp_path, [listener]):
            with holder(tmp_path, port), pytest.raises(BadInput, match="do not hand over"):
                held_ports.hold(tmp_path, [port])
            wait_for(lambda: _is_taken(tmp_path, port), seconds=60)


def _is_taken(state, port):
    with contextlib.suppress(AssertionError), holder(state, port):
        return True
    return False


def test_a_folder_of_any_length_has_a_door_and_leaves_none(tmp_path):
    state = tmp_path.joinpath(*["a" * 50] * 5)
    state.mkdir(parents=True)
    with listening.held("127.0.0.1", [0]) as [[listener, *_]]:
        for _ in range(2):
            with (
                held_ports.offered(state, [listener]),
                holder(state, listener.getsockname()[1]),
            ):
                assert (state / held_ports.DOOR).is_socket()
            assert list(state.iterdir()) == []


def test_servers_that_hand_over_other_ports_or_none_are_bad_input(tmp_path):
    with listening.held("127.0.0.1", [0]) as [[listener, *_]]:
        with pytest.raises(BadInput, match=r"do not hand over their ports .No such file"):
            held_ports.hold(tmp_path, [1])
        with (
            held_ports.offered(tmp_path, [listener]),
            pytest.raises(BadInput, match=r"no port 1.*expected running ones, or none: try again"),
        ):
            held_ports.hold(tmp_path, [listener.getsockname()[1], 1])
