"""JSON from outside, read within bounds: of bytes, of values, of levels, and of numbers.

By the standard library alone, since a controller loads packages without pydantic;
`storage.checked_json` reads files into dataclasses.

Parsed, a value takes some sixty bytes: text of `LARGEST_TEXT` and `MOST_VALUES` takes 8 MB at most.
"""

import json
from typing import Any, NoReturn

from ricochet.models.core.bad_input import BadInput

LARGEST_TEXT = 2**20
"""Bytes."""
MOST_VALUES, DEEPEST = 100_000, 30
LARGEST_NUMBER = 1e300


def parse_object(where: str, content: bytes) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        BadInput: It is none, too large, or holds what double precision cannot.
    """
    if len(content) > LARGEST_TEXT:
        raise BadInput(where, f"{len(content)} bytes", f"at most {LARGEST_TEXT} bytes of JSON")
    if sum(map(content.count, (b",", b":", b"[", b"{"))) > MOST_VALUES:
        raise BadInput(where, "too many values", f"at most {MOST_VALUES}")
    try:
        value = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(where, "text that is not JSON", "a JSON object") from error
    if not isinstance(value, dict):
        raise BadInput(where, f"a JSON {type(value).__name__}", "a JSON object")
    _check_values(where, value)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _check_values(where: str, value: Any) -> None:
    """Refuse what is nested too deep, or a number that double precision cannot hold."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict | list):
                inner.extend(each.values() if isinstance(each, dict) else each)
            elif isinstance(each, int | float) and not abs(each) <= LARGEST_NUMBER:
                raise BadInput(where, "a number beyond all measure", "finite numbers")
        if not inner:
            return
        level = inner
    raise BadInput(where, "values in values", f"at most {DEEPEST} levels")
