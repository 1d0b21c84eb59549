"""What asks servers by their address finds where they keep their state, and holds their ports."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ricochet.flows.servers import children, environments, held_ports, known_servers, listening
from ricochet.models.core.bad_input import BadInput
from tests.flows.servers.strangers import takes

VERB = """
from ricochet.flows.servers import up
up.prepare_environment()
print("ready", flush=True)
input()
"""


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Where servers are noted, and outputs of one's own, elsewhere than those of a lab."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    (tmp_path / "lab").mkdir()
    return tmp_path / "cache" / "ricochet-servers"


@pytest.fixture
def taken(monkeypatch):
    """What is held, of a lab in `lab` that runs."""
    found = []
    monkeypatch.setattr(
        known_servers.held_ports, "hold", lambda state, ports: found.append((state, ports))
    )
    return found


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:4200/api",
        "http://localhost:4200/api",
        "http://[::1]:5000",
        "HTTP://LOCALHOST:4200",
        "https://lab.example.org",  # through a proxy, perhaps
    ],
)
def test_who_knows_an_address_alone_holds_the_ports_of_a_lab(kept, tmp_path, taken, address):
    lab = tmp_path / "lab"
    children.write_ledger(lab, mlflow="http://127.0.0.1:5000", prefect="http://127.0.0.1:4200")
    with known_servers.noted(lab, 4200):
        known_servers.hold_ports("", address)
    assert taken == [(lab, [5000, 4200])]
    known_servers.hold_ports(address)
    assert len(taken) == 1 and list(kept.iterdir()) == []


def test_other_servers_are_not_held(kept, tmp_path, taken):
    lab = tmp_path / "lab"
    children.write_ledger(lab, mlflow="http://127.0.0.1:5000", prefect="http://127.0.0.1:4200")
    others = ("http://127.0.0.1:4201/api", "http://127.0.0.1:a/api", "http://192.0.2.1:4200", "")
    with known_servers.noted(lab, 4200):
        known_servers.hold_ports(*others)
    assert taken == []


@pytest.mark.slow
@pytest.mark.parametrize("name", environments.ADDRESSES)
def test_a_verb_that_is_given_one_address_keeps_the_ports_of_an_up_that_ends(kept, tmp_path, name):
    lab = tmp_path / "lab"
    with contextlib.ExitStack() as verbs:
        with listening.held("127.0.0.1", [0, 0]) as sockets:
            given = dict(zip(("mlflow", "prefect"), map(listening.address, sockets), strict=True))
            ports = [one[0].getsockname()[1] for one in sockets]
            children.write_ledger(lab, **given)
            every = [each for one in sockets for each in one]
            with known_servers.noted(lab, ports[1]), held_ports.offered(lab, every):
                asked = {name: given["prefect" if name.startswith("PREFECT") else "mlflow"]}
                verbs.enter_context(verb(asked))
        assert [takes(port) for port in ports] == [[], []]
    assert all("127.0.0.1" in takes(port) for port in ports)


@contextlib.contextmanager
def verb(asked):
    """Run a verb that is given addresses in its environment until the block ends."""
    pipe, words = subprocess.PIPE, [sys.executable, "-c", VERB]
    unnamed = {key: os.environ[key] for key in os.environ if key not in environments.ADDRESSES}
    with subprocess.Popen(words, env=unnamed | asked, stdin=pipe, stdout=pipe, text=True) as found:
        assert found.stdout.readline() == "ready\n"
        yield
        found.communicate("\n", timeout=60)


def test_servers_that_were_killed_are_forgotten(kept, tmp_path):
    kept.mkdir(parents=True)
    (kept / "4200").write_bytes(os.fsencode(tmp_path / "gone"))
    children.write_ledger(tmp_path / "lab")
    with known_servers.noted(tmp_path / "lab", 4300):
        assert [each.name for each in kept.iterdir()] == ["4300"]
        assert known_servers.states() == [tmp_path / "lab"]
    assert known_servers.states() == []


def test_nobody_else_says_where(kept, tmp_path):
    kept.mkdir(parents=True)
    (kept / "4200").write_bytes(os.fsencode(tmp_path / "theirs"))
    kept.chmod(0o777)
    with pytest.raises(BadInput, match="0777"):
        known_servers.states()


def test_without_a_home_servers_start_and_it_is_said(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless(self):
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with known_servers.noted(tmp_path, 4200):
        assert known_servers.states() == []
    assert "hold no ports" in capsys.readouterr().err.replace("holds", "hold")
