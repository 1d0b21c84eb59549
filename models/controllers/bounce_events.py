"""Which bounce events a controller takes, and the last ones it took.

A bad event moves nothing: the controller keeps its state and gains one line that says what was
found. Bad is an event whose time or place is not finite or absurdly far, that is not later than the
one before, or that is known before it happened; and a paddle that does not know where it is.
"""

from dataclasses import dataclass

import numpy as np

from models.sound.realtime import BounceEvent

FARTHEST = 100.0
"""Distance along an axis from the table's centre beyond which a place is no place, m."""
LATEST = 1e9
"""Time, before or after the stream's start, that is no time, s."""


@dataclass(frozen=True)
class Bounce:
    """A bounce that a controller believes: its time, s, and its place on the table, m."""

    time: float
    x: float
    y: float


def fault(
    event: BounceEvent, *, now: float, paddle: tuple[float, float], last: float | None
) -> str | None:
    """Say what is wrong with an event.

    Args:
        event: The event.
        now: When it became known, s in the stream's clock.
        paddle: Present (y, z) of the paddle, m.
        last: Time of the event before, s; None before the first.

    Returns:
        One line, or None for an event that can be used; one without a place can.
    """
    if not abs(event.time) < LATEST:
        return f"bounce event: time must be finite and within {LATEST:.0e} s, got {event.time}"
    if not now < LATEST or now < event.time:
        return f"bounce event at {event.time:.4f} s: known at {now} s, expected a later time"
    if event.position is not None and not (np.abs(event.position) < FARTHEST).all():
        place = np.asarray(event.position).tolist()
        return (
            f"bounce event at {event.time:.4f} s: position must be within {FARTHEST} m, got {place}"
        )
    if last is not None and event.time <= last:
        return f"bounce event at {event.time:.4f} s: expected one after {last:.4f} s"
    if not all(abs(number) < FARTHEST for number in paddle):
        return f"paddle: position must be within {FARTHEST} m, got {paddle}"
    return None


def located(event: BounceEvent) -> Bounce | None:
    """Return the bounce of an event that has a place.

    Args:
        event: A good event.

    Returns:
        Its time and place; None where the localiser found no place.
    """
    if event.position is None:
        return None
    return Bounce(event.time, float(event.position[0]), float(event.position[1]))
