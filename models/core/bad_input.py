"""The one error for bad input: where it is, what was found, what was expected, in one line."""

import difflib
from collections.abc import Iterable
from typing import Any

from ricochet.models.core.printable_text import one_line

LONGEST = 2000
"""Characters of each part of a line."""


class BadInput(ValueError):
    """Input from outside that cannot be used; its text is one line that says what to correct."""

    def __init__(self, where: str, found: str, expected: str) -> None:
        """Describe one fault.

        >>> str(BadInput("params.yaml: period", "-1", "a positive number of seconds"))
        'params.yaml: period: found -1, expected a positive number of seconds'
        """
        self.where, self.found, self.expected = (
            one_line(part, longest=LONGEST) for part in (where, found, expected)
        )
        super().__init__(f"{self.where}: found {self.found}, expected {self.expected}")


def unknown_key(where: str, name: Any, known: Iterable[str]) -> BadInput:
    """Return the error for a name that is none of those known, with the nearest of them.

    >>> str(unknown_key("params.yaml", "seeed", ["seed", "out"]))
    "params.yaml: found unknown key 'seeed', expected a known one, the nearest is 'seed'"
    """
    nearest = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.0)
    return BadInput(where, f"unknown key {name!r}", f"a known one, the nearest is {nearest[0]!r}")
