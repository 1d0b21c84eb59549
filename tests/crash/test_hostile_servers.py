"""What a registry's server says, or the file of what is kept, is checked before it is believed."""

import contextlib
import json
import socket
import threading
import time

import pytest

from ricochet.tasks.registry import packages
from ricochet.tasks.registry.champion import DAY, Champion, NoPosteriorError
from ricochet.tasks.registry.sources import Folder, Server
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages
from tests.tasks.registry.registry_server import Registry, serving

NAME = "ping-pong-table"
ESCAPE = "\x1b]0;owned\x07\x1b[2J"
VERSIONS = (
    None, 7, 1.0, True, {}, [], "", "-1", "1e3", "9" * 10_000, "1\n2", ESCAPE, "\u202e1", "\u0661",
    "../../x", "1 ",
)  # fmt: skip
TIMES = (
    None, "1700000000000", {}, [], True, 0, -1, 1e308, 9.2e18, 10**300, 1e3, float(2**63),
)  # fmt: skip
RUNS = (None, 5, "", "../" * 10, ESCAPE, "0" * 31, "0" * 33, "G" * 32, {}, [])
TAGS = (
    None, [], {}, "x", [None], [[]], [{"key": "package.sha256"}], [{"key": [], "value": {}}],
    [{"key": "package.sha256", "value": value} for value in ("0" * 64, "1" * 64)],
    [{"key": "package.sha256", "value": None}], [{"key": "package.sha256", "value": "0" * 63}],
    [{"key": "package.sha256", "value": ESCAPE}], [{"key": "a", "value": "b"}] * 2000,
)  # fmt: skip
FIELDS = (
    *(("version", value) for value in VERSIONS),
    *(("creation_timestamp", value) for value in TIMES),
    *(("run_id", value) for value in RUNS),
    *(("tags", value) for value in TAGS),
)
ANSWERS = (
    b"", b"null", b"[]", b"7", b'"x"', b"{}", b"\xff\xfe", b"{" * 10_000, b"[" * 100_000,
    b'{"model_version": null}', b'{"model_version": []}', b'{"model_version": "x"}',
    b'{"model_version": ' + b'{"a":' * 500 + b"1" + b"}" * 501, b" " * (2**20 + 1),
    b'{"a": [' + b"{}," * 200_000 + b"{}]}", b'{"model_version": {"version": NaN}}',
    b'{"model_version": {"creation_timestamp": 1e999}}', b'{"a": ' + b"1" * 5000 + b"}",
)  # fmt: skip
STATUS = (
    b"HTTP/1.0 500 \x1b[2J\x1b]0;owned\x07\r\n\r\n", b"\x1b[31mno HTTP at all\r\n\r\n", b"",
    b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", b"HTTP/1.0 abc\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n" + b"x: y\r\n" * 5000 + b"\r\n", b"HTTP/1.0 200 " + b"x" * 10**6,
    b"HTTP/1.0 200 OK\r\nContent-Length: -5\r\n\r\n{}",
    b"HTTP/1.0 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
)  # fmt: skip


@pytest.fixture
def held(tmp_path):
    """A controller that holds a good package, and the server that it asks."""
    packages.write_package(tmp_path / "package", grid_packages.narrow(NAME), reader=GRID)
    registry, said = Registry(("1", tmp_path / "package"), registered=time.time() - DAY), []
    with serving(registry) as address:
        found = Champion(
            NAME, Server(address), tmp_path / "kept", kind=POSTERIOR, oldest=30 * DAY,
            report_line=said.append,
        )  # fmt: skip
        assert found.refresh()
        yield found, registry, said


def refused(found, said):
    """The refresh fails in one printable line, and the last good package stays in use."""
    before = len(said)
    assert not found.refresh()
    (line,) = said[before:]
    assert line.isprintable() and len(line) < 1000, line
    assert line.endswith("last good version 1 stays in use"), line
    assert found.current().version == "1"


def test_fields_of_an_answer_that_mean_nothing_are_refused(held):
    found, registry, said = held
    whole = registry.alias()["model_version"] | {"version": "2"}
    for name, value in FIELDS:
        registry.alias = lambda name=name, value=value: {"model_version": whole | {name: value}}
        refused(found, said)
    for name in whole:
        less = {key: value for key, value in whole.items() if key != name}
        registry.alias = lambda less=less: {"model_version": less}
        refused(found, said)
    assert len(said) == len(FIELDS) + len(whole) >= 50


def test_answers_that_are_no_version_are_refused(held):
    found, registry, said = held
    for content in ANSWERS:
        registry.answer = lambda path, words, content=content: (200, content)
        refused(found, said)


@contextlib.contextmanager
def answering(first, again=b""):
    """Answer everything with some bytes and, for ever, with more; yields the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def answer():
            listening.settimeout(0.05)
            while not stop.is_set():
                with contextlib.suppress(OSError):
                    talk, _ = listening.accept()
                    with talk:
                        talk.settimeout(1.0)
                        talk.recv(65536)
                        talk.sendall(first)
                        while again and not stop.wait(0.02):
                            talk.sendall(again)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize("content", STATUS, ids=range(len(STATUS)))
def test_what_is_no_answer_of_http_is_refused_and_nothing_of_it_is_printed_raw(tmp_path, content):
    said = []
    with answering(content) as address:
        found = Champion(
            NAME, Server(address, patience=1.0), tmp_path, kind=POSTERIOR, oldest=DAY,
            report_line=said.append,
        )  # fmt: skip
        assert not found.refresh()
    assert len(said) == 1 and said[0].isprintable() and len(said[0]) < 1000


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"
DRIPS = {
    "a hundred and again": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "the content": (HEAD, b" "),
}


@pytest.mark.parametrize("what", DRIPS)
def test_a_server_that_drips_is_left(tmp_path, what):
    said = []
    with answering(*DRIPS[what]) as address:
        source = Server(address, patience=30.0, longest=0.3)
        slow = Champion(NAME, source, tmp_path, kind=POSTERIOR, oldest=DAY, report_line=said.append)
        assert not slow.refresh()
    assert len(said) == 1 and "not whole after 0.3 s" in said[0]


KEPT = (
    *(("version", value) for value in VERSIONS if value != "1e3"),  # the start of a digest
    *(("registered", value) for value in (*TIMES, float(2**40))),
    *(("digest", value) for value in (None, 1, "", "..", "../x", "0" * 63, ESCAPE, {}, [])),
)


def test_what_is_kept_is_checked_as_well(held, tmp_path):
    path = tmp_path / "kept" / NAME / "current.json"
    whole = json.loads(path.read_text())
    for name, value in KEPT:
        path.write_text(json.dumps(whole | {name: value}))
        said = []
        again = Champion(
            NAME, Folder(tmp_path / "none"), tmp_path / "kept", kind=POSTERIOR, oldest=DAY,
            report_line=said.append,
        )  # fmt: skip
        with pytest.raises(NoPosteriorError):
            again.current()
        assert len(said) == 1 and said[0].isprintable() and len(said[0]) < 1000, said
