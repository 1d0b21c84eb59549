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
