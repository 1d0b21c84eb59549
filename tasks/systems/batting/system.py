"""What batting, the planar impacts of rigid bodies, offers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ricochet.tasks.systems.batting.kinds import BATTER
from ricochet.tasks.systems.batting.settings import NightlyBatting
from ricochet.tasks.systems.interface import (
    Headline,
    Inference,
    InferenceRequest,
    LateValidation,
    Night,
    NightlyStep,
    NumberOption,
    Study,
    StudyRequest,
    System,
)
from ricochet.tasks.training.steps import Procedure, Publication, Training


def _infer_impacts(request: InferenceRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.batting import infer_impacts

    return infer_impacts.run(request)


def _impact_lines(result: Mapping[str, Any]) -> Sequence[str]:
    from ricochet.tasks.systems.batting import infer_impacts

    return infer_impacts.lines(result)


def _publish(name: str, out: Path, result: Mapping[str, Any], flow_run: str) -> Publication:
    from ricochet.tasks.systems.batting import publish

    return publish.publish(name, out, result, flow_run)


def _training() -> Procedure:
    from ricochet.tasks.systems.batting import publish, train

    return Procedure(
        is_complete=train.is_complete,
        steps=train.steps,
        describe=train.describe,
        packages=train.folders,
        publish=publish.publish_training,
        lines=train.lines,
        metrics=train.metrics,
    )


def _validation() -> Any:
    from ricochet.tasks.systems.batting.validation import validation

    return validation.VALIDATION


def _train_and_validate(night: Night) -> Mapping[str, Any]:
    trained = night.train("batting")["registered"]
    return {"batting": {name: night.validate(name) for name in trained}}


def _study(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.batting.studies import table_one

    return table_one.run(request)


SYSTEM = System(
    "batting",
    kinds=(BATTER,),
    validations=(LateValidation(BATTER, _validation, ("batting-board",)),),
    trainings=(
        Training(
            name="batting",
            section="batting",
            summary="learn the law of impacts from a table, or from the simulated board, try the"
            " filter on it and register a controller's package",
            example="ricochet train batting --out artifacts/train/batting",
            then="ricochet validate {name}",
            load=_training,
            loads="MuJoCo",
        ),
    ),
    nightly=(
        NightlyStep(
            "train batting",
            _train_and_validate,
            enabled=lambda settings: settings[NightlyBatting].batting,
            failed=lambda line: {"batting": {"training": line}},
        ),
    ),
    studies=(
        Study(
            "batting",
            "an object of unknown shape batted to a goal: the rows of the paper's table and ours",
            _study,
            ("trials", "of each closed loop; 2.5 times as many of each open loop and filter"),
            duration="about four hours on two processors, goes on where it was stopped;"
            " with --quick two minutes",
            headline=Headline(
                "rows",
                {
                    "passes at 0.10 m": "passes/0.10",
                    "bats": "bats",
                    "looks": "looks",
                    "decision, ms": "plan_ms/mean",
                },
            ),
            numbers=(
                NumberOption("seconds", "S", "of a trial (200; 30 with --quick)", None, (1, 3600)),
                NumberOption(
                    "screen_noise",
                    "X",
                    "deviation of each end of the projection on the screen, which is 2 wide"
                    " (default 0.02)",
                    0.02,
                    (1e-4, 0.5),
                ),
            ),
        ),
    ),
    inferences=(
        Inference(
            "impacts",
            "restitution, tangential restitution, friction and noise of planar impacts, from a"
            " table of them",
            _infer_impacts,
            _impact_lines,
            BATTER,
            _publish,
            details="a table: a row an impact, SI units, columns mass, inertia, contact_x,"
            " contact_y, normal_x, normal_y,\nsurface_vx, surface_vy, vx, vy, spin, vx_after,"
            " vy_after, spin_after; the contact is from the centre of mass,\nthe normal points from"
            " the surface to the body, spin is positive counter-clockwise\na table to try:"
            " python -m ricochet.tasks.systems.batting.sample FOLDER   (FOLDER/impacts.csv)",
            example="impacts.csv --hold-out 0.5",
            numbers=(
                NumberOption(
                    "hold_out",
                    "SHARE",
                    "share of the rows that is predicted, not learnt from (default 0.5: every"
                    " second row; 0: none)",
                    0.5,
                    (0.0, 0.9),
                ),
            ),
            motion=False,
            loads="tables of impacts",
        ),
    ),
)
