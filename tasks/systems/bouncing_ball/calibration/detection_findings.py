"""What is to be said of sessions before anything is inferred.

Sizes of balls, second balls, and drops that two sessions heard.
"""

from collections.abc import Iterator

from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration.criticism import Finding
from ricochet.models.systems.bouncing_ball.listening.shared_drops import heard_twice
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections

LISTED = 3
"""Takes that are named; the rest is counted."""
NEXT = 10
"""Sessions after one, as they began, that may have heard the same drops."""


def findings(detected: Detections) -> Iterator[Finding]:
    """Yield what is said of the sessions and takes of a target."""
    yield from _sizes(detected)
    yield from _others(detected)
    yield from _shared(detected)


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


def _shared(detected: Detections) -> Iterator[Finding]:
    """Yield what is said of sessions that heard the same drops, each with its own microphones."""
    takes = [
        [take for take in detected.takes if take.path.parent == session.folder]
        for session in detected.sessions
    ]
    times = [[take.detected.times for take in each] for each in takes]
    for place, session in enumerate(detected.sessions):
        for next_place in range(place + 1, min(place + 1 + NEXT, len(takes))):
            if pairs := heard_twice(times[place], times[next_place]):
                other = detected.sessions[next_place].identity
                names = tuple(takes[next_place][second].file for _, second in pairs)
                sentence = (
                    f"{len(names)} drops of {session.identity} seem to be drops of {other} too, "
                    "as two recorders hear them: they count twice, and the answer is too narrow; "
                    "leave one session out, or record all channels as one"
                )
                yield Finding("recorders", sentence, 1.0, names)
