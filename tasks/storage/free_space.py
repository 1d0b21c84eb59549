"""Free space on the file systems where something is about to be written."""

import shutil
from pathlib import Path

from ricochet.models.core.bad_input import BadInput


def refuse_below(needed: float, key: str, *places: Path) -> None:
    """Refuse to begin where a place has less space than a setting asks for.

    Args:
        needed: Bytes; 0 asks for none.
        key: The setting, for the line.
        places: Folders that are there, or will be made.

    Raises:
        BadInput: There is less under one of them.
    """
    for place in places:
        free = free_under(place)
        if free < needed:
            raise BadInput(
                str(place), f"{free / 1e9:.2f} GB free", f"at least {needed / 1e9:.2f} GB ({key})"
            )


def free_under(place: Path) -> int:
    """Return the free bytes of the file system of a folder that is there, or will be made."""
    place = place.absolute()
    there = next(each for each in (place, *place.parents) if each.exists())
    return shutil.disk_usage(there).free
