"""The one error for bad input: where it is, what was found, what was expected, in one line."""

import difflib
from collections.abc import Iterable
from typing import Any

from ricochet.models.core.printable_text import one_line

LONGEST = 400
"""Characters of each part of a line."""
_SHOWN = 80
"""Characters of a value."""


class BadInput(ValueError):
    """Input from outside that cannot be used; its text is one line that says what to correct."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        """Describe one fault.

        >>> str(BadInput("params.yaml: period", "-1", "a positive number of seconds"))
        'params.yaml: period: found -1, expected a positive number of seconds'
        """
        self.where = one_line(where, longest=LONGEST)
        self.found = one_line(found, longest=LONGEST)
        self.expected = one_line(expected, longest=4 * LONGEST)
        super().__init__(f"{self.where}: found {self.found}, expected {self.expected}")


def shown(value: object) -> str:
    """Return a value in a few characters, whatever it is.

    >>> shown("x"), shown(10**5000), len(shown("y" * 10**6)) < 120
    ("'x'", 'a number of too many digits', True)
    """
    if isinstance(value, str | bytes):
        value = value[: _SHOWN + 1]
    try:
        text = repr(value)
    except ValueError:  # of a whole number, alone or within
        return "a number of too many digits"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}.."


def unknown_key(where: str, name: Any, known: Iterable[str]) -> BadInput:
    """Return the error for a name that is none of those known, with the nearest of them.

    >>> str(unknown_key("params.yaml", "seeed", ["seed", "out"]))
    "params.yaml: found unknown key 'seeed', expected a known one, the nearest is 'seed'"
    """
    text = name if isinstance(name, str) else shown(name)
    nearest = difflib.get_close_matches(text[:_SHOWN], list(known), n=1, cutoff=0.0)
    expected = f"a known one, the nearest is {nearest[0]!r}"
    return BadInput(where, f"unknown key {shown(name)}", expected)
