"""Who asks a registry: from a file or from variables, and only where nobody can listen."""

import base64

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import logins, sources
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests.tasks.registry import registry_server

LOGIN = "controller:a long password"


def decoded(header):
    return base64.b64decode(header["Authorization"].removeprefix("Basic ")).decode()


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.delenv(logins.NAME, raising=False)
    monkeypatch.delenv(logins.PASSWORD, raising=False)
    (tmp_path / "login").write_text(LOGIN + "\n")
    (tmp_path / "login").chmod(0o600)
    return tmp_path / "login"


def test_the_file_comes_before_the_variables_and_neither_is_none(file, monkeypatch):
    assert logins.header(None) == {}
    monkeypatch.setenv(logins.NAME, "other")
    assert logins.header(None) == {}
    monkeypatch.setenv(logins.PASSWORD, "p:q")
    assert decoded(logins.header(None)) == "other:p:q"
    assert decoded(logins.header(file)) == LOGIN


def test_a_file_without_a_name_or_that_others_may_read_is_refused(file):
    file.chmod(0o644)
    with pytest.raises(BadInput, match="mode 0644"):
        logins.header(file)
    file.chmod(0o600)
    file.write_text("only a password")
    with pytest.raises(BadInput, match="name:password"):
        logins.header(file)


def test_a_server_is_told_who_asks_and_another_machine_is_not_without_encryption(file):
    registry = registry_server.Registry()
    with registry_server.serving(registry) as address:
        source = sources.Server(address, login=file)
        with pytest.raises(sources.UnreachableError):
            source.resolve("a", POSTERIOR.load_reader())
    assert decoded(registry.headers[0]) == LOGIN
    with pytest.raises(BadInput, match="http on loopback, or https"):
        sources.Server("http://lab.example", login=file)


@pytest.mark.parametrize("address", ["http://[", "https://[::1", "", "http://"])
def test_what_is_no_address_of_a_server_is_refused_in_one_line(address):
    with pytest.raises(BadInput, match=r"registry: found .* expected http on loopback, or https"):
        sources.Server(address)
