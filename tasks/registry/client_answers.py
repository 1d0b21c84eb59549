"""Answers to MLflow's clients, each of bounded size and number of values, unpacked.

Whoever answers where the lab's server should may send a gigabyte of zeros in a megabyte: the client
reads an answer whole before it looks at it. Files are written as they come, and have bounds of
their own. What is no answer of MLflow's is an error that names who gave it.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any

from mlflow.exceptions import MlflowException

from ricochet.models.core.printable_text import one_line
from ricochet.tasks.registry.answer_heads import ShortHead
from ricochet.tasks.storage import checked_json

LARGEST = 2**25
"""Bytes: a hundred runs, each as large as a run may be, have less than half."""
API = "/api/"
MOST = 2_000_000
"""Values; MLflow takes 25 s for as many that are empty."""

_of_thread = threading.local()


def received() -> int:
    """Return how many bytes of answers this thread has read, unpacked."""
    count: int = getattr(_of_thread, "received", 0)
    return count


def bound() -> None:
    """Bound what this process's clients read from now on; doing it again changes nothing."""
    import urllib3.connection
    from mlflow.utils import request_utils, rest_utils

    urllib3.connection.HTTPConnection.response_class = ShortHead
    adapter: Any = request_utils.TCPKeepAliveHTTPAdapter
    reader: Any = rest_utils
    if not hasattr(adapter.send, "bounded"):
        adapter.send = _bounded(adapter.send)
        reader.parse_dict = _named(reader.parse_dict)


def _bounded(send: Callable[..., Any]) -> Callable[..., Any]:
    """Return what sends a request, and reads an answer that is no file up to the bounds."""

    def bounded(self: Any, request: Any, stream: bool = False, *rest: Any, **named: Any) -> Any:
        answer = send(self, request, stream, *rest, **named)
        _of_thread.asked = request.url.partition("?")[0]
        answer.raw._update_chunk_length = _positive(answer.raw)
        if not stream or not answer.ok:  # what it says in place of a file is read whole, too
            answer.raw.stream = _counted(answer.raw)
            answer.encoding = "utf-8"  # which is else guessed, for minutes
            first = answer.content.lstrip()[:1]
            if answer.ok and API in request.url and first not in b"{":
                raise OSError("found an answer that is no object of JSON, expected MLflow's")
            if first in b"{[":
                checked_json.check(answer.content, answer.url, LARGEST, MOST)
        return answer

    bounded.bounded = True  # type: ignore[attr-defined]
    return bounded


def _named(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Return what takes over the fields of an answer, and says whose answer has others."""

    def named(js_dict: Any, message: Any) -> None:
        try:
            parse(js_dict=js_dict, message=message)
        except Exception as error:  # of many kinds: the reader trusts that fields have their types
            found = f"found an answer that cannot be read ({one_line(str(error), longest=200)})"
            raise MlflowException(f"{_of_thread.asked}: {found}, expected MLflow's") from error

    return named


def _positive(raw: Any) -> Callable[[], None]:
    """Return what reads the length of a part; of one of -1 all that follows would be read."""
    update = raw._update_chunk_length

    def updated() -> None:
        update()
        if raw.chunk_left < 0:
            raw.close()
            raise OSError("found a part of less than nothing, expected its length")

    return updated


def _counted(raw: Any) -> Callable[..., Iterator[bytes]]:
    """Return what reads an answer in parts, and hangs up where they have no end."""
    parts = raw.stream

    def counted(*positional: Any, **named: Any) -> Iterator[bytes]:
        total = 0
        for part in parts(*positional, **named):
            if (total := total + len(part)) > LARGEST:
                raw.close()
                raise OSError(f"found an answer of more than {LARGEST} bytes, expected less")
            _of_thread.received = received() + len(part)
            yield part

    return counted
