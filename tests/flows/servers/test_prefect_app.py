"""Websockets of Prefect's server: those without a login stop nobody, and are closed."""

import asyncio
import contextlib
import os
import socket
import subprocess
import urllib.request

import pytest
import websockets

from ricochet.flows.servers import environments, prefect_app, serving
from ricochet.flows.servers.prefect_app import SILENT, Impatient
from tests.flows.harness import wait_for

SAID = {"type": "websocket.receive", "text": "login"}


def received(messages, *, kind="websocket", patience=0.05):
    """Return what an application receives of messages, after which nothing comes."""
    found = []

    async def receive():
        if messages:
            return messages.pop(0)
        await asyncio.sleep(0.5)
        return {"type": "late"}

    async def application(scope, receive, send):
        for _ in range(3):
            found.append(await receive())
            if found[-1] == SILENT or found[-1]["type"] == "late":
                return

    asyncio.run(Impatient(application, patience)({"type": kind}, receive, None))
    return [message["type"] for message in found]


def test_a_websocket_that_says_nothing_has_gone():
    assert received([{"type": "websocket.connect"}]) == ["websocket.connect", SILENT["type"]]


def test_one_that_has_spoken_may_be_silent_for_as_long_as_it_likes():
    assert received([{"type": "websocket.connect"}, SAID])[1:] == ["websocket.receive", "late"]


def test_a_request_may_be_slow():
    assert received([], kind="http") == ["late"]


def test_the_limit_counts_requests_and_no_websockets():
    server = pytest.importorskip("prefect.server.api.server")
    most, going = {"http": 0, "websocket": 0}, {"http": 0, "websocket": 0}

    async def application(scope, receive, send):
        kind = scope["type"]
        going[kind] += 1
        most[kind] = max(most[kind], going[kind])
        await asyncio.sleep(0.01)
        going[kind] -= 1

    async def asked():
        limited = prefect_app.uncounted(server.RequestLimitMiddleware)(application, limit=2)
        kinds = ["http", "websocket"] * 6
        await asyncio.gather(*(limited({"type": kind}, None, None) for kind in kinds))

    asyncio.run(asked())
    assert most == {"http": 2, "websocket": 6}


@contextlib.contextmanager
def a_server(folder):
    """Run Prefect's server as `up` does; yields its address without the scheme."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        own = {"PREFECT_HOME": str(folder), environments.SERVER_LOGIN: "lab:secret"}
        with subprocess.Popen(
            serving.command(serving.PREFECT, [listener]),
            env={**os.environ, **environments.QUIET, **own},
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        ) as process:
            try:
                yield f"127.0.0.1:{listener.getsockname()[1]}"
            finally:
                process.terminate()


@pytest.mark.slow
def test_a_hundred_and_more_websockets_without_a_login_leave_the_server_answering(tmp_path):
    with a_server(tmp_path) as place:

        def answers():
            with contextlib.suppress(OSError):
                health = f"http://{place}/api/health"
                with urllib.request.urlopen(health, timeout=10.0) as answer:
                    return answer.status == 200
            return False

        async def open_many():
            events = f"ws://{place}/api/events/out"
            words = {"subprotocols": ["prefect"], "ping_interval": None, "open_timeout": 60}
            opened = [await websockets.connect(events, **words) for _ in range(130)]
            assert await asyncio.to_thread(answers)
            await asyncio.wait_for(opened[-1].wait_closed(), 6 * prefect_app.PATIENCE)

        wait_for(answers, seconds=120.0)
        asyncio.run(open_many())
