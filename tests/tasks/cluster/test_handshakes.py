"""Connections that show no certificate keep nobody out, and do not stay."""

import asyncio
import socket

import pytest

from ricochet.tasks.cluster import certificates, handshakes
from ricochet.tasks.cluster.credentials import load_dask, security

MOST = 100
SILENT = 3 * MOST


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The certificates of a cluster, as Dask takes them, and a listener of few handshakes."""
    load_dask({})
    monkeypatch.setattr(handshakes, "MOST", MOST)
    certificates.make(tmp_path / "c")
    return security(str(tmp_path / "c"))


def closed(connections):
    """Count the connections that the other end has closed."""
    found = 0
    for each in connections:
        each.setblocking(False)
        try:
            found += each.recv(1) == b""
        except BlockingIOError:
            pass
        except OSError:
            found += 1
    return found


async def served(own, body):
    """Listen as a scheduler does, with an echo, while a coroutine function runs."""
    from distributed.comm.core import connect, listen

    async def echo(comm):
        await comm.write(await comm.read())
        await comm.close()

    async def ask():
        comm = await connect(listener.contact_address, **own.get_connection_args("client"))
        await comm.write("asked")
        answer = await comm.read()
        await comm.close()
        return answer

    options = own.get_listen_args("scheduler")
    listener = await listen("tls://127.0.0.1:0", echo, deserialize=True, **options)
    port = int(listener.contact_address.rpartition(":")[2])
    held = []
    try:
        for _ in range(SILENT):
            held.append(socket.create_connection(("127.0.0.1", port)))
            await asyncio.sleep(0)
        await body(held, ask)
    finally:
        for each in held:
            each.close()
        listener.stop()


def test_silent_connections_are_few_and_an_honest_one_is_answered(own):
    async def body(held, ask):
        assert await ask() == "asked"
        assert closed(held) >= SILENT - MOST
        assert closed(held) < SILENT  # the others may still show theirs

    asyncio.run(served(own, body))


def test_they_do_not_stay(own, monkeypatch):
    monkeypatch.setattr(handshakes, "PATIENCE", 0.2)

    async def body(held, ask):
        await asyncio.sleep(1.0)
        assert closed(held) == SILENT
        assert await ask() == "asked"

    asyncio.run(served(own, body))
