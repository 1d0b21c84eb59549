"""Search the motion of the arm that tells most of weights in a box it carries.

    python -m ricochet.tasks.systems.rigid_bodies.studies.box_motion_search FOLDER [--trials 150]
        [--discrepancy 5e-4]

Waves of joints 5 to 7 (`shaking.Waves`) within half of the arm's limits, by which the box swings at
most 1.2 rad, are tried for the least deviation of the weights' places (`planned_deviation`). No
recording is looked at. A search goes on from what its folder holds.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import optuna
import torch
from optuna.trial import BaseTrial, FixedTrial

from ricochet.models.systems.rigid_bodies import (
    box_parameters,
    box_planning,
    box_shooting,
    shaking,
)
from ricochet.models.systems.rigid_bodies.shaking import Waves
from ricochet.tasks.console.progress import bar
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.storage.files import write_json

SECONDS, LARGEST, SWING = 5.8, 0.2, 1.2
_BOXES, _SLOWEST, _FASTEST = 8, 0.3, 2.5
_FAILED = 1.0


def main(arguments: Sequence[str]) -> None:
    """Search, and write `motion.json` into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=150)
    parser.add_argument("--discrepancy", type=float, default=5e-4)
    given = parser.parse_args(arguments)
    use_one_thread()
    given.folder.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=0, multivariate=True)
    study = optuna.create_study(
        storage=f"sqlite:///{given.folder / 'trials.db'}", study_name="motion", sampler=sampler,
        load_if_exists=True,
    )  # fmt: skip
    with bar("motions") as progress:
        study.optimize(
            lambda trial: deviation(_proposed(trial), given.discrepancy),
            n_trials=given.trials,
            callbacks=[lambda own, _: progress(min(len(own.trials), given.trials), given.trials)],
        )
    best = _proposed(FixedTrial(study.best_params))
    write_json(given.folder / "motion.json", {**asdict(best), "deviation": study.best_value})
    print(json.dumps({**asdict(best), "deviation": study.best_value}))  # noqa: T201


def deviation(motion: Waves, discrepancy: float) -> float:
    """Return the planned deviation of the weights' places, m; more than any where not allowed.

    Args:
        discrepancy: As `box.discrepancy`.
    """
    joints, boxes = shaking.waves(motion, SECONDS), box_planning.likely(_BOXES)
    if not shaking.within_limits(joints):
        return _FAILED
    kinds = (box_parameters.empty_of_both, box_parameters.loaded)
    swung = torch.stack(
        [box_shooting.from_rest(kind(boxes), joints, shaking.RATE) for kind in kinds]
    )
    widest = float(swung[..., : box_shooting.SEEN].abs().max())
    if not widest < SWING:
        return _FAILED
    return box_planning.planned_deviation(joints, shaking.RATE, boxes, discrepancy=discrepancy)


def _proposed(trial: BaseTrial) -> Waves:
    """Return the waves of a trial."""

    def three(name: str, low: float, high: float) -> tuple[float, float, float]:
        one, two, last = (
            trial.suggest_float(f"{name}_{joint}", low, high) for joint in shaking.JOINTS
        )
        return one, two, last

    return Waves(
        three("size", 0.0, LARGEST),
        three("frequency", _SLOWEST, _FASTEST),
        three("phase", -3.14, 3.14),
        (0.0, trial.suggest_float("tilt_6", -0.3, 1.1), trial.suggest_float("tilt_7", -1.6, 1.6)),
    )


if __name__ == "__main__":
    main(sys.argv[1:])
