"""The volume of a box, for tests alone."""

import math

from ricochet.models.probability.boxes import Box


def volume(box: Box) -> float:
    """Return the product of the sides."""
    return math.prod(high - low for low, high in zip(box.low, box.high, strict=True))
