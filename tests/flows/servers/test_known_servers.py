"""What asks servers by their address finds where they keep their state, and holds their ports."""

import os
from pathlib import Path

import pytest

from ricochet.flows.servers import children, known_servers
from ricochet.models.core.bad_input import BadInput


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Where servers are noted, and outputs of one's own, elsewhere than those of a lab."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    (tmp_path / "lab").mkdir()
    return tmp_path / "cache" / "ricochet-servers"


def test_a_worker_that_knows_an_address_alone_holds_the_ports_of_a_lab(kept, tmp_path, monkeypatch):
    lab, taken = tmp_path / "lab", []
    monkeypatch.setattr(
        known_servers.held_ports, "hold", lambda state, ports: taken.append((state, ports))
    )
    children.write_ledger(lab, mlflow="http://127.0.0.1:5000", prefect="http://127.0.0.1:4200")
    with known_servers.noted(lab, 4200):
        for address in ("http://127.0.0.1:4200/api", "http://localhost:4200/api"):
            known_servers.hold_ports(address)
        known_servers.hold_ports("http://127.0.0.1:4201/api")
        known_servers.hold_ports("http://127.0.0.1:a/api")
    known_servers.hold_ports("http://127.0.0.1:4200/api")
    assert taken == [(lab, [5000, 4200])] * 2
    assert list(kept.iterdir()) == []


def test_servers_that_were_killed_are_forgotten(kept, tmp_path):
    kept.mkdir(parents=True)
    (kept / "4200").write_bytes(os.fsencode(tmp_path / "gone"))
    children.write_ledger(tmp_path / "lab")
    with known_servers.noted(tmp_path / "lab", 4300):
        assert [each.name for each in kept.iterdir()] == ["4300"]
        assert known_servers.state_of(4300) == tmp_path / "lab"
    assert known_servers.state_of(4300) is None


def test_nobody_else_says_where(kept, tmp_path):
    kept.mkdir(parents=True)
    (kept / "4200").write_bytes(os.fsencode(tmp_path / "theirs"))
    kept.chmod(0o777)
    with pytest.raises(BadInput, match="0777"):
        known_servers.state_of(4200)


def test_without_a_home_servers_start_and_it_is_said(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless(self):
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "expanduser", homeless)
    with known_servers.noted(tmp_path, 4200):
        assert known_servers.state_of(4200) is None
    assert "hold no ports" in capsys.readouterr().err.replace("holds", "hold")
