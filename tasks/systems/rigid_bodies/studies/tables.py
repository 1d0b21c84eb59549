"""Tables of rows by metrics, and claims that they answer; None stands for an infinite number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def averaged(numbers: Sequence[Mapping[str, float | None]], names: Sequence[str]) -> dict[str, Any]:
    """Return means over repetitions, their deviations, and how often a number is infinite."""
    mean: dict[str, Any] = {}
    spread, infinite = {}, 0
    for name in names:
        finite = np.array([one[name] for one in numbers if one[name] is not None], dtype=float)
        infinite += len(numbers) - len(finite)
        mean[name] = float(finite.mean()) if len(finite) == len(numbers) else None
        spread[name] = float(finite.std(ddof=1)) if len(finite) > 1 else None
    return {**mean, "sd": spread, "infinite": infinite}


def claim(sentence: str, holds: bool, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sentence, whether it holds, and by which figures."""
    return {"sentence": sentence, "holds": bool(holds), "figures": dict(figures)}


def kinds(table: Mapping[str, Any], name: str) -> list[str]:
    """Return the rows of a method, by single and by multiple shooting."""
    return [row for row in (f"{name}-ss", f"{name}-ms") if row in table]


def less(one: float | None, other: float | None) -> bool:
    """Compare numbers that may be infinite.

    >>> less(1.0, None), less(None, None)
    (True, False)
    """
    return one is not None and (other is None or one < other)
