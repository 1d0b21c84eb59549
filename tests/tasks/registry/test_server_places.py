"""Of each login a few requests are worked on at a time; the others wait, or leave."""

import asyncio
import base64
import json
import re
from collections import Counter

import pytest

from ricochet.tasks.registry import server_logins, server_places, server_turns
from ricochet.tasks.registry.server_places import AT_A_TIME, HEAVY, Shared
from ricochet.tasks.registry.server_turns import Turns

SEARCH, GET = "/api/2.0/mlflow/runs/search", "/api/2.0/mlflow/runs/get"
WRITTEN = re.compile("/files/.*")


@pytest.fixture(autouse=True)
def asking(monkeypatch):
    """A server that asks who it is."""
    monkeypatch.setenv(server_logins.ASKING, "somewhere")


class Server:
    """Works on each request until it is let go."""

    def __init__(self, wait=30.0):
        self.shared = Shared(self.work, written=WRITTEN, wait=wait)
        self.working, self.bodies, self.end = [], [], asyncio.Event()

    async def work(self, scope, receive, send):
        self.working.append(scope["path"])
        self.bodies.append((await receive())["body"])
        await self.end.wait()
        if b"fail" in self.bodies[-1]:
            raise ValueError
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"found"})

    def held(self):
        return sum(len(each.held) + len(each.waiting) for each in self.shared.turns.values())

    def ask(self, login=b"one:a", path=SEARCH, method="POST", body=b"{}", heads=()):
        return Asked(self.shared, login, path, method, body, heads)


