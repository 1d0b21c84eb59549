"""Logins go over https or to this machine alone."""

import os
import urllib.request

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import login_transport

REFUSED = (
    "http://lab.example:4200/api",
    "HTTP://192.0.2.1",
    "http://127.0.0.1.example/",
    "http://localhost.example",
    "http://[2001:db8::1]:4200",
    "http://",
)
ALLOWED = (
    "https://lab.example/api",
    "http://127.0.0.1:4200/api",
    "http://LOCALHOST:5000",
    "http://[::1]:5000",
    "sqlite:////srv/mlflow.db",
    "postgresql://lab@192.0.2.1/mlflow",
)


@pytest.mark.parametrize("address", REFUSED)
def test_plain_http_to_another_machine_is_refused_in_a_line_that_shows_no_login(address):
    with pytest.raises(BadInput, match=r"^A_SETTING: found .*expected https://") as error:
        login_transport.check("A_SETTING", address, sent=True)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("scheme", ["http", "HTTPS"])
@pytest.mark.parametrize("host", ["lab.example", "127.0.0.1:5000"])
def test_a_login_in_an_address_which_lines_would_show_is_refused(scheme, host):
    with pytest.raises(BadInput, match="a login in the address") as error:
        login_transport.check("A_SETTING", f"{scheme}://name:hidden@{host}", sent=False)
    assert "hidden" not in str(error.value)


@pytest.mark.parametrize("address", ALLOWED)
def test_https_and_loopback_and_databases_are_allowed(address):
    login_transport.check("A_SETTING", address, sent=True)


def test_an_address_that_is_asked_without_a_login_is_allowed():
    login_transport.check("A_SETTING", "http://lab.example", sent=False)
    variables = {"URL": "http://lab.example", "NAME": ""}
    login_transport.check_variable("URL", ("NAME",), variables)
    login_transport.check_variable("ABSENT", ("NAME",), variables)
    with pytest.raises(BadInput, match=r"^URL: found plain http to lab\.example"):
        login_transport.check_variable("URL", ("NAME",), {**variables, "NAME": "a"})


REMOTE = "postgresql://lab@192.0.2.1/mlflow"


@pytest.mark.parametrize(
    ("address", "environment"),
    [
        (f"{REMOTE}?sslmode=verify-full", {}),
        (f"{REMOTE}?sslmode=require", {}),
        (REMOTE, {"PGSSLMODE": "verify-full"}),
        (REMOTE, {"PGSSLMODE": "disable"}),
        ("postgresql://lab@127.0.0.1:5432/mlflow", {}),
        ("postgresql://lab@[::1]/mlflow", {}),
        ("postgresql:///mlflow", {}),
    ],
)
def test_a_database_is_reached_as_is_said_or_on_this_machine(address, environment):
    login_transport.check_database("A_SETTING", address, environment)


@pytest.mark.parametrize(
    "address",
    [
        REMOTE,
        "postgresql://lab@127.0.0.1,192.0.2.1/mlflow",
        "postgresql://lab@127.0.0.1.example/mlflow",
        f"{REMOTE}?sslmode=prefer",
        f"{REMOTE}?sslmode=require&hostaddr=192.0.2.2",
        f"{REMOTE}?sslmode=require&sslmode=disable",
        "postgresql://lab@127.0.0.1/mlflow?hostaddr=192.0.2.2",
        "postgresql:///mlflow?host=192.0.2.2",
        "postgresql:///mlflow#sslmode=disable",
    ],
)
def test_its_password_goes_nowhere_in_the_clear(address):
    with pytest.raises(BadInput, match="sslmode"):
        login_transport.check_database("A_SETTING", address, {})


@pytest.mark.parametrize(
    ("address", "environment"),
    [
        (REMOTE, {"PGSSLMODE": "prefer"}),
        (REMOTE, {"PGSSLMODE": "allow"}),
        (REMOTE, {"PGSSLMODE": ""}),
        ("postgresql:///mlflow", {"PGHOST": "192.0.2.1"}),
        ("postgresql://lab@/mlflow", {"PGHOSTADDR": "192.0.2.1"}),
        ("postgresql:///mlflow", {"PGSERVICE": "elsewhere"}),
    ],
)
def test_nor_by_what_the_environment_says(address, environment):
    with pytest.raises(BadInput, match="sslmode"):
        login_transport.check_database("A_SETTING", address, environment)


def test_a_proxy_is_not_on_the_way_to_this_machine(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://192.0.2.9:3128")
    for name in login_transport.DIRECT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "nas.example")
    requests = pytest.importorskip("requests.utils")
    places = ("http://127.0.0.1:5000/a", "http://localhost:4200", "http://nas.example")
    assert not any(requests.should_bypass_proxies(each, None) for each in places[:2])
    login_transport.go_directly(os.environ)
    assert all(requests.should_bypass_proxies(each, None) for each in places)
    assert urllib.request.proxy_bypass("127.0.0.1:5000")
    assert not requests.should_bypass_proxies("http://lab.example", None)
