"""Of each login a few searches run at a time, and one that waits for a place in vain asks again."""

import threading

import pytest
from flask import Flask, request

from ricochet.tasks.registry import server_places

SEARCH = "/api/2.0/mlflow/runs/search"


class Server:
    """Searches until it is let go."""

    def __init__(self):
        self.begun, self.end = threading.Semaphore(0), threading.Event()
        self.application = Flask("server")
        for number, path in enumerate((SEARCH, "/ajax-api/2.0/mlflow/runs/search", "/graphql")):
            name = f"search-{number}"
            methods = ["GET", "POST"]
            self.application.add_url_rule(path, name, self.search, methods=methods)
        self.application.add_url_rule("/api/2.0/mlflow/runs/get", "get", lambda: "got")
        server_places.hold(self.application)

    def search(self):
        self.begun.release()
        assert self.end.wait(30.0)
        if request.args:
            raise ValueError(request.args)
        return "found"

    def status(self, login, path=SEARCH):
        client = self.application.test_client()
        return client.get(path, auth=(login, "password")).status_code

    def together(self, logins):
        """Ask at once; returns statuses, which come once the searches end, and the threads."""
        found = []
        threads = [
            threading.Thread(target=lambda each=each: found.append(self.status(each)))
            for each in logins
        ]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert self.begun.acquire(timeout=30.0)
        return found, threads


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("MLFLOW_AUTH_CONFIG_PATH", "somewhere")
    monkeypatch.setattr(server_places, "AT_A_TIME", 2)
    monkeypatch.setattr(server_places, "WAIT", 0.05)
    return Server()


def test_a_third_search_of_a_login_is_postponed_and_nothing_else_is(server):
    found, threads = server.together(["one", "one", "two"])
    assert server.status("one") == server.status("one", "/graphql") == 429
    assert server.status("one", "/api/2.0/mlflow/runs/get") == 200
    server.end.set()
    for thread in threads:
        thread.join()
    assert found == [200, 200, 200] and server.status("one") == 200


def test_where_nobody_is_asked_for_a_login_all_share_the_places(server, monkeypatch):
    monkeypatch.delenv("MLFLOW_AUTH_CONFIG_PATH")
    _, threads = server.together(["one", "two"])
    assert server.status("three") == 429
    server.end.set()
    for thread in threads:
        thread.join()


def test_a_search_that_fails_gives_its_place_up(server):
    server.end.set()
    assert [server.status("one", f"{SEARCH}?fail=1") for _ in range(4)] == [500] * 4
    assert server.status("one") == 200


def test_a_long_question_in_graphql_is_refused_unread(server):
    server.end.set()
    client = server.application.test_client()
    for length, status in ((server_places.LONGEST, 200), (server_places.LONGEST + 1, 400)):
        assert client.post("/graphql", data=b"a" * length).status_code == status
    words = b"1 " * server_places.MOST_WORDS
    assert client.post("/graphql", data=words).status_code == 200
    assert client.post("/graphql", data=words + b"1").status_code == 400


def test_a_body_of_very_many_values_is_refused_before_anything_else(server):
    server.end.set()
    client, asked = server.application.test_client(), []
    server.application.before_request(lambda: asked.append(request.path))
    few, many = "[" + "1," * 19_998 + "1]", "[" + "1," * 20_000 + "1]"
    assert client.post(SEARCH, data=few).status_code == 200 and len(asked) == 1
    for path, body in (
        (SEARCH, many),
        (SEARCH, b"\xff"),
        (SEARCH, "[" * 200),
        ("/api/2.0/mlflow/experiments/search-datasets", "[" + "1," * 100 + "1]"),
    ):
        answer = client.post(path, data=body)
        assert answer.status_code == 400 and "the body with" in answer.json["message"]
    assert len(asked) == 1
    file = "/api/2.0/mlflow-artifacts/artifacts/1/a"
    assert client.put(file, data=many).status_code == 404 and len(asked) == 2


def test_the_routes_of_mlflow_s_server_are_as_expected():
    """What is heavy by its path; the rest is answered from few rows."""
    from mlflow.server import app

    heavy = {
        rule.rule.partition("/mlflow")[2]
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/2.0/") and server_places.HEAVY.fullmatch(rule.rule)
    }
    assert {
        "/runs/search",
        "/experiments/search",
        "/registered-models/search",
        "/model-versions/search",
        "/metrics/get-history",
        "/metrics/get-history-bulk-interval",
        "/artifacts/list",
        "-artifacts/artifacts",
    } <= heavy
    assert not heavy & {"/runs/get", "/registered-models/alias", "/model-versions/get"}
