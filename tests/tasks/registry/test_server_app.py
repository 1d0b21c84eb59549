"""What MLflow's server still answers: runs, files and models, and nothing that runs or calls."""

import asyncio
import base64
import urllib.parse

import pytest
from graphql import parse
from mlflow.server.graphql import graphql_no_batching

from ricochet.tasks.registry import server_passwords, server_places
from ricochet.tasks.registry.server_app import (
    ORIGINS,
    OWN,
    READER,
    SIMPLE,
    Reduced,
    in_places,
    is_open,
    is_own_page,
)
from ricochet.tasks.registry.server_logins import ADMIN, ASKING
from ricochet.tasks.registry.server_passwords import Passwords

USED = [
    "/",
    "/health",
    "/version",
    "/get-artifact",
    "/model-versions/get-artifact",
    "/static-files/static/js/main.js",
    "/graphql",
    "/ajax-api/2.0/mlflow/runs/search",
    "/api/2.0/mlflow/runs/create",
    "/api/2.0/mlflow/users/create",
    "/api/2.0/mlflow/experiments/get-by-name",
    "/api/2.0/mlflow/registered-models/alias",
    "/api/2.0/mlflow/model-versions/create",
    "/api/2.0/mlflow-artifacts/artifacts/1/run/artifacts/package/posterior.json",
    "/ajax-api/3.0/mlflow/server-info",
    "/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval",
]
REFUSED = [
    "/ajax-api/3.0/mlflow/assistant/message",
    "/ajax-api/3.0/mlflow/assistant/config",
    "/gateway/mlflow/v1/chat/completions",
    "/api/3.0/mlflow/gateway/secrets/create",
    "/ajax-api/2.0/mlflow/gateway-proxy",
    "/api/2.0/mlflow/webhooks",
    "/api/2.0/mlflow/webhooks/1/test",
    "/ajax-api/3.0/jobs/",
    "/ajax-api/3.0/mlflow/jobs/search",
    "/api/3.0/mlflow/scorers/register",
    "/api/3.0/mlflow/prompt-optimization/jobs",
    "/ajax-api/2.0/mlflow/runs/create-promptlab-run",
    "/v1/traces",
    "/api/3.0/mlflow/server-info",
    "/api/2.0/mlflow-artifacts/presigned/a",
    "/api/2.0/mlflow-artifacts/mpu/create/a",
    "/api/2.0/mlflow/artifacts/presigned-upload-url",
    "/ajax-api/2.0/mlflow/upload-artifact",
    "/metrics",
    "/anything",
    "/api/2.0/mlflow/runs/../gateway-proxy//x/../../promptlab",
    "/health/../gateway/a",
]


@pytest.mark.parametrize("path", USED)
def test_what_pages_and_controllers_use_is_passed_on(path):
    assert is_open(path)


@pytest.mark.parametrize("path", REFUSED)
def test_what_runs_programs_or_calls_other_hosts_is_not(path):
    assert not is_open(path)


def answers(scope):
    """Return what is sent to a scope, and whether the application behind was asked."""
    sent, asked = [], []

    async def behind(scope, receive, send):
        asked.append(scope["type"])

    async def send(message):
        sent.append(message)

    asyncio.run(Reduced(behind)(scope, None, send))
    return sent, asked


def asks(method, path, login=None, *more, query=b""):
    """Return the status of a refusal, or None where a request is passed on."""
    stated = [] if login is None else [(b"authorization", b"Basic " + base64.b64encode(login))]
    scope = {"type": "http", "path": path, "method": method, "headers": [*stated, *more]}
    scope["query_string"] = query
    sent, asked = answers(scope)
    return None if asked else sent[0]["status"]


