"""Events that no controller may act on, after good ones at 1.0 and 1.3 s."""

import math
from dataclasses import dataclass

import numpy as np

from models.sound.realtime import BounceEvent


def event(time: float, x: float | None, y: float = 0.0, *, outlier: bool = False) -> BounceEvent:
    """A bounce as the localiser gives it; without a place where x is None."""
    place = None if x is None else np.array([x, y])
    return BounceEvent(time, time, place, None, outlier, 10.0)


@dataclass(frozen=True)
class Bad:
    """An event, when it is known, and where the paddle is."""

    name: str
    event: BounceEvent
    now: float = 1.7
    paddle: tuple[float, float] = (0.0, 0.2)


BAD = (
    Bad("time NaN", event(math.nan, 0.1)),
    Bad("time infinite", event(math.inf, 0.1)),
    Bad("time absurd", event(1e300, 0.1), now=1e301),
    Bad("out of order", event(1.2, 0.1)),
    Bad("twice", event(1.3, 0.1)),
    Bad("place NaN", event(1.6, math.nan)),
    Bad("place infinite", event(1.6, 0.1, math.inf)),
    Bad("place absurd", event(1.6, 1e200)),
    Bad("known before it happened", event(1.6, 0.1), now=1.5),
    Bad("known never", event(1.6, 0.1), now=math.nan),
    Bad("paddle lost", event(1.6, 0.1), paddle=(math.nan, 0.2)),
)
