"""Whoever reaches a process of a cluster and shows no certificate takes little, and not for long.

Dask waits for a handshake without end: a thousand silent connections take all files that a
scheduler may have open, and shut everybody out.
"""

import asyncio
from typing import Any

from ricochet.tasks.console import open_files

PATIENCE = 10.0
"""Longest handshake, s."""
MOST = 2**10
"""Handshakes at a time, or as many as half the files; one more ends the oldest, for an honest one
is done in milliseconds."""


def bound() -> None:
    """Have the processes of a cluster that this one is bound their handshakes."""
    from distributed.comm import tcp

    listener: Any = tcp.TLSListener
    if not hasattr(listener._prepare_stream, "bounded"):
        files = open_files.allow()
        listener._prepare_stream = _bounded(listener._prepare_stream, files // 2)


async def close_pages(node: Any) -> None:
    """End the HTTP server that Dask insists on, which takes silent connections without end."""
    node.http_server.stop()
    await node.http_server.close_all_connections()


def _bounded(prepare: Any, half: int) -> Any:
    waiting: dict[Any, None] = {}  # the oldest first

    async def prepared(self: Any, stream: Any, address: str) -> Any:
        if len(waiting) >= min(MOST, half):
            oldest = next(iter(waiting))
            del waiting[oldest]
            oldest.close()
        waiting[stream] = None
        try:
            return await asyncio.wait_for(prepare(self, stream, address), PATIENCE)
        except TimeoutError:
            stream.close()
            return None
        finally:
            waiting.pop(stream, None)

    prepared.bounded = True  # type: ignore[attr-defined]
    return prepared
