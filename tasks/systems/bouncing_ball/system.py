"""What the bouncing ball offers."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ricochet.tasks.general_settings import Nightly
from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY, POSTERIOR
from ricochet.tasks.systems.bouncing_ball.settings import NightlyDrops
from ricochet.tasks.systems.interface import (
    Export,
    Exported,
    Headline,
    LateValidation,
    Night,
    NightlyStep,
    Study,
    StudyRequest,
    System,
)
from ricochet.tasks.training.steps import Procedure, Training

if TYPE_CHECKING:
    from ricochet.tasks.registry.packages import Package


def _validation() -> Any:
    from ricochet.tasks.systems.bouncing_ball.validation import validation

    return validation.VALIDATION


def _density() -> Procedure:
    from ricochet.tasks.systems.bouncing_ball.calibration import density_publish
    from ricochet.tasks.systems.bouncing_ball.calibration import density_training as training

    return Procedure(
        is_complete=training.is_complete,
        steps=training.steps,
        describe=training.describe,
        packages=lambda request: {DENSITY.pattern: training.package_folder(request)},
        publish=density_publish.publish,
        lines=training.lines,
        metrics=training.metrics,
    )


def _inference(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.bouncing_ball.studies import inference

    return inference.run(request)


def _cup(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.bouncing_ball.studies import cup

    return cup.run(request)


def _tracking(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.bouncing_ball.studies import tracking

    return tracking.run(request)


def _reality(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.bouncing_ball.studies import reality

    return reality.run(request)


def _to_mujoco(package: "Package", name: str, folder: Path) -> Exported:
    from ricochet.tasks.systems.bouncing_ball import mujoco_export

    return mujoco_export.export(package, name, folder)


def _record(night: Night) -> Mapping[str, Any]:
    return night.record([f"capture.drops={night.settings[NightlyDrops].drops}"])


def _calibrate(night: Night) -> Mapping[str, Any]:
    results = night.calibrate()
    validating = night.settings[Nightly].validate
    return {
        "pairs": {pair: entry["unchanged"] for pair, entry in results.items()},
        "validated": {pair: night.validate(pair) for pair in results if validating},
    }


STUDIES = (
    Study(
        "ball-inference",
        "posteriors of restitution and concentration",
        _inference,
        duration="with --quick 2 minutes of processor time",
        headline=Headline(
            "methods",
            {
                "error of restitution": "mae_mean/restitution",
                "of log10 concentration": "mae_mean/log10_concentration",
                "coverage at 90 %": "coverage/0.9",
                "s an answer": "answer_cpu_s",
            },
        ),
    ),
    Study(
        "ball-reality",
        "real balls and rooms: is an answer ever wrong in silence",
        _reality,
        ("sessions", "of each departure"),
        duration="with --quick about 40 minutes of processor time, shared by all processors",
        headline=Headline(
            "departures",
            {
                "sessions": "sessions",
                "refused, share": "refused",
                "warned, share": "warned",
                "coverage at 90 %": "coverage_90/restitution",
                "silent and wrong, share": "silent_and_wrong",
            },
        ),
    ),
    Study(
        "cup",
        "success of drops into a cup, predicted and counted",
        _cup,
        duration="with --quick half a minute of processor time",
        headline=Headline(
            "balls",
            {
                "in the cup, of 100": "twin",
                "predicted": "predicted",
                "sd": "predicted_sd",
                "places inside their 90 %, share": "map/inside_90",
            },
        ),
    ),
    Study(
        "ball-tracking",
        "tossed balls met by a paddle",
        _tracking,
        ("tosses", "of each ball"),
        duration="with --quick some minutes of processor time",
        headline=Headline(
            "mean",
            {
                "touched, share": "success",
                "lost to outliers": "outliers",
                "out of reach": "boundaries",
                "missed": "missed",
                "energy, m²/s": "energy",
            },
        ),
    ),
)

SYSTEM = System(
    "bouncing_ball",
    kinds=(POSTERIOR, DENSITY),
    validations=(
        LateValidation(
            POSTERIOR,
            _validation,
            ("ping-pong-table", "ping-pong-table --rig real --arm --set real.robot=192.0.2.1"),
        ),
    ),
    trainings=(
        Training(
            name="density",
            section="density",
            summary="train the conditional density of the bouncing ball and register it",
            example="ricochet train density --trials 10",
            then="ricochet calibrate",
            load=_density,
        ),
    ),
    studies=STUDIES,
    nightly=(
        NightlyStep("record", _record, failed=lambda line: {"state": "failed", "reason": line}),
        NightlyStep("calibrate", _calibrate),
    ),
    exports=(Export("mujoco", POSTERIOR, _to_mujoco),),
)
