"""What rigid bodies, seen to move, offer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ricochet.tasks.systems.interface import (
    FileOption,
    Headline,
    Inference,
    InferenceRequest,
    LateValidation,
    Night,
    NightlyStep,
    Study,
    StudyRequest,
    System,
)
from ricochet.tasks.systems.rigid_bodies.kinds import BOX, MODEL, PENDULUM
from ricochet.tasks.systems.rigid_bodies.settings import NightlyPendulum
from ricochet.tasks.training.steps import Publication

NIGHTLY, SAMPLE = "nightly", "sample"
"""Names of the night's posterior, from recordings that are named and from the sample."""


def _synthetic(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies.studies import pendulum_synthetic

    return pendulum_synthetic.run(request)


def _real(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies.studies import pendulum_real

    return pendulum_real.run(request)


def _box(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies.studies import box

    return box.run(request)


def _validation() -> Any:
    from ricochet.tasks.systems.rigid_bodies.validation import validation

    return validation.VALIDATION


def _infer(request: InferenceRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies import infer_pendulum

    return infer_pendulum.run(request)


def _publish(name: str, out: Path, result: Mapping[str, Any], flow_run: str) -> Publication:
    from ricochet.tasks.systems.rigid_bodies import publish

    return publish.publish(PENDULUM, name, out, result, flow_run)


def _lines(result: Mapping[str, Any]) -> Sequence[str]:
    from ricochet.tasks.systems.rigid_bodies import infer_pendulum

    return infer_pendulum.lines(result)


def _infer_model(request: InferenceRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies import infer_model

    return infer_model.run(request)


def _infer_box(request: InferenceRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies import infer_box

    return infer_box.run(request)


def _publish_box(name: str, out: Path, result: Mapping[str, Any], flow_run: str) -> Publication:
    from ricochet.tasks.systems.rigid_bodies import publish

    return publish.publish(BOX, name, out, result, flow_run)


def _box_lines(result: Mapping[str, Any]) -> Sequence[str]:
    from ricochet.tasks.systems.rigid_bodies import infer_box

    return infer_box.lines(result)


def _publish_model(name: str, out: Path, result: Mapping[str, Any], flow_run: str) -> Publication:
    from ricochet.tasks.systems.rigid_bodies import publish

    return publish.publish(MODEL, name, out, result, flow_run)


def _model_lines(result: Mapping[str, Any]) -> Sequence[str]:
    from ricochet.tasks.systems.rigid_bodies import infer_model

    return infer_model.lines(result)


def _infer_and_validate(night: Night) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies import sample

    files = night.settings[NightlyPendulum].pendulum_files
    name = NIGHTLY if files else SAMPLE
    given = files or [str(file) for file in sample.make(night.folder / SAMPLE)]
    registered = night.infer("double-pendulum", given, name)["registered"]["name"]
    return {"pendulum": {registered: night.validate(registered)}}


SYSTEM = System(
    "rigid_bodies",
    kinds=(PENDULUM, MODEL, BOX),
    validations=(LateValidation(PENDULUM, _validation, ("pendulum-lab",)),),
    inferences=(
        Inference(
            "double-pendulum",
            "the parameters of a double pendulum, from markers or angles in a file",
            _infer,
            _lines,
            PENDULUM,
            _publish,
            details="a file: rows of pivot_x,pivot_y,elbow_x,elbow_y,tip_x,tip_y, gravity along x,"
            " in any unit,\nor of angle_1,angle_2 in rad (link 2 from link 1); a first column time,"
            " in s, replaces --rate",
        ),
        Inference(
            "box",
            "a box that a Panda carries on a universal joint, and where two weights in it are",
            _infer_box,
            _box_lines,
            BOX,
            _publish_box,
            details="a recording: joint_1 .. joint_7 of the arm (rad), then four points of the box"
            " in the arm's base frame (m):\no_x,o_y,o_z of its origin at the joint, x_x .. z_z of"
            " points a metre along its axes; a first column time,\nin s, replaces --rate",
            options=(
                FileOption(
                    "empty", "FILE.csv", "a recording without weights: FILEs have two weights then"
                ),
            ),
            example="loaded.csv --empty empty.csv --rate 100",
        ),
        Inference(
            "model",
            "named numbers of a MuJoCo file, from recordings of its joints or sites",
            _infer_model,
            _model_lines,
            MODEL,
            _publish_model,
            details="a recording: columns named after all joints (rad, m), or SITE_x,SITE_y,SITE_z"
            " of sites (m),\nthen after actuators, their controls; a first column time, in s,"
            " replaces --rate\nparameters, in YAML:  damping: {of: joint hinge damping, low: 1e-4,"
            " high: 1, unit: N m s, logarithmic: true}",
            options=(
                FileOption("model", "FILE.xml", "the MuJoCo file", required=True),
                FileOption(
                    "parameters", "FILE.yaml", "what is unknown (default: the model's stem)"
                ),
            ),
        ),
    ),
    studies=(
        Study(
            "pendulum-synthetic",
            "the law of a pendulum's two lengths, by all methods and exactly",
            _synthetic,
            ("seeds", "of data, ten pendulums each"),
            duration="an hour of two cores; with --quick 3 minutes",
            headline=Headline(
                "rows",
                {
                    "KL(real|sim), nats": "kl_real_sim",
                    "KL(sim|real), nats": "kl_sim_real",
                    "MMD^2": "mmd2",
                    "log p_obs, nats": "log_p_obs",
                    "width, share": "width",
                    "processor time, s": "cpu_s",
                },
            ),
        ),
        Study(
            "pendulum-real",
            "a filmed pendulum by all methods, and what they predict of other films",
            _real,
            ("repeats", "of every method"),
            duration="an hour or two of two cores; with --quick 3 minutes",
            headline=Headline(
                "rows",
                {
                    "KL(real|sim), nats": "kl_real_sim",
                    "KL(sim|real), nats": "kl_sim_real",
                    "MMD^2": "mmd2",
                    "energy score": "energy_score",
                    "best fit": "fit_rmse",
                    "at it, share": "starts_at_best",
                    "processor time, s": "cpu_s",
                },
            ),
        ),
        Study(
            "box",
            "two weights in a box that an arm shakes, by all methods and two motions",
            _box,
            ("placements", "of the weights"),
            duration="an hour and a quarter of two cores; with --quick 3 minutes",
            headline=Headline(
                "motions/ours/rows",
                {
                    "inside 90 %, share": "inside_90",
                    "both orders, share": "both_orders",
                    "error of the sum, mm": "median/sum_error_mm",
                    "worse weight's error, mm": "median/weight_error_mm",
                    "deviation, mm": "median/sd_mm",
                    "log p_obs, nats": "log_p_obs",
                    "processor time, s": "cpu_s",
                },
            ),
        ),
    ),
    nightly=(
        NightlyStep(
            "infer pendulum",
            _infer_and_validate,
            enabled=lambda settings: settings[NightlyPendulum].pendulum,
            failed=lambda line: {"pendulum": {"inference": line}},
        ),
    ),
)
