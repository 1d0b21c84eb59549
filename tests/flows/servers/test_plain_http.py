"""Verbs and workers send no login over plain http to another machine."""

import os
import runpy

import pytest

from ricochet.flows import cli
from ricochet.flows.servers import kill_guard, up
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import runs

LAB = "http://192.0.2.1:4200/api"


@pytest.fixture
def settled(monkeypatch, tmp_path):
    """An environment with no server and no login; none of what a verb sets in it stays."""
    monkeypatch.setattr(os, "environ", os.environ.copy())
    for name in [name for name in os.environ if name.startswith(("PREFECT_", "MLFLOW_T"))]:
        del os.environ[name]
    os.environ |= {"RICOCHET_ARTIFACTS": str(tmp_path), "HOME": str(tmp_path)}
    monkeypatch.setattr(kill_guard, "guard_children", lambda: None)
    return os.environ


@pytest.mark.parametrize("name", ["PREFECT_API_AUTH_STRING", "PREFECT_API_KEY"])
def test_a_verb_that_would_send_prefects_login_is_refused(settled, name):
    settled |= {"PREFECT_API_URL": LAB}
    up.prepare_environment()
    settled |= {name: "ricochet:a"}
    with pytest.raises(BadInput, match=r"PREFECT_API_URL: found plain http to 192\.0\.2\.1"):
        up.prepare_environment()
    settled["PREFECT_API_URL"] = "http://127.0.0.1:4200/api"
    up.prepare_environment()


@pytest.mark.parametrize(
    "login",
    [
        {"MLFLOW_TRACKING_USERNAME": "admin", "MLFLOW_TRACKING_PASSWORD": "a"},
        {"MLFLOW_TRACKING_TOKEN": "a"},
    ],
)
def test_no_registry_is_sent_a_login_over_plain_http(settled, login):
    settled |= {"MLFLOW_TRACKING_URI": "http://192.0.2.1:5000"}
    assert runs.connect().uri == "http://192.0.2.1:5000"
    settled |= login
    with pytest.raises(BadInput, match=r"MLFLOW_TRACKING_URI: found plain http to 192\.0\.2\.1"):
        runs.connect()
    settled["MLFLOW_TRACKING_URI"] = "https://lab.example.org"
    assert runs.connect().uri == "https://lab.example.org"


def test_a_login_in_mlflows_own_file_is_one(settled, tmp_path):
    (tmp_path / ".mlflow").mkdir()
    file = tmp_path / ".mlflow" / "credentials"
    file.write_text("[mlflow]\nmlflow_tracking_username = a\nmlflow_tracking_password = b\n")
    with pytest.raises(BadInput, match="plain http"):
        runs.connect("http://192.0.2.1:5000")


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PREFECT_API_URL": LAB}, "PREFECT_API_URL: found plain http to 192.0.2.1"),
        (
            {
                "PREFECT_API_URL": "https://lab.example.org/api",
                "MLFLOW_TRACKING_URI": "http://192.0.2.1:5000",
                "MLFLOW_TRACKING_PASSWORD": "a",
            },
            "MLFLOW_TRACKING_URI: found plain http to 192.0.2.1",
        ),
        (
            {"PREFECT_API_URL": "https://lab.example.org/api", "MLFLOW_TRACKING_URI": ""},
            "MLFLOW_TRACKING_URI: found nothing, expected the address of MLflow's server",
        ),
    ],
)
def test_a_worker_is_refused_before_it_begins(settled, monkeypatch, capsys, variables, said):
    """With a login or without: whoever answers over plain http decides what it runs."""
    monkeypatch.setattr(runpy, "run_module", lambda *_, **__: pytest.fail("a worker began"))
    settled |= variables
    assert cli.main(["worker", "compute"]) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]
