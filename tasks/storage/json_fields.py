"""The keys of a JSON object, each asked for by its type; a fault names the key in one line."""

import difflib
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ricochet.models.core.bad_input import BadInput

PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


class Fields:
    """A JSON object whose keys are known."""

    def __init__(self, content: Any, where: str, keys: str, *, optional: str = "") -> None:
        """Check that the keys are those wanted.

        Args:
            content: What JSON gave.
            where: File and key, for messages.
            keys: Names of the keys that must be there, with blanks between.
            optional: Names of those that may be there.

        Raises:
            BadInput: It is no object, or a key is unknown or missing.
        """
        if not isinstance(content, Mapping):
            raise BadInput(where, _kind(content), "an object")
        known = [*keys.split(), *optional.split()]
        for key in content:
            if key not in known:
                nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.0)[0]
                expected = f"a known one, the nearest is {nearest!r}"
                raise BadInput(where, f"unknown key {key!r}", expected)
        for key in keys.split():
            if key not in content:
                raise BadInput(where, f"no key {key!r}", "it to be there")
        self._content = content
        self._where = where

    def text(self, key: str) -> str:
        """Return a text."""
        value = self._content[key]
        if not isinstance(value, str):
            raise self._fault(key, _kind(value), "a text")
        return value

    def name(self, key: str) -> str:
        """Return a text that can be the name of a file or a folder."""
        value = self.text(key)
        if not PLAIN_NAME.match(value):
            raise self._fault(key, repr(value), "letters, digits, dots, dashes and underscores")
        return value

    def moment(self, key: str) -> datetime:
        """Return a date with time, in UTC."""
        value = self.text(key)
        try:
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError) as error:
            raise self._fault(key, repr(value), "a time like 2026-11-20T20:13:00Z") from error

    def count(self, key: str, *, least: int = 0) -> int:
        """Return a whole number, `least` or more."""
        value = self._content[key]
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._fault(key, repr(value), f"a whole number from {least}")
        return value

    def number(self, key: str, *, above: float = -math.inf, below: float = math.inf) -> float:
        """Return a finite number strictly between two bounds."""
        value = self._content[key]
        if not _is_number(value) or not above < value < below:
            raise self._fault(key, repr(value), f"a number between {above:g} and {below:g}")
        return float(value)

    def numbers(self, key: str, length: int) -> tuple[float, ...]:
        """Return a list of finite numbers of a given length."""
        values = self.rows(key)
        if len(values) != length or not all(_is_number(value) for value in values):
            raise self._fault(key, repr(values), f"{length} numbers")
        return tuple(float(value) for value in values)

    def rows(self, key: str) -> list[Any]:
        """Return a list."""
        value = self._content[key]
        if not isinstance(value, list):
            raise self._fault(key, _kind(value), "a list")
        return value

    def _fault(self, key: str, found: str, expected: str) -> BadInput:
        return BadInput(f"{self._where}.{key}", found, expected)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def _kind(value: Any) -> str:
    """Name a JSON value's type."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return names.get(type(value), "nothing" if value is None else "a number")
