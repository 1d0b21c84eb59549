"""Events that no controller may act on, after good ones at 1.0 and 1.3 s."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ricochet.models.sound.impact_stream import BounceEvent
from tests import wrong_types


def event(time: float, x: float | None, y: float = 0.0, *, outlier: bool = False) -> BounceEvent:
    """A bounce as the localiser gives it; without a place where x is None."""
    place = None if x is None else np.array([x, y])
    return BounceEvent(time, time, place, None, outlier, 10.0)


def spoilt(**change: Any) -> BounceEvent:
    """A good event at 1.6 s but for one thing."""
    with wrong_types.allowed():
        return replace(event(1.6, 0.1), **change)


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
    Bad("arrival NaN", spoilt(arrival=math.nan)),
    Bad("arrival before it happened", spoilt(arrival=1.5999)),
    Bad("arrival after it is known", spoilt(arrival=1.71)),
    Bad("place of three numbers", spoilt(position=np.array([0.1, 0.0, 0.0]))),
    Bad("place of one number", spoilt(position=np.array(0.1))),
    Bad("covariance NaN", spoilt(covariance=np.array([[1e-6, 0.0], [0.0, math.nan]]))),
    Bad("covariance infinite", spoilt(covariance=np.diag([math.inf, 1e-6]))),
    Bad("covariance of rank one", spoilt(covariance=np.full((2, 2), 1e-6))),
    Bad("covariance zero", spoilt(covariance=np.zeros((2, 2)))),
    Bad("covariance negative", spoilt(covariance=-1e-6 * np.eye(2))),
    Bad("covariance of two signs", spoilt(covariance=np.diag([1e-6, -1e-6]))),
    Bad("covariance lopsided", spoilt(covariance=np.array([[1e-6, 5e-7], [0.0, 1e-6]]))),
    Bad("covariance of wrong shape", spoilt(covariance=np.array([1e-6, 1e-6]))),
    Bad("paddle lost", event(1.6, 0.1), paddle=(math.nan, 0.2)),
)
