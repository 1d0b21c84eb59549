"""The known name that a mistyped one was meant to be."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question to end a refusal with, or nothing where no known name is near.

    >>> did_you_mean("calibrat", ["calibrate", "capture"])
    '; did you mean calibrate?'
    >>> did_you_mean("x", ["calibrate", "capture"])
    ''
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""
