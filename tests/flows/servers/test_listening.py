"""A port on which a server will answer is taken before anybody can know of it, and stays so."""

import contextlib
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ricochet.flows.servers import children, listening, up, upkeep
from ricochet.flows.servers.lab import Lab
from ricochet.models.core.bad_input import BadInput
from tests.flows.servers.strangers import takes

IPV6 = Path("/proc/net/if_inet6").exists()
ANSWER = """
import socket, sys
connection, _ = socket.socket(fileno=int(sys.argv[1])).accept()
connection.recv(1000)
connection.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nours")
connection.close()
"""


def test_no_other_user_takes_a_port_that_is_listened_on_by_any_address_or_option():
    with listening.held("127.0.0.1", [0]) as [[listener, *_]]:
        assert takes(listener.getsockname()[1]) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "127.0.0.2", "::1"])
def test_clients_of_this_machine_are_sent_to_loopback_by_number_and_find_the_server(host):
    with listening.held(host, [0, 0]) as found:
        for listeners in found:
            address = listening.address(listeners)
            assert address.startswith("http://127.0.0.1:")
            port = int(address.rpartition(":")[2])
            for each in ("127.0.0.1", "::1") if IPV6 else ("127.0.0.1",):
                socket.create_connection((each, port), 5).close()
            assert takes(port) == []


def test_a_port_that_is_taken_on_loopback_alone_is_bad_input_and_nothing_is_left_listening():
    (taken,) = listening.listen("127.0.0.1", 0)
    with taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match="already in use"):
            listening.listen("127.0.0.2", port)
    with listening.held("127.0.0.2", [port]):
        pass
    assert "127.0.0.1" in takes(port)


def test_a_user_s_second_server_does_not_share_the_port_of_the_first():
    (first,) = listening.listen("127.0.0.1", 0)
    port = first.getsockname()[1]
    with first:
        for host in ("127.0.0.1", "0.0.0.0", "127.0.0.2"):
            with pytest.raises(BadInput, match="already in use"):
                listening.listen(host, port)
        with socket.create_connection(("127.0.0.1", port), 5) as last:
            for _ in range(4):  # three of them only looked whether somebody answers
                first.accept()[0].close()  # so that the server's side waits for stray packets
            assert last.recv(1) == b""
    with listening.listen("127.0.0.1", port)[0]:
        pass


def test_a_caller_who_is_there_before_the_server_is_answered_by_it(tmp_path):
    """So that nobody need wait before asking, and a server that is slow loses nothing."""
    with listening.held("127.0.0.1", [0]) as [listeners]:
        port = listeners[0].getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), 5) as early:
            early.sendall(b"GET / HTTP/1.0\r\n\r\n")
            command = [sys.executable, "-c", ANSWER, str(listeners[0].fileno())]
            numbers = [listeners[0].fileno()]
            with subprocess.Popen(command, pass_fds=numbers) as server:
                early.settimeout(60)
                assert early.makefile("rb").read().endswith(b"ours")
            assert server.returncode == 0


def test_the_ports_of_up_are_taken_before_a_login_is_made_until_the_last_child_has_ended(
    tmp_path, monkeypatch
):
    seen, ports = [], set()

    def look(event):
        assert all(takes(port) == [] for port in ports)
        seen.append(event)

    @contextlib.contextmanager
    def running(command, *, listeners, **_):
        ports.update(each.getsockname()[1] for each in listeners)
        assert not {str(port) for port in ports} & {*command}
        look("begins")
        try:
            yield None
        finally:
            look("ended")

    def refuse(*_):
        raise RuntimeError("no answer")

    monkeypatch.setattr(children, "running", running)
    monkeypatch.setattr(up, "_await_answer", refuse)
    monkeypatch.setattr(upkeep.Upkeep, "search_first", lambda *_: pytest.fail("a login was sent"))
    request = up.Request(Lab(mlflow_port=0, prefect_port=0, state=tmp_path))
    with pytest.raises(RuntimeError, match="no answer"), up.servers(request):
        pytest.fail("announced")
    assert len(ports) == 2 and seen == ["begins", "begins", "ended", "ended"]
    assert all("127.0.0.1" in takes(port) for port in ports)
    assert not (tmp_path / children.LEDGER).exists()


def test_an_answer_that_is_taken_slowly_is_seen_to_be_taken():
    """Of four megabytes that were kept, a third had to go first."""
    taken = 0
    with listening.held("127.0.0.1", [0]) as [[listener, *_]]:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
        with client, server:
            server.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    server.send(bytes(2**16))
            while not select.select([], [server], [], 0.05)[1]:
                taken += len(client.recv(2**13))
    assert taken < 10.0 * 40e3  # within ten seconds, at 40 kB/s
