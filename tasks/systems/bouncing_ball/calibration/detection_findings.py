"""What is to be said of sessions before anything is inferred: sizes of balls, and second balls."""

from collections.abc import Iterator

from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration.criticism import Finding
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections

LISTED = 3
"""Takes that are named; the rest is counted."""


def findings(detected: Detections) -> Iterator[Finding]:
    """Yield what is said of the sessions and takes of a target."""
    yield from _sizes(detected)
    yield from _others(detected)


def _sizes(detected: Detections) -> Iterator[Finding]:
    """Yield what is said of stated sizes that are not those of the balls' names."""
    for session in detected.sessions:
        if session.diameter is not None and session.mass is not None:
            size = Size(session.diameter, session.mass)
            if sentence := air.unlike_its_name(session.ball, size):
                yield Finding("size", f"{session.identity}: {sentence}", 1.0)


def _others(detected: Detections) -> Iterator[Finding]:
    """Yield what is said of takes in which another ball bounces between the bounces of one."""
    names = [take.file for take in detected.takes if take.detected.other is not None]
    if not names:
        return
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    sentence = (
        f"bounces of another drop are among those that are used, in {', '.join(names[:LISTED])}"
        f"{more}: the answer may be that of either ball; drop one at a time"
    )
    yield Finding("drops", sentence, 1.0, tuple(names))
