"""uvicorn's HTTP, which closes connections that ask for nothing.

uvicorn waits for a request without end: a thousand silent connections take all files that a server
may have open, and shut everybody out. So do those that ask to become websockets and never do, or
that are told to go and stay, or whose body never ends. And where no file is left, asyncio tries
again thousands of times a second, long after the strangers have gone. So there are far fewer
connections than files, and one more ends the oldest of a stranger: of whom no login has been seen.
One login that has very many, whose bodies may all be late, would leave none to the others: then it
is the oldest of that login's. Where several have just not very many each, strangers have a share as
well, for everybody is one until a password has been compared: it is the oldest of whoever has most.
Each part of a body is an event, before anybody is asked for a login: 12 MB in parts of one byte,
sent in a tenth of a second, take one of them ten. Nobody honest sends so. Heads are short, too
(`flows.servers.short_heads`).
"""

import itertools
import resource
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ricochet.flows.servers.short_heads import ShortHeads
from ricochet.tasks.registry.server_limits import KNOWN

BACKLOG = 128
"""Connections that are accepted at a time."""
RESERVE = 2 * BACKLOG
"""Files that no connection takes: databases, logs, and what is being accepted."""
MOST = 2**10
"""Connections, each of which may take 100 kB before anybody is asked who it is."""
OF_ALL, COUNTED = 4, 0.1
"""One login has very many where it has more than a share of all: one in so many; and the time from
one count to the next, s, which takes longer than to accept a connection."""
PARTS, LEAST = 64, 128
"""Parts of a body of any length, and bytes that more of them have on average."""
CLOSING, UNREADY = object(), object()
PATIENCE = 10.0
"""Longest time without a whole head of a request, beside those that are answered, s."""


