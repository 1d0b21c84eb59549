"""What air hockey offers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.settings import NightlyShooting
from ricochet.tasks.systems.interface import (
    Headline,
    LateValidation,
    Night,
    NightlyStep,
    Study,
    StudyRequest,
    System,
)
from ricochet.tasks.training.steps import Procedure, Training, TrainingRequest, Writing


def _validation() -> Any:
    from ricochet.tasks.systems.air_hockey.validation import validation

    return validation.VALIDATION


def _energy() -> Procedure:
    from ricochet.tasks.systems.air_hockey.policies import publish, train

    return Procedure(
        is_complete=train.is_complete,
        steps=train.steps,
        describe=train.describe,
        packages=train.folders,
        publish=publish.publish,
        lines=train.lines,
        metrics=train.metrics,
    )


def _strokes() -> Callable[[TrainingRequest, Path], str]:
    from ricochet.tasks.systems.air_hockey.recordings import stroke_files

    return stroke_files.write


def _shooting(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.air_hockey.studies import table_one

    return table_one.run(request)


def _match(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.air_hockey.studies import match

    return match.run(request)


def _train_and_validate(night: Night) -> Mapping[str, Any]:
    trained = night.train("energy")["registered"]
    return {"shooting": {name: night.validate(name) for name in trained}}


SYSTEM = System(
    "air_hockey",
    kinds=(POLICY,),
    validations=(LateValidation(POLICY, _validation, ("shooting-balanced",)),),
    trainings=(
        Training(
            name="energy",
            section="energy",
            summary="learn the puck's contacts, find shots, train an energy for each setting"
            " and register them",
            example="ricochet train energy --out artifacts/train/energy",
            then="ricochet validate shooting-balanced",
            load=_energy,
            writings=(
                Writing(
                    "strokes",
                    "strokes and throws to be played for a recording (hockey.recording)",
                    _strokes,
                ),
            ),
        ),
    ),
    studies=(
        Study(
            "shooting",
            "shots of learnt, conventional and exhaustive policies",
            _shooting,
            ("shots", "of each row"),
            duration="with --quick 4 minutes of processor time",
            headline=Headline(
                "rows",
                {
                    "scored, share": "score",
                    "speed, m/s": "speed_mean",
                    "cushions hit": "banks_mean",
                    "violations": "constraint_violations",
                    "step, ms": "step_ms/median",
                },
            ),
        ),
        Study(
            "match",
            "an agent plays air hockey against itself",
            _match,
            ("minutes", "of play"),
            duration="about 1.5 times as long as is played; with --quick 5 minutes",
        ),
    ),
    nightly=(
        NightlyStep(
            "train energy",
            _train_and_validate,
            enabled=lambda settings: settings[NightlyShooting].shooting,
            failed=lambda line: {"shooting": {"training": line}},
        ),
    ),
)
