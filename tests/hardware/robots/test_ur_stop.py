"""The way of stopping a UR robot beside its driver, against a server that behaves as its manual."""

import contextlib
import socket
import threading

import pytest

from ricochet.hardware.robots import ur_driver, ur_stop
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

BASE = (0.88, 0.10915, 0.26)


class Secondary:
    """A controller's secondary interface: it states itself ten times a second, and reads scripts.

    It discards the script of a client that leaves before ANSWER bytes were taken from it.
    """

    def __init__(self, *, answers=True):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.scripts, self.answers, self.over = [], answers, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        with contextlib.suppress(OSError):
            while not self.over.is_set():
                client, _ = self.server.accept()
                with client:
                    self.serve(client)

    def serve(self, client):
        client.settimeout(1.0)
        script = b""
        with contextlib.suppress(OSError):
            while b"end\n" not in script:
                content = client.recv(4096)
                if not content:
                    return
                script += content
            if self.answers:
                client.sendall(bytes(ur_stop.ANSWER))
            else:
                self.over.wait(2.0)
            if client.recv(1) == b"":
                self.scripts.append(script.decode())

    def close(self):
        self.over.set()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1.0).close()
        self.thread.join()
        self.server.close()


@pytest.fixture
def secondary():
    made = Secondary()
    yield made
    made.close()


def test_the_script_that_brakes_the_joints_is_sent_whole_and_its_answer_awaited(secondary):
    ur_stop.stop("127.0.0.1", secondary.port)
    secondary.close()
    assert secondary.scripts == ["def ricochet_stop():\n  stopj(15.0)\nend\n"]


def test_a_controller_that_does_not_answer_or_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setattr(ur_stop, "PATIENCE", 0.2)
    silent = Secondary(answers=False)
    with pytest.raises(OSError):
        ur_stop.stop("127.0.0.1", silent.port)
    silent.close()
    with pytest.raises(OSError):
        ur_stop.stop("127.0.0.1", silent.port)
    with pytest.raises(OSError):
        ur_stop.check("127.0.0.1", silent.port)


@pytest.mark.parametrize("sent", [b"", bytes(ur_stop.ANSWER - 1)])
@pytest.mark.parametrize("leaves", [True, False])
def test_a_controller_that_leaves_or_drips_has_not_stopped_the_robot(monkeypatch, sent, leaves):
    """A proxy that took the script and hung up was said to have stopped it."""
    monkeypatch.setattr(ur_stop, "PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server, contextlib.ExitStack() as open_ones:

        def answer():
            client, _ = server.accept()
            client.recv(4096)
            client.sendall(sent)
            if leaves:
                client.shutdown(socket.SHUT_WR)
            open_ones.enter_context(client)

        controller = threading.Thread(target=answer)
        controller.start()
        with pytest.raises(OSError):
            ur_stop.stop("127.0.0.1", server.getsockname()[1])
        controller.join()


def test_nothing_is_armed_that_could_not_be_stopped_beside_its_driver(monkeypatch):
    def closed(host):
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(ur_stop, "check", closed)
    made = ur_driver.driver("192.0.2.1", Workspace(), base=BASE, armed=True)
    with pytest.raises(BadInput, match=r"robot 192\.0\.2\.1: found Connection refused"):
        ur_driver.open_arm(made.settings)


def test_an_unarmed_robot_is_not_stopped_beside_its_driver(monkeypatch):
    monkeypatch.setattr(ur_stop, "stop", lambda host: pytest.fail("it was not moving"))
    ur_driver.emergency_stop(
        ur_driver.driver("192.0.2.1", Workspace(), base=BASE, armed=False).settings
    )
