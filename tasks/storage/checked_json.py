"""JSON of bounded size, depth and digits; read into a frozen dataclass, a fault names the key.

Types are strict: a truth value or a text is no number. A key stands once: of two, readers differ.
A class with `__pydantic_config__ = EXACT` refuses unknown keys and numbers that are not finite.
"""

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args, get_type_hints

from annotated_types import Interval
from pydantic import PlainValidator, StringConstraints, TypeAdapter, ValidationError, WrapValidator
from pydantic_core import ErrorDetails, PydanticCustomError

from ricochet.models.core.bad_input import BadInput, shown, unknown_key
from ricochet.tasks.storage import limits
from ricochet.tasks.storage.files import read_bytes

EXACT = {"extra": "forbid", "allow_inf_nan": False}
T = TypeVar("T")
FAULTS = 10_000
"""As many are listed, to say the first in words: a million would take a gigabyte."""


def expecting(words: str) -> WrapValidator:
    """Say in these words what was expected, wherever a value is refused."""

    def check(value: Any, handler: Any) -> Any:
        try:
            return handler(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise PydanticCustomError("expected", words) from error

    return WrapValidator(check)


def _in_utc(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


Whole = Annotated[int, Interval(ge=0, le=2**53)]
Moment = Annotated[datetime, PlainValidator(_in_utc), expecting("a time like 2026-11-20T20:13:00Z")]
NAME, LONGEST_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$", 255
Name = Annotated[
    str,
    StringConstraints(pattern=NAME, max_length=LONGEST_NAME),
    expecting(f"letters, digits, dots, dashes and underscores, at most {LONGEST_NAME}"),
]
"""What can be the name of a file or a folder."""


_TOKEN = re.compile(
    rf'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{{,]|[\]}}]|(?<![\d.])[\d.]{{{limits.DIGITS + 1}}}',
    re.DOTALL,
)
"""A text, whose end may be missing, a bracket, a comma, or a number that is too long."""
_BEFORE_VALUES = {"[", "{", ","}
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}


def read(kind: type[T], text: str | bytes, where: str, *, largest: int = limits.TEXT) -> T:
    """Read JSON as an instance of a dataclass.

    Args:
        largest: Bytes that it may have.

    Raises:
        BadInput: It is no JSON, a key is missing, repeated or unknown, or a value is not of its
            type.
    """
    checked = check(text, where, largest, limits.VALUES)
    try:
        found: T = _adapter(cast(Any, kind)).validate_json(checked, strict=True)
    except ValidationError as error:
        if (count := error.error_count()) > FAULTS:
            raise BadInput(where, f"{count} faults", "none") from None
        raise _fault(kind, error.errors(include_url=False)[0], where) from error
    _parsed(checked, where)
    return found


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def parse(text: str | bytes, where: str) -> Any:
    """Return what JSON holds, every number of it finite.

    Raises:
        BadInput: It is no JSON, too large, too deep or of too many values, a key stands twice, or
            a number has too many digits or is none.
    """
    return _parsed(check(text, where, values=limits.VALUES), where)


def parse_object(text: str | bytes, where: str) -> dict[str, Any]:
    """Return the object that JSON holds; BadInput as `parse`, or if it is no object."""
    found = parse(text, where)
    if not isinstance(found, dict):
        raise BadInput(where, shown(found), "an object of JSON")
    return found


def load(path: Path, expected: str = "a file of JSON") -> dict[str, Any]:
    """Return the object in a file of JSON.

    Args:
        expected: What the line says should be there where it cannot be read.

    Raises:
        BadInput: As `parse_object`, or it is no regular file, too large or cannot be read.
    """
    return parse_object(read_bytes(path, expected), str(path))


def check(
    text: str | bytes, where: str, largest: int = limits.TEXT, values: float = math.inf
) -> str:
    """Refuse what is too large, too deep or has a number without end, before anything parses it.

    Raises:
        BadInput: It has more than `largest` bytes or `values` values, or is no UTF-8.
    """
    if len(text) > largest:
        raise BadInput(where, f"{len(text)} bytes", f"at most {largest} bytes")
    try:
        text = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        raise BadInput(where, "no JSON: bytes that are no UTF-8", "JSON") from error
    depth, count = 0, 0
    for token in _TOKEN.finditer(text):
        depth += _DEPTH.get(token[0], 0)
        count += token[0] in _BEFORE_VALUES
        if count > values:
            raise BadInput(where, f"more than {values} values", f"at most {values}")
        if depth > limits.DEPTH:
            expected = f"at most {limits.DEPTH}"
            raise BadInput(where, f"more than {limits.DEPTH} lists within one another", expected)
        if token[0][0] in ".0123456789":
            expected = f"at most {limits.DIGITS} digits"
            raise BadInput(where, f"the number {token[0][:20]}..", expected)
    return text


def _parsed(text: str, where: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(pairs)) < len(pairs):
            key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
            raise BadInput(where, f"key {key!r} twice"[:60], "each key once")
        return found

    def no_number(name: str) -> float:
        raise BadInput(where, f"the number {name}", "finite numbers")

    def finite(digits: str) -> float:
        value = float(digits)
        return value if math.isfinite(value) else no_number(digits[:20])

    try:
        return json.loads(
            text, object_pairs_hook=once, parse_constant=no_number, parse_float=finite
        )
    except BadInput:
        raise
    except (ValueError, RecursionError) as error:
        raise BadInput(where, f"no JSON: {error}", "JSON") from error


def _fault(kind: Any, error: ErrorDetails, where: str) -> BadInput:
    """Say in one line what pydantic found first."""
    place, found, expected = error["loc"], error["input"], error["msg"]
    match error["type"]:
        case "json_invalid":
            return BadInput(where, f"no JSON: {expected.partition(': ')[2]}", "JSON")
        case "missing":
            return BadInput(_joined(where, place[:-1]), f"no key {place[-1]!r}", "it to be there")
        case "unexpected_keyword_argument":
            return unknown_key(_joined(where, place[:-1]), place[-1], _keys(kind, place[:-1]))
    expected = expected.removeprefix("Input should be ").removeprefix("String should ")
    return BadInput(_joined(where, place), shown(found)[:60], expected)


def _joined(where: str, place: Sequence[str | int]) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"{where}: {path.removeprefix('.')}" if path else where


def _keys(kind: Any, place: Sequence[str | int]) -> list[str]:
    """Return the keys of the dataclass at a place inside another."""
    for step in place:
        kind = get_type_hints(kind)[step] if isinstance(step, str) else kind
        kind = next(filter(is_dataclass, get_args(kind)), kind)
    return [field.name for field in fields(kind)]