class FewParts(ShortHeads):
    """What reads requests, and gives a connection up whose bodies come in very small parts."""

    def __init__(self, begin: Callable[[], None], end: Callable[[], None], longest: int) -> None:
        """Read heads of some bytes for a server.

        Args:
            begin: Called where a request begins.
            end: Cuts the connection off.
        """
        super().__init__(longest)
        self._begin, self._end, self._parts, self._bytes = begin, end, 0, 0

    def next_event(self) -> Any:
        """Return what has come, nothing any more where it is cut off."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._parts = self._bytes = 0
            self._begin()
        if isinstance(event, h11.Data):
            if event.chunk_start and PARTS <= self._parts > self._bytes / LEAST:
                self._end()
                return h11.NEED_DATA
            self._parts += event.chunk_start
            self._bytes += len(event.data)
        return event


class PromptProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed where no request comes of it."""

    _open: ClassVar[dict[Any, "PromptProtocol"]] = {}
    """By what transports them; first those that asked, or came, the longest time ago. A proxy keeps
    connections, on which another login may ask than before. Websockets are among them."""
    _crowded: ClassVar[frozenset[bytes]] = frozenset()
    """Logins that had very many when they were counted."""
    _largest: ClassVar[bytes | None] = None
    """The login that had most of all."""
    _strangers: ClassVar[int] = 0
    """Connections of strangers when they were counted, and all since."""
    _count_again: ClassVar[float] = 0.0
    """Time of the loop before which they are not counted anew, s."""

    def connection_made(self, transport: Any) -> None:
        """Begin to look; one too many ends another, or itself."""
        super().connection_made(transport)
        head = self.config.h11_max_incomplete_event_size
        self.conn = FewParts(self._begin, self._end, head)
        self._before: tuple[list[bytes], bytes | None] = [], None
        self._open[transport] = self
        PromptProtocol._strangers += 1
        if len(self._open) > most_connections():
            self._make_room()
        self.loop.call_later(PATIENCE, self._look, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """End to look."""
        self.forget(self.transport)
        super().connection_lost(exc)

    @classmethod
    def forget(cls, transport: Any) -> None:
        """Count a connection no longer."""
        cls._open.pop(transport, None)

    def on_response_complete(self) -> None:
        """Remember whose the request was: the next may be the same's, before it is looked at."""
        scope = self.cycle.scope
        self._before = _logins(scope), scope["state"].get(KNOWN)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read; where another answer has begun, it is cut off."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self._end()

    def _should_upgrade_to_ws(self) -> bool:
        """Tell whether a request may make a websocket; what refuses others waits without end."""
        return self.scope["method"] == "GET" and bool(super()._should_upgrade_to_ws())

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: anybody may ask."""

    def _look(self, before: Any) -> None:
        """Close what is where it was, between two requests, when it was looked at before.

        What is closed and still has something to send, which nobody takes, is cut off, and so is a
        websocket that has not begun, or has been told to end.
        """
        transport: Any = self.transport
        if transport not in self._open:
            return
        idle, now = self._stands()
        if now is before and (transport.is_closing() or now is UNREADY):
            self._end()
            return
        if idle and now is before:
            transport.close()
            now = CLOSING
        self.loop.call_later(PATIENCE, self._look, now)

    def _make_room(self) -> None:
        """End the oldest connection of a login with very many, or of strangers if they have.

        Where nobody has it is an idle one, or one of the login that has most.
        """
        others = [each for each in self._open.values() if each is not self]
        self._count(others)
        many = self._strangers > most_connections() // OF_ALL
        whose = None if many else self._largest
        crowd = (each for each in others if self._crowded and each._shown() in self._crowded)
        theirs = (each for each in others if each._shown() == whose)
        idle = (each for each in others if each._stands()[0])
        order = (crowd, theirs, idle) if many else (crowd, idle, theirs)
        next(itertools.chain(*order, [self]))._end()

    def _count(self, others: Sequence["PromptProtocol"]) -> None:
        """Note which logins have very many connections, unless that was done just now."""
        if self.loop.time() < PromptProtocol._count_again:
            return
        PromptProtocol._count_again = self.loop.time() + COUNTED
        held, most = Counter(each._shown() for each in others), most_connections() // OF_ALL
        PromptProtocol._strangers = held.pop(None, 0)
        crowded = frozenset(login for login in held if login is not None and held[login] > most)
        PromptProtocol._crowded = crowded
        PromptProtocol._largest = max(held, key=held.__getitem__, default=None)

    def _begin(self) -> None:
        """Be the youngest: a request begins, of whoever it is."""
        if self._open.pop(self.transport, None) is not None:
            self._open[self.transport] = self

    def _end(self) -> None:
        transport: Any = self.transport
        transport.abort()
        self.forget(transport)

    def _shown(self) -> bytes | None:
        """Return the name of the login that whoever asks has shown; None of a stranger."""
        transport: Any = self.transport
        protocol = transport.get_protocol()
        if protocol is not self:  # a websocket, which is answered after its login
            return b"" if protocol.is_answered else None
        if self.cycle is None:
            return None
        scope = self.cycle.scope
        same = KNOWN not in scope["state"] and self._before[0] == _logins(scope)
        login: bytes | None = self._before[1] if same else scope["state"].get(KNOWN)
        return login

    def _stands(self) -> tuple[bool, Any]:
        """Return whether a connection waits for a request, and what is the same while it stays."""
        transport: Any = self.transport
        protocol = transport.get_protocol()
        if transport.is_closing():
            return False, CLOSING
        if protocol is not self:  # a websocket by now
            open_now = protocol.handshake_complete and not protocol.close_sent
            return False, self if open_now else UNREADY
        idle = self.cycle is None or self.cycle.response_complete
        return idle, self.cycle if idle else self


def _logins(scope: Any) -> list[bytes]:
    """Return what a request says of who sends it."""
    return [value for name, value in scope["headers"] if name == b"authorization"]


def most_connections() -> int:
    """Return how many connections there may be: fewer than files."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return min(max(files - RESERVE, files // 2), MOST)
