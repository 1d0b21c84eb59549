"""What drawers, whose motion is estimated from sound, offer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ricochet.tasks.systems.interface import (
    CaptureRequest,
    Headline,
    SessionKind,
    Study,
    StudyRequest,
    System,
)

if TYPE_CHECKING:
    from ricochet.tasks.recordings.recorder import Sealed


def _capture(request: CaptureRequest) -> "Sealed":
    from ricochet.tasks.systems.drawers import capture

    return capture.run(request)


def _study(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.drawers.studies import table_one

    return table_one.run(request)


SYSTEM = System(
    "drawers",
    sessions=(
        SessionKind(
            "drawer", "a drawer that is opened and closed, by a ring of microphones", _capture
        ),
    ),
    studies=(
        Study(
            "drawers",
            "how fast, which way and where drawers move, by sound: the paper's figures and ours",
            _study,
            duration="hours on two processors, goes on where it was stopped;"
            " with --quick two minutes",
            headline=Headline(
                "drawers",
                {
                    "speed, m/s": "speed_rmse/ours/value",
                    "components": "speed_rmse/pcr/value",
                    "signs": "sign/ours/value",
                    "dark, m": "position_rmse/light_off/ours/value",
                    "middle": "position_rmse/light_off/mid_stroke/value",
                    "held": "dark_coverage_90/value",
                },
            ),
        ),
    ),
)
