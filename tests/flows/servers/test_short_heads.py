"""Long heads, and rows of blanks in what is read as lines, are refused before they are read."""

import asyncio
import contextlib

import h11
import pytest
import uvicorn
from uvicorn.server import ServerState

from ricochet.flows.servers.prompt_protocol import PromptProtocol
from ricochet.flows.servers.short_heads import MOST_BLANKS, ShortHeads

LONGEST = 2**14
FIRST = b"POST / HTTP/1.1\r\nHost: a\r\n"
PARTS = FIRST + b"Transfer-Encoding: chunked\r\n\r\n"
BLANKS = b" " * (MOST_BLANKS + 1)
FIELDS = {
    "of a head": FIRST + b"a:%s\0\r\n\r\n",
    "of a head's end": FIRST + b"a:x%s\r\n\r\n",
    "of a head without returns": b"POST / HTTP/1.1\nHost: a\na:%s\0\n\n",
    "behind all parts": PARTS + b"1\r\nx\r\n0\r\na:b\r\na:%s\0\r\n\r\n",
}
SIZES = {
    "before a first part": PARTS + b"1;%s\n\r\nx\r\n0\r\n\r\n",
    "before a later part": PARTS + b"1\r\nx\r\n1;%s\n\r\nx\r\n0\r\n\r\n",
    "before the end": PARTS + b"1\r\nx\r\n0;%s\n\r\n\r\n",
}
LINES = FIELDS | SIZES
ROWS = {"spaces": BLANKS, "tabs": BLANKS.replace(b" ", b"\t"), "folds": b"\r\n " * MOST_BLANKS}
PLACES = [(line, row) for line in LINES for row in ROWS if line in FIELDS or row != "folds"]


def events(data, *, pieces=1):
    """Return what is read of some bytes, which come in pieces, until more is needed."""
    reader, found = ShortHeads(LONGEST), []
    size = -(-len(data) // pieces)
    for start in range(0, len(data), size):
        reader.receive_data(data[start : start + size])
        while (event := reader.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            found.append(event)
    return found


def body(data, **options):
    read = events(data, **options)
    assert isinstance(read[-1], h11.EndOfMessage)
    return b"".join(bytes(each.data) for each in read if isinstance(each, h11.Data))


@pytest.mark.parametrize("pieces", [1, 7, 10**6])
@pytest.mark.parametrize(("line", "row"), PLACES)
def test_rows_of_blanks_are_refused_wherever_lines_are_read(line, row, pieces):
    with pytest.raises(h11.RemoteProtocolError, match="blanks in a row"):
        events(LINES[line] % ROWS[row], pieces=pieces)


@pytest.mark.parametrize("pieces", [1, 7, 10**6])
def test_bodies_hold_any_blanks_however_they_come(pieces):
    blanks = (BLANKS + b"\r\n\r\n") * 3
    stated = FIRST + b"Content-Length: %d\r\n\r\n" % len(blanks)
    assert body(stated + blanks, pieces=pieces) == blanks
    part = b"%x;a=b\r\n" % len(blanks) + blanks + b"\r\n"
    assert body(PARTS + 2 * part + b"0\r\na: b\r\n\r\n", pieces=pieces) == 2 * blanks


def test_what_follows_a_whole_request_is_not_read_with_it():
    follows = FIRST + b"Content-Length: 200\r\n\r\n" + b" " * 200
    assert body(PARTS + b"1\r\nx\r\n0\r\n\r\n" + follows) == b"x"
    assert body(FIRST + b"Content-Length: 1\r\n\r\nx" + follows) == b"x"


def test_as_many_blanks_as_may_be_are_read():
    (request, _) = events(FIRST + b"a:" + b" " * MOST_BLANKS + b"b\r\n\r\n")
    assert (b"a", b"b") in request.headers


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_what_comes_whole_is_as_short_as_what_does_not(line, monkeypatch):
    """h11 is never handed more of a line than its bound, and refuses it there by itself."""
    given, real = [], h11.Connection.next_event

    def counted(self):
        given.append(len(self.trailing_data[0]))
        return real(self)

    monkeypatch.setattr(h11.Connection, "next_event", counted)
    with pytest.raises(h11.RemoteProtocolError, match="too long"):
        events(line.replace(b"\0", b"") % (b"x" * 2 * LONGEST))
    assert max(given) == LONGEST + 1


def test_a_head_at_the_bound_is_read_and_one_byte_more_is_not():
    rest = LONGEST - len(FIRST + b"a:\r\n\r\n")
    assert len(events(FIRST + b"a:" + b"x" * rest + b"\r\n\r\n")) == 2
    with pytest.raises(h11.RemoteProtocolError):
        events(FIRST + b"a:" + b"x" * (rest + 2) + b"\r\n\r\n")


async def reading(scope, receive, send):
    """Answer when the whole body is there."""
    while (await receive()).get("more_body"):
        pass
    await hasty(scope, receive, send)


async def hasty(scope, receive, send):
    """Answer without a look at the body, as who asks for a login does."""
    head = {"type": "http.response.start", "status": 401}
    await send({**head, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


def answer(*sent, application=reading):
    """Return the first line that the protocol of our servers answers, and what failed in it.

    Each part is sent when there is an answer to the one before.
    """
    faults = []

    async def ask():
        config = uvicorn.Config(application, ws="none", h11_max_incomplete_event_size=LONGEST)
        config.load()
        made = PromptProtocol(config, ServerState(), {})
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context))
        async with await loop.create_server(lambda: made, "127.0.0.1", 0) as server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            for part in sent:
                writer.write(part)
                found = await reader.readline()
                while await reader.readline() not in (b"\r\n", b""):
                    pass
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
        return found

    return asyncio.run(ask()), faults


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_servers_answer_400(line):
    for value in (BLANKS, b"x" * 2 * LONGEST):
        assert answer(line % value) == (b"HTTP/1.1 400 Bad Request\r\n", [])
    stated = FIRST + b"Content-Length: 200\r\n\r\n" + b" " * 200
    assert answer(stated) == (b"HTTP/1.1 401 Unauthorized\r\n", [])


@pytest.mark.parametrize("rest", [b"1;" + BLANKS + b"\r\n", b"no length\r\n"])
def test_what_cannot_be_read_behind_an_answer_is_cut_off(rest):
    """Another answer was begun in it, which is a fault."""
    found = answer(PARTS + b"1\r\nx\r\n", rest, application=hasty)
    assert found == (b"", [])
