"""A body in very small parts, each of which is an event, ends its connection."""

import h11
import pytest

from ricochet.flows.servers.prompt_protocol import LEAST, PARTS, FewParts

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


class Reader:
    """What a server does with what comes, until it is cut off."""

    def __init__(self):
        self.begun, self.ended, self.body = 0, False, b""
        self.connection = FewParts(self.begin, self.end, 2**14)

    def begin(self):
        self.begun += 1

    def end(self):
        self.ended = True

    def read(self, data):
        self.connection.receive_data(data)
        while (event := self.connection.next_event()) is not h11.NEED_DATA:
            if isinstance(event, h11.Data):
                self.body += event.data
            if isinstance(event, h11.EndOfMessage):
                break
        return self


def parts(length, count):
    return b"%x\r\n" % length + (b"a" * length + b"\r\n%x\r\n" % length) * (count - 1)


def test_parts_of_one_byte_are_read_to_the_bound():
    found = Reader().read(HEAD + parts(1, 40_000))
    assert found.ended and len(found.body) == PARTS and found.begun == 1


def test_small_parts_after_a_large_one_are_read_as_long_as_their_mean_is_no_smaller():
    found = Reader().read(HEAD + parts(2**14, 2) + b"a" * 2**14 + b"\r\n" + parts(1, 40_000))
    assert found.ended and len(found.body) < 2**15 + 2**16 // LEAST


@pytest.mark.parametrize(("length", "count"), [(1, PARTS), (LEAST, 2000), (2**16, 20)])
def test_bodies_of_few_or_of_large_parts_are_read_whole(length, count):
    found = Reader().read(HEAD + parts(length, count) + b"a" * length + b"\r\n0\r\n\r\n")
    assert not found.ended and len(found.body) == length * count


def test_a_body_of_a_stated_length_may_come_byte_by_byte():
    found = Reader().read(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(1000):
        found.read(b"a")
    assert not found.ended and len(found.body) == 1000


def test_each_request_of_a_connection_is_counted_by_itself():
    found = Reader()
    for _ in range(3):
        found.read(HEAD + parts(1, PARTS) + b"a\r\n0\r\n\r\n")
        found.connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
        found.connection.send(h11.EndOfMessage())
        found.connection.start_next_cycle()
    assert not found.ended and len(found.body) == 3 * PARTS
