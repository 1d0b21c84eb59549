"""What trials on both rigs share: models of the ball, seeds, and how tosses are summed up."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.tracking import controllers
from ricochet.tasks.systems.bouncing_ball.tracking.control_loop import Run
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel
from ricochet.tasks.systems.bouncing_ball.validation.results import (
    Outcomes,
    Role,
    TrackingTrials,
    TwinResult,
)
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.outcomes import Paired

CONTROLLER = "belief"
"""Every role plays with this one; only what it believes of the ball differs."""


def samples_of(package: Package) -> Float[ndarray, "sample 2"]:
    """Return a package's draws of restitution and log10 concentration."""
    return np.asarray(package.arrays["samples"], dtype=np.float64)


def ball_models(contenders: Contenders) -> dict[Role, BallModel]:
    """Return what each role believes of the ball."""
    return {
        role: controllers.fit_ball_model(contact_package.contact_draws(package))
        for role, package in contenders.packages.items()
    }


def block_seeds(seed: int, tosses: int) -> tuple[int, ...]:
    """Return the seeds of some tosses, which those of another validation do not share."""
    return tuple(seed * tosses + i for i in range(tosses))


def tracking_trials(runs: Mapping[Role, Sequence[tuple[Run, bool]]]) -> TrackingTrials:
    """Sum up tosses and whether the paddle touched them; the latency of no bounce is NaN."""
    energies = {role: [run.final.energy for run, _ in rows] for role, rows in runs.items()}
    waits = {
        role: [decision.latency for run, _ in rows for decision in run.decisions]
        for role, rows in runs.items()
    }
    return TrackingTrials(
        {role: tuple(touched for _, touched in rows) for role, rows in runs.items()},
        {role: float(np.mean(of)) for role, of in energies.items()},
        {role: float(np.quantile(of or [np.nan], 0.99)) for role, of in waits.items()},
        {role: tuple(x for run, _ in rows for x in run.refused) for role, rows in runs.items()},
    )


def result_of(
    contenders: Contenders,
    rig: str,
    seeds: tuple[int, ...],
    tracking: TrackingTrials,
    folder: Path,
) -> TwinResult:
    """Return how the tosses were tracked, no cup tried; all refusals go into `refused.json`."""
    refused = {role: list(lines) for role, lines in tracking.refused.items()}
    write_json(folder / "refused.json", refused)
    return TwinResult(
        name=contenders.name,
        candidate=contenders.candidate,
        champion=contenders.champion,
        rig=rig,
        seeds=seeds,
        success=paired(tracking.success),
        positions=(),
        inside_90=Paired((), None if contenders.champion is None else ()),
        stay=tracking.success.get(controllers.STATIONARY),
        tracking=tracking,
    )


def paired(outcomes: Outcomes) -> Paired:
    """Return the outcomes of candidate and champion."""
    return Paired(outcomes[CANDIDATE], outcomes.get(CHAMPION))
