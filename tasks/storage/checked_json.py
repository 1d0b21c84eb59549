"""JSON read into a frozen dataclass; a fault names the key in one line.

Types are strict: a truth value or a text is no number. A key stands once: of two, readers differ.
A class with `__pydantic_config__ = EXACT` refuses unknown keys and numbers that are not finite.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from annotated_types import Ge
from pydantic import PlainValidator, StringConstraints, TypeAdapter, ValidationError, WrapValidator
from pydantic_core import ErrorDetails, PydanticCustomError

from ricochet.models.core.bad_input import BadInput, unknown_key

EXACT = {"extra": "forbid", "allow_inf_nan": False}
T = TypeVar("T")


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


Whole = Annotated[int, Ge(0)]
Moment = Annotated[datetime, PlainValidator(_in_utc), expecting("a time like 2026-11-20T20:13:00Z")]
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
Name = Annotated[
    str,
    StringConstraints(pattern=NAME, max_length=255),
    expecting("letters, digits, dots, dashes and underscores, at most 255"),
]
"""What can be the name of a file or a folder."""


def read(kind: type[T], text: str | bytes, where: str) -> T:
    """Read JSON as an instance of a dataclass.

    Raises:
        BadInput: It is no JSON, a key is missing, repeated or unknown, or a value is not of its
            type.
    """
    try:
        found = TypeAdapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        raise _fault(kind, error.errors(include_url=False)[0], where) from error

    def check(pairs: list[tuple[str, Any]]) -> None:
        counts = Counter(key for key, _ in pairs)
        for key in (key for key, count in counts.items() if count > 1):
            raise BadInput(where, f"key {key!r} twice"[:60], "each key once")

    json.loads(text, object_pairs_hook=check)
    return found


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
    return BadInput(_joined(where, place), repr(found)[:60], expected)


def _joined(where: str, place: Sequence[str | int]) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"{where}: {path.removeprefix('.')}" if path else where


def _keys(kind: Any, place: Sequence[str | int]) -> list[str]:
    """Return the keys of the dataclass at a place inside another."""
    for step in place:
        kind = get_type_hints(kind)[step] if isinstance(step, str) else kind
        kind = next(filter(is_dataclass, get_args(kind)), kind)
    return [field.name for field in fields(kind)]
