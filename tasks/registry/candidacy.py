"""What is said of a version that was registered, by the version that is the candidate now.

A result that is found again may be an earlier version than the candidate, which `validate` tries.
"""

import shlex
from collections.abc import Mapping

from ricochet.tasks.registry.aliases import CANDIDATE


def of_registered(name: str, version: str, candidates: Mapping[str, str]) -> str:
    """Say whether a version is the candidate; nothing where the candidate is not known.

    >>> of_registered("golf-wood", "1", {"golf-wood": "1"})
    ', alias candidate'
    >>> of_registered("golf-wood", "1", {"golf-wood": "2"})
    ' (candidate is version 2)'
    >>> of_registered("golf-wood", "1", {})
    ''

    Args:
        candidates: The version that is the candidate now, by name.
    """
    candidate = candidates.get(name)
    if candidate == version:
        return f", alias {CANDIDATE}"
    return f" ({CANDIDATE} is version {candidate})" if candidate else ""


def to_try(
    name: str, version: str, candidates: Mapping[str, str], *, settings: str = "", first: str = ""
) -> str:
    """Return the command that tries a version: `validate` if it is the candidate, or `promote`.

    >>> to_try("golf-wood", "1", {"golf-wood": "1"})
    'ricochet validate golf-wood'
    >>> to_try("golf-wood", "1", {"golf-wood": "2"})
    'ricochet promote golf-wood 1   (`validate` tries the candidate, 2)'

    Args:
        candidates: As of `of_registered`.
        settings: The words that lay settings over params.yaml.
        first: What is to be done before it.
    """
    if (candidate := candidates.get(name, version)) == version:
        return f"{first}ricochet validate {shlex.quote(name)}{settings}"
    promote = f"{first}ricochet promote {shlex.join((name, version))}{settings}"
    return f"{promote}   (`validate` tries the {CANDIDATE}, {candidate})"
