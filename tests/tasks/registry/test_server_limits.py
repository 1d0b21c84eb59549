"""Bodies that are too large or too late are not kept, answers that nobody takes not waited for."""

import asyncio
import re
import time

import pytest

from ricochet.flows.servers import prefect_app
from ricochet.tasks.registry.server_limits import CUT_OFF, FOLDERS, KNOWN, Bounded

PART = 1000


async def application(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})


def bounded(**more):
    limits = {"body": 10 * PART, "patience": 0.05, "files": re.compile("/files/.*"), **more}
    return Bounded(application, **limits)


async def request(server, bodies, *, path="/version", method="POST", length=None, slow=0.0):
    """Return what is answered to a request of so many parts, and how many were taken."""
    answers, taken = [], []

    async def receive():
        await asyncio.sleep(slow)
        taken.append(bytes(PART))
        return {"type": "http.request", "body": taken[-1], "more_body": len(taken) < bodies}

    async def send(message):
        answers.append(message)

    headers = [] if length is None else [(b"content-length", length)]
    scope = {"type": "http", "path": path, "method": method, "headers": headers}
    await server(scope, receive, send)
    return answers[0]["status"], len(taken)


def asked(bodies, **words):
    return asyncio.run(request(bounded(), bodies, **words))


def test_a_body_is_read_as_far_as_it_may_be():
    assert asked(10) == (200, 10)
    assert asked(11) == (413, 11)
    assert asked(10**6) == (413, 11)


def test_one_that_says_that_it_is_too_large_is_not_read_at_all():
    assert asked(1, length=b"10001") == (413, 0)
    assert asked(1, length=b"10000") == (200, 1)
    assert asked(1, length=b"9" * 400) == (413, 0)
    assert asked(1, length=b"-1") == (200, 1)


def test_a_path_of_very_many_folders_is_passed_to_nobody():
    """A server of files took longer with each, before anybody was asked for a login."""
    assert asked(1, path="/" + "a/" * (FOLDERS - 1)) == (200, 1)
    for method in ("GET", "POST", "PUT"):
        assert asked(1, path="/files/" + "a/" * FOLDERS, method=method) == (414, 0)


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_cookies_that_python_takes_long_to_read_are_left_out(kind):
    """One of 15 kB stopped a server for two seconds, before anybody was asked for a login."""
    seen = []

    async def inner(scope, receive, send):
        seen.extend(scope["headers"])

    plain = [(b"cookie", b'a="b c"; d=e'), (b"x", b"\\")]
    slow = [(b"cookie", b'a="' + b"\\" * 15_000 + b'"'), (b"Cookie", b'a="\\"')]
    scope = {"type": kind, "path": "/", "method": "GET", "headers": slow[:1] + plain + slow[1:]}
    asyncio.run(Bounded(inner)(scope, None, None))
    assert seen == plain


def test_files_are_of_any_size_where_they_are_put_alone():
    assert asked(50, path="/files/a", method="PUT", length=b"50000") == (200, 50)
    for method in ("POST", "GET", "DELETE", "PATCH"):
        assert asked(50, path="/files/a", method=method) == (413, 11)
    assert asked(50, path="/other", method="PUT") == (413, 11)


def test_all_bodies_together_are_bounded_and_leave_room_when_they_go():
    server = bounded(together=25 * PART, longest=20.0)

    async def many():
        slow = [request(server, 10, slow=0.02) for _ in range(8)]
        found = await asyncio.gather(*slow)
        return [status for status, _ in found]

    async def one_by_one():
        return [(await request(server, 10))[0] for _ in range(8)]

    together = asyncio.run(many())
    assert {200, 413} == set(together) and 2 <= together.count(200) <= 3
    assert server.kept == 0
    assert asyncio.run(one_by_one()) == [200] * 8


def test_a_body_that_does_not_come_is_not_waited_for():
    began = time.monotonic()
    server = bounded(longest=0.1)
    assert asyncio.run(request(server, 10, slow=5.0)) == (413, 0)
    assert time.monotonic() - began < 4.0 and server.kept == 0


