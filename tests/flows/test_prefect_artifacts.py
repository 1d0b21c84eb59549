"""Progress and links that Prefect's server does not take: a line, and the work goes on."""

import asyncio
from types import SimpleNamespace

import httpx
import pytest
from prefect.exceptions import Abort, PrefectHTTPStatusError

from ricochet.flows import prefect_artifacts
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import Publication, Step

REFUSED = PrefectHTTPStatusError(
    "Server error '500'\nfor url", request=httpx.Request("POST", "http://a"), response=None
)
RUN = Publication("1", "a" * 32, {})


@pytest.fixture
def server(monkeypatch):
    """What a server is asked to write, in order; it raises `errors` of what that has a name of."""
    seen = SimpleNamespace(asked=[], errors={})

    def answer(name, *told):
        seen.asked.append((name, *told))
        if name in seen.errors:
            raise seen.errors[name]
        return "artifact"

    fakes = {
        "create_progress_artifact": lambda progress, description: answer("create", description),
        "update_progress_artifact": lambda artifact, share: answer("update", artifact, share),
        "create_link_artifact": lambda link, link_text, key: answer("link", key),
        "flow_run": SimpleNamespace(id="run"),
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(prefect_artifacts, name, fake)
    return seen


def take(count=100):
    """Take a step of so many parts; return those that were done."""
    done = []

    def run(progress):
        for number in range(1, count + 1):
            done.append(number)
            progress(number, count)

    steps.take(Step("fit", run), prefect_artifacts.reported)
    return done


def test_a_step_reports_every_five_per_cent(server, capsys):
    take()
    shares = [("update", "artifact", float(share)) for share in range(5, 101, 5)]
    assert server.asked == [("create", "fit"), *shares]
    assert capsys.readouterr().err == "fit ...\n"


@pytest.mark.parametrize(("name", "asked"), [("create", 1), ("update", 2)])
@pytest.mark.parametrize(
    "error", [REFUSED, httpx.ConnectError("away"), ValueError("no UUID"), RecursionError()]
)
def test_a_step_whose_report_is_refused_is_done_and_says_so_once(
    server, capsys, name, asked, error
):
    server.errors[name] = error
    assert len(take()) == 100
    assert len(server.asked) == asked
    begun, said = capsys.readouterr().err.splitlines()
    assert begun == "fit ..."
    assert said.startswith(f"progress of fit: not shown in Prefect, {type(error).__name__}: ")


def test_a_link_that_is_refused_is_one_line(server, capsys):
    server.errors["link"] = REFUSED
    prefect_artifacts.link(RUN, "golf: MLflow run", key="mlflow-run")
    assert server.asked == [("link", "mlflow-run")]
    assert capsys.readouterr().err == (
        "link golf: MLflow run: not shown in Prefect, PrefectHTTPStatusError: "
        "Server error '500' for url\n"
    )


@pytest.mark.parametrize("end", [asyncio.CancelledError, Abort, KeyboardInterrupt])
def test_what_ends_a_run_ends_it_in_a_report_too(server, end):
    server.errors |= {"update": end(), "link": end()}
    with pytest.raises(end):
        take()
    with pytest.raises(end):
        prefect_artifacts.link(RUN, "golf: MLflow run", key="mlflow-run")
