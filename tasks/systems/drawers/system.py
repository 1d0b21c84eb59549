"""What drawers, whose motion is estimated from sound, offer."""

from typing import TYPE_CHECKING

from ricochet.tasks.systems.interface import CaptureRequest, SessionKind, System

if TYPE_CHECKING:
    from ricochet.tasks.recordings.recorder import Sealed


def _capture(request: CaptureRequest) -> "Sealed":
    from ricochet.tasks.systems.drawers import capture

    return capture.run(request)


SYSTEM = System(
    "drawers",
    sessions=(
        SessionKind(
            "drawer", "a drawer that is opened and closed, by a ring of microphones", _capture
        ),
    ),
)
