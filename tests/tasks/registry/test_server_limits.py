"""Bodies that are too large are not kept, and answers that nobody takes are not waited for."""

import asyncio
import re
import time

import pytest

from ricochet.tasks.registry.server_limits import Bounded

PART = 1000


def asked(bodies, *, path="/version", length=None, body=10 * PART, slow=False):
    """Return what is answered to a request of so many parts, and how many were taken."""
    answers, taken = [], []

    async def receive():
        taken.append(bytes(PART))
        return {"type": "http.request", "body": taken[-1], "more_body": len(taken) < bodies}

    async def send(message):
        if slow:
            await asyncio.sleep(5.0)
        answers.append(message)

    async def application(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    headers = [] if length is None else [(b"content-length", length)]
    bounded = Bounded(application, body=body, patience=0.05, files=re.compile("/files/.*"))
    asyncio.run(bounded({"type": "http", "path": path, "headers": headers}, receive, send))
    return answers[0]["status"], len(taken)


def test_a_body_is_read_as_far_as_it_may_be():
    assert asked(10) == (200, 10)
    assert asked(11) == (413, 11)
    assert asked(10**6) == (413, 11)


def test_one_that_says_that_it_is_too_large_is_not_read_at_all():
    assert asked(1, length=b"10001") == (413, 0)
    assert asked(1, length=b"10000") == (200, 1)
    assert asked(1, length=b"9" * 400) == (413, 0)
    assert asked(1, length=b"-1") == (200, 1)


def test_files_are_of_any_size():
    assert asked(50, path="/files/a", length=b"50000") == (200, 50)


def test_an_answer_that_nobody_takes_is_not_waited_for():
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asked(1, slow=True)
    assert time.monotonic() - began < 4.0
