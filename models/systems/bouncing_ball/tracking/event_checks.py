"""Which bounce events a controller takes, and the last ones it took.

A bad event moves nothing: the controller keeps its state and gains one line that says what was
found. Bad is an event whose time or place is not finite or absurdly far, that is not later than the
one before, that arrived before it happened or is known before it arrived, or whose covariance is
no covariance; and a paddle at an unknown place.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound.impact_stream import BounceEvent

FARTHEST = 100.0
"""Distance along an axis from the table's centre beyond which a place is no place, m."""
LATEST = 1e9
"""Time, before or after the stream's start, that is no time, s."""


@dataclass(frozen=True)
class Bounce:
    """A bounce that a controller takes for right: its time, s, and its place on the table, m."""

    time: float
    x: float
    y: float


def fault(
    event: BounceEvent, *, now: float, paddle: tuple[float, float], last: float | None
) -> str | None:
    """Say in one line what is wrong with an event; None if it can be used, even without a place."""
    if not abs(event.time) < LATEST:
        return f"bounce event: time must be finite and within {LATEST:.0e} s, got {event.time}"
    which = f"bounce event at {event.time:.4f} s"
    if not now < LATEST or now < event.time:
        return f"{which}: known at {now} s, expected a later time"
    if not event.time <= event.arrival <= now:
        return f"{which}: arrival at {event.arrival} s, expected a time from then to {now} s"
    wrong = _misplaced(event.position) or _unsure(event.covariance)
    if wrong is not None:
        return f"{which}: {wrong}"
    if last is not None and event.time <= last:
        return f"{which}: expected one after {last:.4f} s"
    if not all(abs(number) < FARTHEST for number in paddle):
        return f"paddle: position must be within {FARTHEST} m, got {paddle}"
    return None


def located(event: BounceEvent) -> Bounce | None:
    """Return the bounce of a good event; None where the localiser found no place."""
    if event.position is None:
        return None
    return Bounce(event.time, float(event.position[0]), float(event.position[1]))


def _misplaced(position: Float[ndarray, " 2"] | None) -> str | None:
    """Say what is wrong with a position."""
    if position is None:
        return None
    if np.shape(position) == (2,) and (np.abs(position) < FARTHEST).all():
        return None
    found = np.asarray(position).tolist()
    return f"position must be two numbers within {FARTHEST} m, got {found}"


def _unsure(covariance: Float[ndarray, "2 2"] | None) -> str | None:
    """Say what is wrong with the covariance of a position."""
    if covariance is None:
        return None
    if np.shape(covariance) == (2, 2) and (np.abs(covariance) < FARTHEST**2).all():
        (xx, xy), (yx, yy) = np.asarray(covariance)
        if xx > 0.0 and xx * yy > xy * yx and math.isclose(xy, yx, abs_tol=1e-9 * (xx + yy)):
            return None
    found = np.asarray(covariance).tolist()
    return f"covariance must be symmetric and positive definite, m^2, got {found}"
