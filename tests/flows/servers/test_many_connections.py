"""Connections have an end, and who holds very many of them leaves others theirs."""

import asyncio
import base64
import contextlib
import time

import pytest
import uvicorn
from uvicorn.server import ServerState

from ricochet.flows.servers import prompt_protocol
from ricochet.flows.servers.prompt_protocol import PromptProtocol
from ricochet.tasks.registry.server_limits import KNOWN, Bounded
from ricochet.tasks.registry.server_logins import ASKING
from ricochet.tasks.registry.server_passwords import Asking, Comparing, Passwords

MOST = 20
HEAD = "{} /api/2.0/x HTTP/1.1\r\nHost: a\r\n{}Content-Length: {}\r\n\r\n"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Let there be few connections, of which one login has very many with six."""
    monkeypatch.setattr(prompt_protocol, "MOST", MOST)
    monkeypatch.setattr(prompt_protocol, "COUNTED", 0.0)
    monkeypatch.setattr(PromptProtocol, "_crowded", frozenset())
    monkeypatch.setattr(PromptProtocol, "_largest", None)
    monkeypatch.setattr(PromptProtocol, "_strangers", 0)
    monkeypatch.setattr(PromptProtocol, "_count_again", 0.0)
    monkeypatch.setenv(ASKING, "somewhere")


async def answering(scope, receive, send):
    """Answer 200 once the whole body is there, or 401 where no login is stated."""
    while (await receive()).get("more_body"):
        pass
    known = any(name == b"authorization" for name, _ in scope["headers"])
    status, headers = 200 if known else 401, [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body"})


class Client:
    """One connection, of a login or of none."""

    def __init__(self, name=""):
        code = base64.b64encode(f"{name}:password".encode()).decode()
        self.login = f"Authorization: Basic {code}\r\n" if name else ""

    async def connect(self, place):
        self.reader, self.writer = await asyncio.open_connection(*place)
        return self

    async def ask(self):
        """Return the status of the answer; empty where the connection is ended."""
        try:
            self.writer.write(HEAD.format("GET", self.login, 0).encode())
            found = await self.reader.readuntil(b"\r\n\r\n")
            return found[9:12].decode()
        except (ConnectionError, asyncio.IncompleteReadError):
            return ""

    async def hold(self):
        """Become known, then send a body that never ends."""
        assert await self.ask() == "200"
        self.writer.write(HEAD.format("POST", self.login, 100).encode() + b"{")
        await self.writer.drain()

    def has_ended(self):
        return self.reader.at_eof() or self.reader.exception() is not None


def slow(name, password):
    """Compare a password as MLflow does: not at once."""
    time.sleep(0.2)
    return True


def serve(act):
    """Run a server as ours are, with `act(place)` beside it."""

    async def run():
        comparing = Comparing(Passwords(lambda name, _: not name.startswith("new"), slow))
        asking = Bounded(Asking(answering, comparing))
        config = uvicorn.Config(asking, ws="none", h11_max_incomplete_event_size=2**14)
        config.load()
        loop = asyncio.get_running_loop()
        made = lambda: PromptProtocol(config, ServerState(), {})  # noqa: E731
        async with await loop.create_server(made, "127.0.0.1", 0) as server:
            return await act(server.sockets[0].getsockname())

    return asyncio.run(asyncio.wait_for(run(), 60.0))


async def close(clients):
    for each in clients:
        each.writer.close()
    for each in clients:
        with contextlib.suppress(ConnectionError):
            await each.writer.wait_closed()


def test_a_login_that_holds_all_connections_loses_its_oldest():
    async def act(place):
        held = [await Client("many").connect(place) for _ in range(MOST)]
        for each in held:
            await each.hold()
        others = [await Client(name).connect(place) for name in ("a", "b", "a")]
        found = [await each.ask() for each in others]
        found += [await each.ask() for each in others]
        await asyncio.sleep(0.1)
        ended = [each.has_ended() for each in held]
        await close(held + others)
        return found, ended

    found, ended = serve(act)
    assert found == ["200"] * 6
    assert ended == [True] * 3 + [False] * (MOST - 3)


def test_on_a_connection_that_another_login_used_a_request_is_as_young_as_on_a_new_one():
    """A proxy keeps connections: the oldest of all strangers was whoever came next on one."""

    async def act(place):
        kept = await Client("some").connect(place)
        assert await kept.ask() == "200"
        kept.login = Client("new").login
        strangers = [await Client().connect(place) for _ in range(MOST)]
        asked = asyncio.create_task(kept.ask())
        await asyncio.sleep(0.1)  # its password is compared meanwhile
        strangers += [await Client().connect(place) for _ in range(MOST // 2)]
        found = await asked
        await close([kept, *strangers])
        return found

    assert serve(act) == "200"


def test_strangers_end_no_connection_of_a_login_that_has_some():
    async def act(place):
        known = [await Client("some").connect(place) for _ in range(MOST // prompt_protocol.OF_ALL)]
        for each in known:
            await each.hold()
        strangers = [await Client().connect(place) for _ in range(2 * MOST)]
        last = await strangers[-1].ask()
        await asyncio.sleep(0.1)
        ended = [each.has_ended() for each in known], [each.has_ended() for each in strangers]
        await close(known + strangers)
        return last, *ended

    last, known, strangers = serve(act)
    assert last == "401"
    assert not any(known)
    assert sum(strangers) == 2 * MOST - (MOST - len(known)) and not strangers[-1]


def test_logins_that_together_hold_all_connections_leave_others_theirs():
    async def act(place):
        names = [f"login {number % prompt_protocol.OF_ALL}" for number in range(MOST)]
        held = [await Client(name).connect(place) for name in names]
        for each in held:
            await each.hold()
        other = await Client("new").connect(place)
        asked = asyncio.create_task(other.ask())
        await asyncio.sleep(0.1)  # its password is compared meanwhile
        beside = [await Client(name).connect(place) for name in ("", *names[:3], "")]
        found = [await asked, await other.ask()]
        await asyncio.sleep(0.1)
        ended = [each.has_ended() for each in held]
        await close([*held, other, *beside])
        return found, ended

    found, ended = serve(act)
    assert found == ["200"] * 2
    assert 1 <= sum(ended) <= 6


def test_a_connection_that_asks_for_another_is_that_one_s_and_nobody_s_before_its_login():
    async def act(place):
        held = [await Client("many").connect(place) for _ in range(prompt_protocol.OF_ALL + 2)]
        for each in held:
            await each.hold()
        shared = await Client("many").connect(place)
        assert await shared.ask() == "200"
        shared.login = Client("new").login
        shared.writer.write(HEAD.format("POST", shared.login, 1).encode())
        await asyncio.sleep(0.1)
        found = [each._shown() for each in PromptProtocol._open.values()]
        await asyncio.sleep(0.3)
        found += [each._shown() for each in PromptProtocol._open.values()][-1:]
        await close([*held, shared])
        return found

    assert serve(act) == [b"many"] * (prompt_protocol.OF_ALL + 2) + [None, b"new"]


def test_the_next_request_is_the_same_login_s_until_it_is_looked_at_and_no_other_s():
    async def act(place):
        client = await Client("many").connect(place)
        assert await client.ask() == "200"
        await asyncio.sleep(0.1)  # the answer is complete
        [protocol] = PromptProtocol._open.values()
        scope = protocol.cycle.scope
        del scope["state"][KNOWN]
        found = [protocol._shown()]
        scope["headers"] = [(b"authorization", b"Basic YTpi")]
        found.append(protocol._shown())
        await close([client])
        return found

    assert serve(act) == [b"many", None]


def test_logins_are_counted_now_and_then_and_not_at_each_connection(monkeypatch):
    monkeypatch.setattr(prompt_protocol, "COUNTED", 3600.0)
    counted = []
    monkeypatch.setattr(prompt_protocol, "Counter", lambda names: counted.append(1) or {})

    async def act(place):
        found = [await Client().connect(place) for _ in range(2 * MOST)]
        assert await found[-1].ask() == "401"
        await close(found)

    serve(act)
    assert counted == [1]