def test_the_account_of_controllers_reads_and_does_nothing_else(monkeypatch):
    monkeypatch.setenv(READER, "controller:secret")
    monkeypatch.setenv(ADMIN, "admin")
    monkeypatch.setenv(ASKING, "somewhere")
    area, theirs, other = "/api/2.0/mlflow", b"controller:secret", b"admin:x"
    for method, path in (
        ("POST", "registered-models/create"),
        ("POST", "registered-models/alias"),
        ("DELETE", "registered-models/alias"),
        ("PATCH", "users/update-password"),
        ("POST", "runs/create"),
        ("POST", "artifacts/search/../create"),
    ):
        assert asks(method, f"{area}/{path}", theirs) == 403
        assert asks(method, f"{area}/{path}", other) is None
        assert asks(method, f"{area}/{path}") is None  # MLflow asks who it is
        assert asks(method, f"{area}/{path}", other, (b"Authorization", b"Basic x")) == 401
    assert asks("PUT", "/api/2.0/mlflow-artifacts/artifacts/1/a", theirs) == 403
    for stated in (
        b"Basic\t " + base64.b64encode(theirs) + b",username=admin",
        b"Basic  " + base64.b64encode(other),
        b"basic x",
        b"Bearer a",
        b"Basic \xff",
    ):
        for path in ("runs/create", "runs/search"):
            assert asks("POST", f"{area}/{path}", None, (b"authorization", stated)) == 401
    for method, path in (
        ("GET", "registered-models/alias"),
        ("GET", "artifacts/list"),
        ("POST", "runs/search"),
    ):
        assert asks(method, f"{area}/{path}", theirs) is None


def test_names_that_the_lab_finds_things_by_are_the_administrators_alone(monkeypatch):
    monkeypatch.setenv(READER, "controller:secret")
    monkeypatch.setenv(ADMIN, "admin")
    monkeypatch.setenv(ASKING, "somewhere")
    for path in (
        "registered-models/create",
        "registered-models/alias",
        "model-versions/set-tag",
        "experiments/create",
        "experiments/update",  # which is a new name
        "users/permissions/grant",
        "users/permissions/revoke",
        "users/create",
        "users/update-admin",
        "roles/permissions/add",
        "roles",
    ):
        assert asks("POST", f"/api/2.0/mlflow/{path}", b"person:x") == 403
        assert asks("POST", f"/api/2.0/mlflow/{path}", b"admin:x") is None
    assert asks("POST", "/api/2.0/mlflow/runs/create", b"person:x") is None
    assert asks("PATCH", "/api/2.0/mlflow/users/update-password", b"person:x") is None
    monkeypatch.delenv(READER)  # a server without logins
    assert asks("POST", "/api/2.0/mlflow/registered-models/create", b"person:x") is None


def test_models_that_nobody_uses_are_looked_at_only():
    assert asks("PATCH", "/api/2.0/mlflow/logged-models/m-1") == 404
    assert asks("POST", "/api/2.0/mlflow/logged-models") == 404
    assert asks("POST", "/api/2.0/mlflow/runs/log-model") == 404
    assert asks("POST", "/ajax-api/2.0/mlflow/logged-models/search") is None


def test_the_page_asks_its_server_alone():
    sent = []

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", b"b")]})
        await send({"type": "http.response.body", "body": b"page"})

    async def send(message):
        sent.append(message)

    for path in ("/", "/static-files/index.html", "/get-artifact"):
        scope = {"type": "http", "path": path, "headers": [], "method": "GET"}
        asyncio.run(Reduced(application)(scope, None, send))
        assert sent[-2]["headers"] == [(b"a", b"b"), OWN] and sent[-1]["body"] == b"page"


def test_a_refused_request_never_reaches_the_application():
    sent, asked = answers({"type": "http", "path": "/gateway/a"})
    assert sent[0]["status"] == 404 and asked == []
    assert answers({"type": "http", "path": "/health", "headers": [], "method": "GET"}) == (
        [],
        ["http"],
    )
    page = [(b"origin", b"http://localhost:9"), (b"host", b"localhost:5000")]
    sent, asked = answers({"type": "http", "path": "/health", "headers": page})
    assert sent[0]["status"] == 403 and asked == []
    assert answers({"type": "lifespan"}) == ([], ["lifespan"])
    sent, asked = answers({"type": "websocket", "path": "/health"})
    assert sent == [{"type": "websocket.close", "code": 1008}] and asked == []


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        (b"http://localhost:5000", True),
        (b"https://lab.example", True),
        (b"http://localhost:9999", False),
        (b"http://127.0.0.1:5000", False),
        (b"https://lab.example.evil", False),
        (b"null", False),
        (b"http://[", False),
        (b"\xff", False),
    ],
)
def test_pages_of_other_origins_and_of_other_ports_are_none_of_its_own(origin, own, monkeypatch):
    monkeypatch.setenv(ORIGINS, "https://other.example,https://lab.example")
    assert is_own_page({b"origin": origin, b"host": b"localhost:5000"}) == own
    assert is_own_page({b"host": b"localhost:5000"})


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "n" * 900])
def test_a_file_that_no_backup_can_name_is_not_taken(name):
    artifacts, mlflow = "/api/2.0/mlflow-artifacts/artifacts/1/", "/ajax-api/2.0/mlflow"
    assert asks("PUT", artifacts + name) in (400, 404)
    coded = urllib.parse.quote(urllib.parse.quote(name))
    assert asks("PUT", artifacts + coded) in (400, 404)
    stated = f"run_uuid=1&path={urllib.parse.quote(name)}".encode()
    scope = {"type": "http", "path": f"{mlflow}/runs/create", "method": "POST", "headers": []}
    sent, asked = answers(scope | {"query_string": stated})
    assert not asked and sent[0]["status"] == 400
    assert asks("PUT", artifacts + "Häuser/1.json") is None
    assert asks("GET", artifacts + "n" * 900) is None


