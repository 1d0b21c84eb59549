"""Manifests with one value replaced by what does not belong there."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from ricochet.tasks.storage import limits

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "a negative number": -1,
    "a large number": 10**9,
    "a huge number": 10**30,
    "the largest double": 1e308,
    "no text": "",
    "a long text": "x" * 50_000,
    "a path": "../../etc/passwd",
    "an escape": "\x1b[31mred",
    "a line": "a\nb",
    "half a character": "\ud800",
    "no list": [],
    "a list of lists": [[[[]]]],
    "no object": {},
    "an unknown key": {"unknown": 1},
}
RAW = {
    "a number that is none": "NaN",
    "an infinite number": "Infinity",
    "a number of 5000 digits": "1" * 5000,
    "a number beyond all": "1e999",
    "deep lists": "[" * 1000 + "]" * 1000,
}
"""What `json.dumps` does not write."""


def places(content: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each value in an object, the first of each list standing for all."""
    if above:
        yield above
    inner = content.items() if isinstance(content, dict) else ()
    if isinstance(content, list):
        inner = list(enumerate(content))[:1]
    for key, value in inner:
        yield from places(value, (*above, key))


def changed(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return the content with another value at a place."""
    found = copy.deepcopy(content)
    *way, last = place
    inner = found
    for key in way:
        inner = inner[key]
    inner[last] = value
    return found


def cases(content: Any) -> Iterator[tuple[str, bytes]]:
    """Yield manifests by name, each with one hostile value; some may still mean something."""
    for place in places(content):
        where = ".".join(map(str, place))
        for name, value in VALUES.items():
            yield f"{where}: {name}", json.dumps(changed(content, place, value)).encode()
        for name, text in RAW.items():
            with_mark = json.dumps(changed(content, place, "HERE"))
            yield f"{where}: {name}", with_mark.replace('"HERE"', text).encode()


def many_values(before: str, after: str) -> Iterator[tuple[str, bytes]]:
    """Yield JSON that has nearly as many values as are read, of different kinds."""
    count = limits.VALUES - 1000
    lists = {"numbers": "1", "lists": "[]", "objects": "{}", "texts": '""'}
    for name, each in lists.items():
        yield name, f"{before}[{','.join([each] * count)}]{after}".encode()
    keys = ",".join(f'"{number:05x}":0' for number in range(count))
    yield "keys", f"{before}{{{keys}}}{after}".encode()
    yield "keys at the top", f"{{{keys}}}".encode()