def test_a_file_comes_slowly_but_does_come():
    server = bounded(longest=0.1, silent=0.3)
    assert asyncio.run(request(server, 5, path="/files/a", method="PUT", slow=0.05)) == (200, 5)
    assert asyncio.run(request(server, 5, path="/files/a", method="PUT", slow=5.0)) == (413, 0)


def test_a_client_that_leaves_is_no_fault():
    async def reading(scope, receive, send):
        while (await receive())["type"] == "http.request":
            pass
        raise RuntimeError("gone")

    async def receive():
        return {"type": "http.disconnect"}

    for path in ("/files/a", "/version"):
        scope = {"type": "http", "path": path, "method": "PUT", "headers": []}
        asyncio.run(Bounded(reading, files=re.compile("/files/.*"))(scope, receive, None))


@pytest.mark.parametrize(
    ("path", "method", "status", "login", "known"),
    [
        ("/api/2.0/mlflow/runs/search", "POST", 200, True, True),
        ("/ajax-api/2.0/mlflow/runs/search", "POST", 200, True, True),
        ("/api/flow_runs/filter", "POST", 201, True, True),
        ("/api/flow_runs/filter", "POST", 200, False, False),
        ("/api/flow_runs/filter", "POST", 401, True, False),
        ("/api/flow_runs/filter", "OPTIONS", 200, True, False),  # a browser asks without one
        ("/api/health", "GET", 200, True, False),
        ("/api/ready", "GET", 200, True, False),
        ("/api/3.0/mlflow/server-info", "GET", 200, True, False),
        ("/health", "GET", 200, True, False),
        ("/static-files/a.js", "GET", 200, True, False),
        ("/api/files/a", "PUT", 0, True, True),  # its body is asked for after the login
        ("/api/files/a", "PUT", 0, False, False),
    ],
)
def test_who_has_shown_a_login_is_known(path, method, status, login, known):
    async def answering(scope, receive, send):
        if status:
            await send({"type": "http.response.start", "status": status})
        else:
            await receive()

    async def receive():
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def send(message):
        pass

    server = Bounded(answering, files=re.compile("/api/files/.*"))
    headers = [(b"authorization", b"Basic YTpi")] if login else []
    scope = {"type": "http", "path": path, "method": method, "headers": headers, "state": {}}
    asyncio.run(server(scope, receive, send))
    assert scope["state"] == ({KNOWN: b""} if known else {})  # nobody is asked for a login here


@pytest.mark.parametrize("known", [True, False])
def test_a_page_that_stands_for_unknown_paths_shows_no_login(known):
    """Prefect's does so for all that is not below `/api`."""

    async def answering(scope, receive, send):
        await send({"type": "http.response.start", "status": 200})

    async def send(message):
        pass

    path = "/api/flow_runs/filter" if known else "/ajax-api/x"
    headers = [(b"authorization", b"Basic YTpi")]
    scope = {"type": "http", "path": path, "method": "GET", "headers": headers, "state": {}}
    asyncio.run(Bounded(answering, asked=prefect_app.ASKED)(scope, None, send))
    assert scope["state"] == ({KNOWN: b""} if known else {})  # nobody is asked for a login here


def test_what_fails_by_itself_is_no_refusal():
    async def failing(scope, receive, send):
        raise KeyError("odd")

    with pytest.raises(KeyError):
        asyncio.run(request(Bounded(failing), 1))


def test_what_fails_when_an_answer_was_cut_off_is_no_fault():
    async def cut_off(scope, receive, send):
        scope.setdefault("state", {})[CUT_OFF] = True
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("too little data for its length")

    assert asyncio.run(request(Bounded(cut_off), 1)) == (200, 0)


def test_an_answer_that_nobody_takes_is_not_waited_for():
    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        await asyncio.sleep(5.0)

    began, scope = time.monotonic(), {"type": "http", "path": "/", "method": "GET", "headers": []}
    asyncio.run(bounded()(scope, receive, send))  # without a traceback in the log of servers
    assert time.monotonic() - began < 4.0
