"""The connections by which runs hear from their worker: few of those that are none of its runs'.

Prefect's worker listens on loopback for its runs, and gives each connection five seconds to say
which it is: a thousand silent ones take all files of a worker, whose next runs then crash.
"""

from typing import Any

MOST = 2**8
"""Connections that have not said yet which run they are; one more ends the oldest."""


def bound() -> None:
    """Have workers in this process bound them."""
    from prefect.runner import _control_channel

    channel: Any = _control_channel.ControlChannel
    if not hasattr(channel._handle_connection, "bounded"):
        channel._handle_connection = _bounded(channel._handle_connection)


def _bounded(handle: Any) -> Any:
    waiting: dict[Any, None] = {}  # the oldest first

    async def handled(self: Any, reader: Any, writer: Any) -> None:
        known = {id(each.writer) for each in self._registrations.values()}
        strangers = [each for each in waiting if id(each) not in known]
        if len(strangers) >= MOST:
            del waiting[strangers[0]]
            strangers[0].transport.abort()
        waiting[writer] = None
        try:
            await handle(self, reader, writer)
        finally:
            waiting.pop(writer, None)

    handled.bounded = True  # type: ignore[attr-defined]
    return handled
