"""Places of microphones as settings state them."""

import math
from typing import Any

from ricochet.hardware.microphones.interface import Position
from ricochet.models.core.bad_input import BadInput


def position(stated: Any, where: str) -> Position:
    """Return a place of the settings, m; `BadInput` if it is not three finite numbers."""
    numbers = isinstance(stated, list) and all(isinstance(x, int | float) for x in stated)
    if not numbers or len(stated) != 3 or not all(math.isfinite(x) for x in stated):
        raise BadInput(where, repr(stated)[:60], "three finite numbers, metres")
    return float(stated[0]), float(stated[1]), float(stated[2])
