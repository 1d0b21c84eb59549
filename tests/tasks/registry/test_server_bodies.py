"""What is not as MLflow's clients send it, or very much, is refused before a login is looked at."""

import json

import pytest
from flask import Flask, request

from ricochet.tasks.registry import server_bodies

SEARCH = "/api/2.0/mlflow/runs/search"
DATA = "/api/2.0/mlflow/experiments/search-datasets"


@pytest.fixture
def server():
    """A client of a server that says `found`, and the paths that were asked about."""
    application = Flask("server")
    for number, path in enumerate((SEARCH, DATA, "/graphql")):
        application.add_url_rule(path, str(number), lambda: "found", methods=["GET", "POST"])
    server_bodies.bound(application)
    asked = []
    application.before_request(lambda: asked.append(request.path))
    return application.test_client(), asked


def values(count):
    return json.dumps({"a": [1] * (count - 1)})


def test_a_long_question_in_graphql_is_refused_unread(server):
    client, _ = server
    rest = server_bodies.LONGEST - len('{"query": ""}')
    for length, status in ((rest, 200), (rest + 1, 400)):
        assert question(client, query="-" * length) == status
    words = server_bodies.MOST_WORDS - 1
    assert question(client, query="1 " * words) == 200
    assert question(client, query="1 " * words + "1") == 400
    for runs, status in ((["a" * 32, "b" * 32], 200), (["a" * 32, "b" * 32, "a" * 32], 400)):
        assert question(client, query="", variables={"runs": runs}) == status


def question(client, **body):
    """Return the status of what is answered to a question in GraphQL."""
    return client.post("/graphql", data=json.dumps(body)).status_code


def test_what_is_no_question_in_graphql_is_refused():
    """As MLflow's own view, which fails at all of them."""
    from graphql import parse

    application = Flask("server")
    ask = lambda: str(parse(request.get_json(force=True)["query"]))  # noqa: E731
    application.add_url_rule("/graphql", "ask", ask, methods=["GET", "POST"])
    server_bodies.bound(application)
    client = application.test_client()
    assert question(client, query="{a}") == question(client, query="{a}", variables=None) == 200
    for other in ({}, {"query": 1}, {"query": None}, {"query": "{a}", "variables": [1]}):
        assert question(client, **other) == 400
    for query in ("", "{", "\ud800", "{a(b:" + "[" * 4000 + "]" * 4000 + ")}"):
        assert question(client, query=query) == 400
    for answer in (client.get("/graphql"), client.post("/graphql")):
        assert answer.status_code == 400 and "a `query`" in answer.json["message"]


def test_a_body_of_very_many_values_is_refused_before_anything_else(server):
    client, asked = server
    assert client.post(SEARCH, data=values(20_000)).status_code == 200 and len(asked) == 1
    for path, body in ((SEARCH, values(20_001)), (SEARCH, '{"a":' * 200), (DATA, values(101))):
        answer = client.post(path, data=body)
        assert answer.status_code == 400 and "the body with" in answer.json["message"]
    assert len(asked) == 1
    file = "/api/2.0/mlflow-artifacts/artifacts/1/a"
    assert client.put(file, data=values(20_001)).status_code == 404 and len(asked) == 2


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(json.dumps({"a": "b"})),
        json.dumps({"a": "b"}).encode("utf-16-le"),
        json.dumps({"a": "b"}).encode("utf-16"),
        json.dumps({"a": "b"}).encode("utf-32"),
        "\ufeff{}".encode(),
        "[{}]",
        b"\xff",
        "{",
        '{"a": 1} 2',
        '{"experiment_ids": "1234"}',
        '{"experiment_ids": {"1": 2}}',
        '{"run_ids": "12"}',
    ],
    ids=str,
)
def test_what_is_no_object_of_json_in_utf_8_is_refused(server, body):
    client, asked = server
    for path in (SEARCH, DATA):
        answer = client.post(path, data=body)
        assert answer.status_code == 400 and "expected" in answer.json["message"]
    assert not asked


def test_no_body_and_an_object_are_passed_on(server):
    client, _ = server
    for body in (b"", b" ", "{}", '{"experiment_ids": ["1"], "filter": "ä"}', '\n {"a": null}'):
        assert client.post(DATA, data=body).status_code == 200


@pytest.mark.parametrize("kind", server_bodies.FORMS)
def test_a_form_is_refused_unread_wherever_it_is_sent(server, monkeypatch, kind):
    client, asked = server
    monkeypatch.setattr("werkzeug.formparser.FormDataParser.parse", lambda *_: pytest.fail("read"))
    for path in (SEARCH, "/health", "/nowhere", "/api/2.0/mlflow-artifacts/artifacts/1/a"):
        for how in (client.post, client.get):
            answer = how(path, data="a=b&c=d", content_type=f"{kind}; boundary=a")
            assert answer.status_code == 400 and "found a form" in answer.json["message"]
    assert not asked


def test_an_address_names_few_things(server):
    client, asked = server
    for count, status in ((server_bodies.ASKED, 200), (server_bodies.ASKED + 1, 400)):
        values = "&".join(f"a={number}" for number in range(count))
        assert client.get(f"{SEARCH}?{values}").status_code == status
    assert client.get(f"{SEARCH}?a=1&&b=1&a=2&").status_code == 200
    for twice in ("a=1&b=1&a=1", "a=1&b=1&%61=%31"):
        assert client.get(f"{SEARCH}?{twice}").status_code == 400
    for values, status in ((["1", "2"], 200), (["1", "2", "1"], 400)):
        assert client.post(SEARCH, json={"experiment_ids": values}).status_code == status
    assert len(asked) == 3
