"""A websocket that sends no frames before it is answered is cut off, which is no fault."""

import asyncio
import contextlib

import uvicorn
from uvicorn.server import ServerState

from ricochet.flows.servers.prompt_protocol import PromptProtocol
from ricochet.flows.servers.prompt_websocket import PromptWebSocket

ASKED = (
    b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


def test_what_is_no_frame_cuts_a_websocket_off_that_was_not_answered():
    faults, asked = [], asyncio.Event()

    async def waiting(scope, receive, send):
        await receive()
        asked.set()
        await receive()

    async def ask():
        config = uvicorn.Config(waiting, ws=PromptWebSocket, h11_max_incomplete_event_size=2**14)
        config.load()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context))
        made = lambda: PromptProtocol(config, ServerState(), {})  # noqa: E731
        async with await loop.create_server(made, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(ASKED)
            await asked.wait()
            writer.write(b"\xff" * 50)
            with contextlib.suppress(ConnectionResetError, asyncio.IncompleteReadError):
                faults.append(await reader.readexactly(1))
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    asyncio.run(asyncio.wait_for(ask(), 30.0))
    assert faults == []
