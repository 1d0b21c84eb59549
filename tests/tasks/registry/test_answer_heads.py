"""Heads of answers have few bytes, and lines that no lone carriage return ends."""

import http.client
import io
from types import SimpleNamespace

import pytest

from ricochet.tasks.registry import answer_heads
from ricochet.tasks.registry.answer_heads import ShortHead

FIRST, END = b"HTTP/1.1 200 OK\r\n", b"\r\n"
MULTIPART = b"Content-Type: multipart/mixed; boundary=a\r\r--a\r"


def read(content, kind=ShortHead):
    stream = io.BytesIO(content)
    answer = kind(SimpleNamespace(makefile=lambda _: stream))
    answer.begin()
    return answer


@pytest.mark.parametrize(
    "head",
    [
        b":\r" * 30_000 + END,
        b"a: b\rc: d" + END,
        MULTIPART * 1000 + END,
        b"a: " + b"b" * 65_520 + END,
        (b"a: " + b"b" * 1000 + END) * 66,
    ],
    ids=["no names", "a lone return", "messages in messages", "a line", "lines"],
)
def test_a_head_without_measure_is_refused(head):
    with pytest.raises(http.client.HTTPException):
        read(FIRST + head + END)


@pytest.mark.parametrize("first", [b"SSH-2.0-OpenSSH_9.2\r\n", b"", b"HTTP/1.1 x\r\n", b"\0\xff\n"])
def test_what_is_no_answer_of_http_is_refused_as_ever(first):
    for kind in (ShortHead, http.client.HTTPResponse):
        with pytest.raises(http.client.HTTPException):
            read(first, kind)


def test_answers_that_go_before_it_count_with_it():
    early = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert read(early * 1000 + FIRST + END).status == 200
    with pytest.raises(http.client.HTTPException, match=f"more than {answer_heads.LONGEST} bytes"):
        read(early * 3000 + FIRST + END)


def test_an_ordinary_answer_is_read_as_ever():
    head = b"Content-Length: 70003\r\na: b\n c\r\nBadly\r\n" + END
    body = b"x\r" + b"y" * 70_000 + b"\r"
    ours, plain = read(FIRST + head + body), read(FIRST + head + body, http.client.HTTPResponse)
    assert ours.getheaders() == plain.getheaders()
    assert ours.read() == plain.read() == body
    parts = b"Transfer-Encoding: chunked\r\n\r\n3\r\na\rb\r\n0\r\n\r\n"
    assert read(FIRST + parts).read() == b"a\rb"


def test_mlflows_clients_read_such_heads_alone():
    connection = pytest.importorskip("urllib3.connection")
    from ricochet.tasks.registry import client_answers

    client_answers.bound()
    assert connection.HTTPConnection.response_class is ShortHead
    assert connection.HTTPSConnection.response_class is ShortHead
