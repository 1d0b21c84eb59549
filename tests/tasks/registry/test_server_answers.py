"""What is not taken is not read; few threads wait for readers; files of pages need none."""

import asyncio
import warnings

import pytest

from ricochet.tasks.registry import server_answers
from ricochet.tasks.registry.server_answers import PARTS, SLOW, PageFiles
from ricochet.tasks.registry.server_limits import CUT_OFF

PART = 8192
SCOPE = {"type": "http", "method": "GET", "http_version": "1.1", "query_string": b"", "headers": []}


@pytest.fixture
def responder():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what MLflow stands on
        from mlflow.server import fastapi_app
    return server_answers.with_patience(fastapi_app._EfficientWSGIResponder)


async def receive():
    return {"type": "http.request", "body": b""}


def once():
    """Return what gives an empty body, and then nothing as long as the client is there."""
    bodies = [{"type": "http.request", "body": b""}]

    async def given():
        return bodies.pop() if bodies else await asyncio.Event().wait()

    return given


def answering(parts, given):
    """Return a program of threads that answers in so many parts, and counts them."""

    def program(environ, start_response):
        start_response("200 OK", [])
        for number in range(parts):
            given.append(number)
            yield number.to_bytes(4, "big") * (PART // 4)

    return program


class Reader:
    """Takes an answer when it may."""

    def __init__(self):
        self.may, self.taken = asyncio.Event(), []

    async def send(self, message):
        await self.may.wait()
        self.taken.append(message)

    @property
    def body(self):
        return b"".join(message.get("body", b"") for message in self.taken)


def request(responder, program, reader):
    reader.scope = {**SCOPE, "path": "/get-artifact", "state": {}}
    return asyncio.create_task(responder(program, reader.scope)(receive, reader.send))


def test_a_thread_gives_what_is_taken_and_no_more(responder):
    async def tried():
        given, reader = [], Reader()
        task = request(responder, answering(1000, given), reader)
        await asyncio.sleep(0.5)
        before = len(given)
        reader.may.set()
        await task
        return before, len(given), reader

    before, after, reader = asyncio.run(tried())
    assert PARTS <= before <= PARTS + 3 and after == 1000
    expected = b"".join(number.to_bytes(4, "big") * (PART // 4) for number in range(1000))
    assert reader.body == expected and reader.taken[-1] == {
        "type": "http.response.body",
        "body": b"",
    }


def test_many_who_take_nothing_leave_threads_to_others(responder):
    async def tried():
        slow = [Reader() for _ in range(50)]
        tasks = [request(responder, answering(1000, []), each) for each in slow]
        await asyncio.sleep(1.0)
        other, given = Reader(), []
        other.may.set()
        await asyncio.wait_for(request(responder, answering(3, given), other), 20.0)
        for each in slow:
            each.may.set()
        await asyncio.gather(*tasks)
        return other, slow

    other, slow = asyncio.run(tried())
    assert len(other.body) == 3 * PART
    assert sum(CUT_OFF in each.scope["state"] for each in slow) == len(slow) - SLOW
    sizes = sorted(len(each.body) for each in slow)
    assert sizes[-SLOW:] == SLOW * [1000 * PART] and sizes[-SLOW - 1] <= (PARTS + 2) * PART


def test_who_reads_fast_is_not_cut_off_by_many_who_read_slowly(responder):
    """Each of twenty takes a part in 0.2 s, one a part in a millisecond, and has five hundred."""

    async def tried():
        slow = [Pacing(0.2) for _ in range(20)]
        tasks = [request(responder, answering(1000, []), each) for each in slow]
        await asyncio.sleep(2.0)
        fast = Pacing(0.001)
        await asyncio.wait_for(request(responder, answering(500, []), fast), 60.0)
        for each in slow:
            each.pause = 0.0
        await asyncio.gather(*tasks)
        return fast

    assert len(asyncio.run(tried()).body) == 500 * PART


class Pacing(Reader):
    """Takes a part after a pause."""

    def __init__(self, pause):
        super().__init__()
        self.pause = pause

    async def send(self, message):
        await asyncio.sleep(self.pause)
        self.taken.append(message)


def test_a_reader_that_goes_ends_the_thread(responder):
    async def tried():
        given = []

        async def gone(message):
            raise TimeoutError

        found = responder(answering(10**6, given), {**SCOPE, "path": "/"})
        with pytest.raises(BaseExceptionGroup):
            await found(receive, gone)
        return len(given)

    assert asyncio.run(tried()) <= PARTS + 3


@pytest.mark.parametrize(
    ("path", "status"), [("main.js", 200), ("missing.js", 404), ("../secret", 404), ("", 404)]
)
def test_files_of_pages_are_those_of_a_folder(tmp_path, path, status):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "main.js").write_bytes(bytes(10**5))
    (tmp_path / "secret").write_text("secret")

    async def others(scope, receive, send):
        await send({"status": 299})

    async def tried(path):
        reader = Reader()
        reader.may.set()
        pages = PageFiles(others, str(tmp_path / "pages"))
        asked = {**SCOPE, "path": path}
        await asyncio.wait_for(pages(asked, once(), reader.send), 20.0)
        return reader

    reader = asyncio.run(tried(f"/static-files/{path}"))
    assert reader.taken[0]["status"] == status
    assert status != 200 or reader.body == bytes(10**5)
    assert asyncio.run(tried("/static-file")).taken[0]["status"] == 299
