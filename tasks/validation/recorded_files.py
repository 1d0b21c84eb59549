"""Where the files lie that a version was learnt from, for those who measure it again."""

from collections.abc import Sequence
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage.provenance import workplace

FILES = "files_at"
"""The key of a run's `result.json` that holds the places of the files it was learnt from."""


def places_of(files: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of recordings, and where they lie."""
    places = [Path(file).resolve() for file in files]
    within = workplace().resolve()
    return {
        "sessions": [place.name for place in places],
        FILES: [
            str(place.relative_to(within) if place.is_relative_to(within) else place)
            for place in places
        ],
    }


def files_at(registered: Registered, named: Sequence[str]) -> list[Path]:
    """Return the files of a version, whose places are within the workplace or absolute.

    BadInput where one is missing.
    """
    places = [workplace() / name for name in named]
    for place in places:
        if not place.is_file():
            expected = f"a recording of {registered.where} where it was, or its place after VERSION"
            raise BadInput(str(place), "nothing", expected)
    return places
