"""What asks servers by their address finds where they keep their state, and holds their ports."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from ricochet.flows.servers import children, environments, held_ports, known_servers, listening
from ricochet.models.core.bad_input import BadInput
from tests.flows.harness import wait_for
from tests.flows.servers.strangers import takes

VERB = """
from ricochet.flows.servers import up
up.prepare_environment()
print("ready", flush=True)
input()
"""
WORKER = """
import os
from ricochet.flows.servers import known_servers
known_servers.keep_holding(*(os.environ[each] for each in os.environ if each.endswith("_URL")))
print("ready", flush=True)
input()
"""


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Where servers are noted, and outputs of one's own, elsewhere than those of a lab."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    (tmp_path / "lab").mkdir()
    return tmp_path / "cache" / "ricochet-servers" / socket.gethostname()


@pytest.fixture
def taken(monkeypatch):
    """What is held, of a lab in `lab` that runs."""
    found = []
    monkeypatch.setattr(
        known_servers.held_ports,
        "hold",
        lambda state, ports, **_: found.extend((state, [port]) for port in ports),
    )
    return found


@pytest.mark.parametrize(
    ("address", "strictly"),
    [
        ("http://127.0.0.1:4200/api", [4200]),
        ("http://localhost:4200/api", [4200]),
        ("http://[::1]:5000", [5000]),
        ("HTTP://LOCALHOST:4200", [4200]),
        ("http://localhost/api", [80]),
        ("https://lab.example.org", []),  # through a proxy, perhaps
        ("http://127.0.0.1:4201/api", []),
        ("http://127.0.0.1:a/api", []),
    ],
)
def test_who_asks_anything_holds_the_ports_of_a_lab(
    kept, tmp_path, taken, monkeypatch, address, strictly
):
    """It may be asked through a proxy; what the very server does not hand over is said."""
    lab = tmp_path / "lab"
    with known_servers.noted(lab, [5000, 4200]), known_servers.noted(lab, [80]):
        known_servers.hold_ports("", address)
        assert sorted(taken) == [(lab, [port]) for port in (80, 4200, 5000)]
        for port in (80, 4200, 5000):
            monkeypatch.setattr(known_servers.held_ports, "hold", refusing(port))
            monkeypatch.setattr(known_servers, "STARTING", 0.0)
            refused = pytest.raises(BadInput) if port in strictly else contextlib.nullcontext()
            with refused:
                known_servers.hold_ports(address)


def refusing(port):
    def hold(state, ports, **_):
        if port in ports:
            raise BadInput("a", "b", "c")

    return hold


def test_who_asks_nothing_holds_nothing(kept, tmp_path, taken):
    with known_servers.noted(tmp_path / "lab", [5000, 4200]):
        known_servers.hold_ports("", "")
    assert taken == []


def test_without_a_note_those_whose_state_is_here_are_held(kept, taken, tmp_path):
    here = tmp_path / "artifacts"
    here.mkdir()
    children.write_ledger(here, mlflow="http://127.0.0.1:5000", prefect="http://127.0.0.1:4200")
    known_servers.hold_ports("http://localhost:4200")
    assert sorted(taken) == [(here, [4200]), (here, [5000])]


@pytest.fixture
def lab(kept, tmp_path):
    """Two ports that a lab in `lab` listens on until the test has ended, or it is closed."""
    with contextlib.ExitStack() as lab:
        sockets = lab.enter_context(listening.held("127.0.0.1", [0, 0]))
        ports = [one[0].getsockname()[1] for one in sockets]
        lab.enter_context(known_servers.noted(tmp_path / "lab", ports))
        children.write_ledger(tmp_path / "lab")
        yield Lab(lab, ports, [each for one in sockets for each in one], tmp_path / "lab")


@dataclass
class Lab:
    """Servers that listen, and have not answered yet."""

    started: contextlib.ExitStack
    ports: list[int]
    listeners: list[socket.socket]
    state: Path

    def begin(self):
        """Hand over the ports, and answer."""
        self.started.enter_context(held_ports.offered(self.state, self.listeners))
        addresses = [f"http://127.0.0.1:{port}" for port in self.ports]
        children.write_ledger(self.state, mlflow=addresses[0], prefect=addresses[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", environments.ADDRESSES)
def test_a_verb_that_is_given_one_address_keeps_the_ports_of_an_up_that_ends(kept, lab, name):
    lab.begin()
    with program(VERB, {name: f"http://localhost:{lab.ports[name.startswith('PREFECT')]}"}):
        lab.started.close()
        assert [takes(port) for port in lab.ports] == [[], []]
    assert all("127.0.0.1" in takes(port) for port in lab.ports)


@pytest.mark.slow
def test_a_verb_waits_for_the_ports_of_servers_that_start(kept, lab):
    """They listen, and so whoever asks them is answered as soon as they can."""
    later = threading.Timer(8.0, lab.begin)
    later.start()
    with program(VERB, {"MLFLOW_TRACKING_URI": f"http://127.0.0.1:{lab.ports[0]}"}) as verb:
        assert known_servers.find_running(lab.state) is not None
        assert lab.ports[0] in listened(verb.pid)
    later.join()


def test_servers_that_end_as_they_start_are_not_waited_for(kept, lab):
    later = threading.Timer(0.5, lab.started.close)
    later.start()
    with pytest.raises(BadInput, match="do not hand over"):
        known_servers.hold_ports(f"http://127.0.0.1:{lab.ports[0]}")
    later.join()


@pytest.mark.slow
def test_a_worker_that_began_first_holds_the_ports_of_servers_that_start_later(kept, tmp_path):
    """Units of systemd begin together."""
    with listening.held("127.0.0.1", [0]) as [[first, *_]]:
        port = first.getsockname()[1]
    with program(WORKER, {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api"}) as worker:
        for _ in range(2):  # and of those that start once more
            with contextlib.ExitStack() as stack:
                sockets = stack.enter_context(listening.held("127.0.0.1", [port]))
                children.write_ledger(tmp_path / "lab")
                stack.enter_context(known_servers.noted(tmp_path / "lab", [port]))
                stack.enter_context(held_ports.offered(tmp_path / "lab", sockets[0]))
                wait_for(lambda: port in listened(worker.pid), seconds=60.0)
            wait_for(lambda: port not in listened(worker.pid), seconds=60.0)
            assert takes(port) == []
        few = psutil.Process(worker.pid).num_fds()
    assert "127.0.0.1" in takes(port) and few < 20


def listened(process):
    """Return the ports that a process listens on."""
    found = psutil.Process(process).net_connections("tcp")
    return {each.laddr.port for each in found if each.status == psutil.CONN_LISTEN}


@contextlib.contextmanager
def program(words, asked):
    """Run a program that is given addresses in its environment until the block ends."""
    pipe, command = subprocess.PIPE, [sys.executable, "-c", words]
    unnamed = {key: each for key, each in os.environ.items() if not key.endswith(("_URL", "_URI"))}
    own = unnamed | asked
    with subprocess.Popen(command, env=own, stdin=pipe, stdout=pipe, text=True) as found:
        assert found.stdout.readline() == "ready\n"
        yield found
        found.communicate("\n", timeout=60)


@pytest.mark.parametrize(
    "left", [b"/a/place", b'{"state": "a", "process": "gone 1 2"}', b"{", b"[]"]
)
def test_servers_that_were_killed_are_forgotten(kept, tmp_path, left):
    kept.mkdir(parents=True, mode=0o700)
    (kept / "4200").write_bytes(left)
    assert known_servers.noted_states() == {}
    with known_servers.noted(tmp_path / "lab", [4300]):
        assert [each.name for each in kept.iterdir()] == ["4300"]
        assert known_servers.noted_states() == {4300: tmp_path / "lab"}
    assert known_servers.noted_states() == {} and list(kept.iterdir()) == []


def test_nobody_else_says_where(kept):
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    with pytest.raises(BadInput, match="0777"):
        known_servers.noted_states()


def test_without_a_home_servers_start_and_it_is_said(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless(self):
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with known_servers.noted(tmp_path, [4200]):
        assert known_servers.noted_states() == {}
    assert "holds no ports" in capsys.readouterr().err