@pytest.mark.parametrize(
    ("query", "refused"),
    [
        ("query a($d: I!) { mlflowGetRun(input: $d) { run { info { runName } } } }", ""),
        ("{ mlflowSearchRuns { runs { a: data { tags { key } } } } }", "at most 0 aliases"),
        ("{ mlflowSearchRuns { runs { ...f } } } fragment f on R { b: info { x } }", "0 aliases"),
        ("{ mlflowSearchRuns { runs { x } } mlflowGetRun { run { x } } }", "1 root fields"),
    ],
)
def test_what_is_asked_by_graphql_is_one_thing_without_repetition(monkeypatch, query, refused):
    for name, value in SIMPLE.items():
        monkeypatch.setenv(name, value)
    found = graphql_no_batching.check_query_safety(parse(query))
    assert (found is None) == (not refused)
    assert found is None or refused in str(found.errors[0])


FILES = "/api/2.0/mlflow-artifacts/artifacts"


@pytest.mark.parametrize("name", ["3", "3/", "3/run/artifacts", "3/run/artifacts/a b.txt", "3/.a"])
def test_a_file_is_named_by_its_experiment_s_number(name):
    assert asks("GET", f"{FILES}/{name}") is None
    assert asks("GET", f"/ajax-api/2.0{FILES[8:]}", query=f"path={name}".encode()) is None


@pytest.mark.parametrize(
    "name",
    [
        "./3/a",
        ".%2f3/a",
        "/3/a",
        "3//a",
        "3/./a",
        "3/../4/a",
        "3/a/..",
        "a/3",
        "%252e/3",
        "3%2f..",
        "\uff13",
    ],
)
def test_a_way_round_it_is_refused(name):
    """MLflow finds no experiment in `./3/..`, and shows it to whoever is denied the third."""
    for method in ("GET", "PUT", "DELETE"):
        assert asks(method, f"{FILES}/{name}") == 400
    quoted = urllib.parse.quote(name).encode()
    assert asks("GET", FILES, query=b"path=" + quoted) == 400
    assert asks("GET", FILES, query=b"path=3&path=" + quoted) == 400
    assert asks("GET", f"{FILES}/", query=b"path=" + quoted) == 400
    assert asks("GET", FILES) == asks("GET", FILES, query=b"path=") == 400


def test_a_password_that_changes_while_its_request_waits_is_asked_for_again(monkeypatch):
    """MLflow would compare those of files one after another, in the way of all else."""
    monkeypatch.setenv(ASKING, "somewhere")
    right, passed, end = {"one:a"}, [], asyncio.Event()

    def known(name, password):
        return f"{name}:{password}" in right

    monkeypatch.setattr(server_passwords, "of_mlflow", lambda: Passwords(known, known))

    async def inner(scope, receive, send):
        passed.append(scope)
        await end.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def asked():
        application, most = in_places(inner), server_places.AT_A_TIME["file"][0]
        stated = [(b"authorization", b"Basic " + base64.b64encode(b"one:a"))]
        path = "/api/2.0/mlflow-artifacts/artifacts/1/a"
        scope = {"type": "http", "method": "PUT", "path": path, "headers": stated}
        statuses = []

        async def send(message):
            statuses.extend([message["status"]] if "status" in message else [])

        tasks = [asyncio.create_task(application(dict(scope), None, send)) for _ in range(most + 9)]
        while len(passed) < most:
            await asyncio.sleep(0)
        right.clear()
        end.set()
        await asyncio.gather(*tasks)
        assert len(passed) == most and sorted(statuses) == [200] * most + [401] * 9

    asyncio.run(asyncio.wait_for(asked(), 30.0))
