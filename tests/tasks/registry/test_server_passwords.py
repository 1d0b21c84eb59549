"""Passwords are compared a few at a time, and nobody whose login is known waits for it."""

import asyncio
import base64
import threading

import pytest

from ricochet.tasks.registry import server_logins, server_passwords
from ricochet.tasks.registry.server_limits import KNOWN
from ricochet.tasks.registry.server_passwords import AT_A_TIME, Asking, Comparing, Passwords


@pytest.fixture(autouse=True)
def asking(monkeypatch):
    monkeypatch.setenv(server_logins.ASKING, "somewhere")


class Server:
    """Knows one login, and compares others until it is let go."""

    def __init__(self):
        self.compared, self.passed, self.end = [], 0, threading.Event()
        self.application = Asking(self.answer, Comparing(Passwords(self.is_known, self.is_right)))

    def is_known(self, name, password):
        return (name, password) == ("known", "a")

    def is_right(self, name, password):
        self.compared.append(name)
        assert self.end.wait(30.0)
        return password == "right"

    async def answer(self, scope, receive, send):
        self.passed += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})

    def ask(self, login, kind="http"):
        coded = b"Basic " + base64.b64encode(login)
        scope = {"type": kind, "headers": [(b"authorization", coded)] * bool(login)}
        return asyncio.create_task(self._status(scope))

    async def _status(self, scope):
        sent = []

        async def send(message):
            sent.append(message)

        await self.application(scope, None, send)
        return sent[0]["status"]


def test_strangers_wait_for_one_another_and_whoever_is_known_for_nobody():
    async def asked():
        server = Server()
        strangers = [server.ask(f"stranger{n}:wrong".encode()) for n in range(20)]
        new = server.ask(b"new:right")
        while len(server.compared) < AT_A_TIME:
            await asyncio.sleep(0.01)
        assert [await server.ask(each) for each in (b"known:a", b"")] == [200, 200]
        assert len(server.compared) == AT_A_TIME
        server.end.set()
        assert await asyncio.gather(*strangers) == [401] * 20
        assert await new == 200 and server.passed == 3

    asyncio.run(asyncio.wait_for(asked(), 30.0))


def test_whoever_was_right_waits_for_no_stranger(monkeypatch):
    async def asked():
        monkeypatch.setattr(server_passwords, "MOST", 2)
        server = Server()
        server.end.set()
        for name in (b"one", b"two", b"three"):
            assert await server.ask(name + b":right") == 200
        server.end.clear()
        strangers = [server.ask(f"stranger{n}:wrong".encode()) for n in range(5)]
        while len(server.compared) < 3 + AT_A_TIME:
            await asyncio.sleep(0.01)
        again = [server.ask(name + b":right") for name in (b"one", b"two", b"three")]
        while len(server.compared) < 5 + AT_A_TIME:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert sorted(server.compared[-2:]) == ["three", "two"]  # two are remembered
        server.end.set()
        assert await asyncio.gather(*again) == [200] * 3
        assert await asyncio.gather(*strangers) == [401] * 5

    asyncio.run(asyncio.wait_for(asked(), 30.0))


def test_whoever_is_right_no_more_waits_with_strangers():
    async def asked():
        server = Server()
        server.end.set()
        assert [await server.ask(each) for each in (b"old:right", b"one:right")] == [200, 200]
        server.end.clear()
        server.is_right = lambda name, password: (
            server.compared.append(name),
            server.end.wait(30.0),
            name != "old",
        )[2]
        server.application.comparing.passwords = Passwords(server.is_known, server.is_right)
        many = [server.ask(b"old:right") for _ in range(20)]
        while len(server.compared) < 2 + AT_A_TIME:
            await asyncio.sleep(0.01)
        right = server.ask(b"one:right")
        server.end.set()
        assert await right == 200
        assert server.compared[2:5].count("old") <= AT_A_TIME + 1
        assert await asyncio.gather(*many) == [401] * 20

    asyncio.run(asyncio.wait_for(asked(), 30.0))


def test_of_a_name_the_last_password_that_was_right_is_remembered_alone():
    """Whoever changes a password often has no more of those than others."""

    async def asked():
        server = Server()
        server.end.set()
        server.application.comparing.passwords = Passwords(
            server.is_known, lambda name, password: server.is_right(name, "right")
        )
        for number in range(30):
            assert await server.ask(b"one:%d" % number) == 200
        server.end.clear()
        old = [server.ask(b"one:%d" % number) for number in range(29)]
        while len(server.compared) < 30 + AT_A_TIME:
            await asyncio.sleep(0.01)
        last = server.ask(b"one:29")
        while len(server.compared) < 31 + AT_A_TIME:  # waits for none of them
            await asyncio.sleep(0.01)
        server.end.set()
        assert await asyncio.gather(*old, last) == [200] * 30

    asyncio.run(asyncio.wait_for(asked(), 30.0))


def test_who_asks_is_noted_before_the_body_comes_where_the_login_is_right():
    async def asked():
        noted = []

        async def read(scope, receive, send):
            noted.append(scope.get("state", {}).get(KNOWN))
            await send({"type": "http.response.start", "status": 200, "headers": []})

        server = Server()
        server.end.set()
        server.application.application = read
        for login in (b"known:a", b"other:right", b"other:wrong", b""):
            await server.ask(login)
        return noted

    assert asyncio.run(asyncio.wait_for(asked(), 30.0)) == [b"known", b"other", None]


def test_what_is_no_text_is_wrong_and_what_asks_for_nothing_is_passed_on():
    async def asked():
        server = Server()
        server.end.set()
        assert await server.ask(b"\xff:a") == 401 and not server.compared
        assert await server.ask(b"", kind="lifespan") == 200

    asyncio.run(asyncio.wait_for(asked(), 30.0))
