"""What drawers, whose motion is estimated from sound, offer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ricochet.tasks.systems.drawers.kinds import DRAWER
from ricochet.tasks.systems.drawers.settings import NightlyDrawers
from ricochet.tasks.systems.interface import (
    Calibration,
    CaptureRequest,
    Headline,
    LateValidation,
    Night,
    NightlyStep,
    SessionKind,
    Study,
    StudyRequest,
    System,
)
from ricochet.tasks.training.steps import Procedure, Training

SCHEMA = "ricochet.drawer-session/1"
"""Of the sessions' manifests."""

if TYPE_CHECKING:
    from ricochet.tasks.recordings.recorder import Sealed


def _capture(request: CaptureRequest) -> "Sealed":
    from ricochet.tasks.systems.drawers import capture

    return capture.run(request)


def _study(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.drawers.studies import table_one

    return table_one.run(request)


def _training() -> Procedure:
    from ricochet.tasks.systems.drawers import publish, train

    return Procedure(
        is_complete=train.is_complete,
        steps=train.steps,
        describe=train.describe,
        packages=train.packages_of,
        publish=publish.publish_training,
        lines=train.lines,
        metrics=train.metrics,
    )


def _validation() -> Any:
    from ricochet.tasks.systems.drawers.validation import validation

    return validation.VALIDATION


def _train_and_validate(night: Night) -> Mapping[str, Any]:
    trained = night.train("drawer")["registered"]
    return {"drawers": {name: night.validate(name) for name in trained}}


SYSTEM = System(
    "drawers",
    kinds=(DRAWER,),
    validations=(LateValidation(DRAWER, _validation, ("drawer-kitchen-small",)),),
    trainings=(
        Training(
            name="drawer",
            section="drawer_learning",
            summary="learn what a drawer sounds like from its sessions, or from the simulated rig,"
            " try it on takes that are held out and register a package",
            example="ricochet train drawer --out artifacts/train/drawer",
            then="ricochet validate {name}",
            load=_training,
        ),
    ),
    nightly=(
        NightlyStep(
            "train drawer",
            _train_and_validate,
            enabled=lambda settings: settings[NightlyDrawers].drawers,
            failed=lambda line: {"drawers": {"training": line}},
        ),
    ),
    sessions=(
        SessionKind(
            "drawer",
            "a drawer that is opened and closed, by a ring of microphones",
            _capture,
            SCHEMA,
            Calibration("drawer", "drawer_learning.recordings"),
        ),
    ),
    studies=(
        Study(
            "drawers",
            "how fast, which way and where drawers move, by sound: the paper's figures and ours",
            _study,
            duration="about an hour and a half on two processors, goes on where it was stopped;"
            " with --quick three minutes",
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