class Asked:
    """A request that has been sent, whose client may leave."""

    def __init__(self, application, login, path, method, body, heads):
        self.sent, self.left, self.begun = [], asyncio.Event(), False
        coded = b"Basic " + base64.b64encode(login)
        self.body, heads = body, [*heads, *[(b"authorization", coded)] * bool(login)]
        scope = {"type": "http", "path": path, "method": method, "headers": heads}
        self.task = asyncio.create_task(application(scope, self.receive, self.send))

    async def receive(self):
        if not self.begun:
            self.begun = True
            return {"type": "http.request", "body": self.body, "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.sent.append(message)

    async def status(self):
        await self.task
        return self.sent[0]["status"]


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


def in_a_loop(test):
    def run():
        asyncio.run(asyncio.wait_for(test(), 30.0))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@in_a_loop
async def test_of_each_login_a_few_are_worked_on_and_the_others_wait():
    """A name has its places whatever its password is, which may change meanwhile."""
    server, most = Server(), AT_A_TIME["heavy"][0]
    asked = [server.ask(b"one:%d" % number) for number in range(most + 2)]
    await settle()
    assert len(server.working) == most
    light = server.ask(path=GET)
    await settle()
    assert len(server.working) == most + 1
    server.end.set()
    assert {await each.status() for each in [*asked, light]} == {200}
    assert len(server.working) == len(asked) + 1 and set(server.bodies) == {b"{}"}
    assert server.held() == 0


@in_a_loop
async def test_of_all_logins_a_few_are_worked_on_in_turn():
    server, (each, every, spare) = Server(), AT_A_TIME["heavy"]
    names = [b"%d:a" % number for number in range(every)]
    asked = [server.ask(name) for name in names for _ in range(each + 2)]
    await settle()
    assert len(server.working) == every + spare
    honest, last = server.ask(b"honest:a", body=b"honest"), server.ask(names[-1], body=b"last")
    await settle()
    assert len(server.working) == every + spare
    server.end.set()
    assert {await each.status() for each in [*asked, honest, last]} == {200}
    assert (
        server.bodies.index(b"honest") <= every + spare + 2 * len(names)
        and server.bodies[-1] == b"last"
    )
    assert server.held() == 0


def test_who_had_little_done_lately_has_a_place_beside_two_who_use_all(monkeypatch):
    """As two accounts may have questions worked on for as long as they like."""
    clock = [0.0]
    monkeypatch.setattr(server_turns, "_now", lambda: clock[0])

    async def asked():
        each, every, spare = AT_A_TIME["heavy"]
        turns = Turns(each, every, spare)
        for seconds in (10.0, 10.0, 300.0):  # the last ends long after the others
            busy = [(login, turns.ask(login)) for login in (b"one", b"two") for _ in range(8)]
            assert sum(turn.done() for _, turn in busy) == every
            for _ in range(30):  # of whom one asks one thing after another
                turn = turns.ask(b"honest")
                assert turn.done()
                clock[0] += 0.1
                turns.leave(b"honest", turn)
            page = [turns.ask(b"page") for _ in range(3)]
            assert [turn.done() for turn in page] == [True, False, False]
            clock[0] += seconds
            for turn in page:
                turns.leave(b"page", turn)
            slow = turns.ask(b"page")
            assert slow.done()  # as long as each of theirs, but one at a time
            late = turns.ask(b"one")
            assert not late.done()
            for login, turn in [*busy, (b"page", slow), (b"one", late)]:
                turns.leave(login, turn)
            clock[0] += 300.0
        assert not turns.held and not turns.waiting

    asyncio.run(asked())


@pytest.mark.parametrize(("others", "kind"), [(7, "heavy"), (9, "heavy"), (40, "light")])
def test_a_login_with_some_requests_has_its_share_beside_many_with_one_each(others, kind):
    """As a page asks for three things at a time, and others come anew with each request."""

    async def asked():
        turns, done = Turns(*AT_A_TIME[kind]), Counter()

        async def ask(login):
            while sum(done.values()) < 40 * others:
                turn = turns.ask(login)
                await turn
                await asyncio.sleep(0)
                turns.leave(login, turn)
                done[login] += 1
                await asyncio.sleep(0)  # as whoever waits is woken

        logins = [b"%d" % number for number in range(others)] + [b"page"] * 3
        tasks = [asyncio.create_task(ask(login)) for login in logins]
        while sum(done.values()) < 40 * others:
            await asyncio.sleep(0)
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return done

    done = asyncio.run(asyncio.wait_for(asked(), 30.0))
    counts = [done[b"%d" % number] for number in range(others)]
    assert min(counts) > 0.8 * max(counts) and done[b"page"] > 0.8 * max(counts)


@pytest.mark.parametrize("seconds", [0.01, 0.09, 1.0])
def test_work_in_pieces_counts_as_much(monkeypatch, seconds):
    clock = [0.0]
    monkeypatch.setattr(server_turns, "_now", lambda: clock[0])

    async def asked():
        turns = Turns(*AT_A_TIME["heavy"])
        for _ in range(round(30.0 / seconds)):
            turn = turns.ask(b"busy")
            clock[0] += seconds
            turns.leave(b"busy", turn)
        for login in (b"one", b"two"):
            for _ in range(3):
                assert turns.ask(login).done()
        assert not turns.ask(b"busy").done() and turns.ask(b"other").done()

    asyncio.run(asked())


def test_nothing_is_kept_of_logins_that_have_gone(monkeypatch):
    monkeypatch.setattr(server_turns, "_now", lambda: 0.0)

    async def asked():
        turns = Turns(2, 3)
        for number in range(100):
            held = [(b"%d" % each, turns.ask(b"%d" % each)) for each in range(number, number + 9)]
            for login, turn in held:
                turns.leave(login, turn)
        return turns

    turns = asyncio.run(asked())
    assert not (turns.held or turns.waiting or turns._last or turns._begun or turns._used)


def test_where_nobody_is_asked_for_a_login_all_share_the_places(monkeypatch):
    monkeypatch.delenv(server_logins.ASKING)

    @in_a_loop
    async def shared():
        server = Server()
        asked = [server.ask(str(number).encode()) for number in range(AT_A_TIME["heavy"][0] + 2)]
        await settle()
        assert len(server.working) == AT_A_TIME["heavy"][0]
        server.end.set()
        assert {await each.status() for each in asked} == {200}

    shared()


@in_a_loop
async def test_whoever_leaves_while_it_waits_is_never_worked_on():
    server, most = Server(), AT_A_TIME["heavy"][0]
    asked = [server.ask() for _ in range(most)]
    waiting = [server.ask(body=b'{"a": 1}') for _ in range(5)]
    await settle()
    for each in waiting[:4]:
        each.left.set()
    await asyncio.gather(*(each.task for each in waiting[:4]))
    server.end.set()
    assert {await each.status() for each in [*asked, waiting[4]]} == {200}
    assert len(server.working) == most + 1 and server.held() == 0


@in_a_loop
async def test_whoever_waits_in_vain_is_asked_to_come_again():
    server, most = Server(wait=0.05), AT_A_TIME["heavy"][0]
    asked = [server.ask() for _ in range(most)]
    await settle()
    late = server.ask()
    assert await late.status() == 429
    assert json.loads(late.sent[1]["body"])["error_code"] == "REQUEST_LIMIT_EXCEEDED"
    server.end.set()
    assert {await each.status() for each in asked} == {200}
    assert await server.ask().status() == 200


@in_a_loop
async def test_a_place_is_given_up_as_an_answer_begins_or_fails():
    server, most = Server(), AT_A_TIME["heavy"][0]
    server.end.set()
    held = asyncio.Event()
    slow = [server.ask() for _ in range(most)]
    for each in slow:
        each.send = lambda message: held.wait()  # takes nothing
    await settle()
    failing = [server.ask(body=b"fail") for _ in range(2 * most)]
    for each in failing:
        with pytest.raises(ValueError):
            await each.task
    assert await server.ask().status() == 200
    held.set()
    for each in slow:
        await each.task
    assert server.held() == 0


@in_a_loop
async def test_what_is_answered_without_work_takes_no_place():
    server = Server()
    asked = [server.ask(path="/health", method="GET") for _ in range(50)]
    await settle()
    assert len(server.working) == 50
    server.end.set()
    assert {await each.status() for each in asked} == {200}


@in_a_loop
async def test_what_brings_a_body_takes_a_place_wherever_it_is_sent():
    server, (most, *_) = Server(), AT_A_TIME["light"]
    sizes = [(b"content-length", b"1000000")], [(b"transfer-encoding", b"chunked")], []
    for heads, method in zip(sizes, ("GET", "HEAD", "POST"), strict=True):
        server.working.clear()
        asked = [server.ask(b"%s:a" % method.encode(), "/health", method, heads=heads)
                 for _ in range(most + 5)]  # fmt: skip
        await settle()
        assert len(server.working) == most
        for each in asked:
            each.task.cancel()
        await asyncio.gather(*(each.task for each in asked), return_exceptions=True)


@in_a_loop
async def test_files_are_written_as_they_come_by_a_few_at_a_time():
    server, most = Server(), AT_A_TIME["file"][0]
    asked = [server.ask(path="/files/1/a", method="PUT") for _ in range(most + 5)]
    other = server.ask(b"two:a", path="/files/1/a", method="PUT")
    await settle()
    assert len(server.working) == most + 1 and not asked[-1].begun
    nobodys = [server.ask(b"", path="/files/1/a", method="PUT") for _ in range(most + 5)]
    await settle()
    assert len(server.working) == 2 * most + 6
    server.end.set()
    assert {await each.status() for each in [*asked, other, *nobodys]} == {200}
    assert server.held() == 0


def test_the_routes_of_mlflow_s_server_are_as_expected():
    """What is heavy by its path; the rest is answered from few rows."""
    from mlflow.server import app

    heavy = {
        rule.rule.partition("/mlflow")[2]
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/2.0/") and HEAVY.fullmatch(rule.rule)
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
    assert server_places.FREE.fullmatch("/health")
