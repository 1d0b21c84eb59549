"""What ours predicts of recordings that it has not learnt from, and what may pass the pendulum.

Posteriors of recording 0, and of 0 to 4 together, are those of `ricochet infer double-pendulum`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress
from ricochet.models.systems.rigid_bodies.pendulum_tracking import Draws
from ricochet.tasks.console.jobs import Journal, run_all
from ricochet.tasks.console.progress import part
from ricochet.tasks.systems.rigid_bodies import (
    motion_inference,
    pendulum_inference,
    pendulum_predictions,
    predicted_motions,
)
from ricochet.tasks.systems.rigid_bodies.settings import Pendulum
from ricochet.tasks.systems.rigid_bodies.studies import filmed_pendulum, real_crossing

ALONE, SEVERAL = (0,), (0, 1, 2, 3, 4)
"""Recordings that are learnt from."""
TESTED = {ALONE: tuple(range(1, 11)), SEVERAL: tuple(range(5, 11))}
QUICK_PARTICLES = 12
FUTURES = 200
"""Of a decision."""
_SEED = 72_000


@dataclass(frozen=True)
class Job:
    """A posterior, and what it predicts.

    Attributes:
        learnt: Numbers of recordings.
        span: Seconds of each piece.
        instants: At which pieces begin, s.
    """

    folder: str
    learnt: tuple[int, ...]
    tested: tuple[int, ...]
    span: float
    instants: tuple[float, ...]
    particles: int
    seed: int


@dataclass(frozen=True)
class Ahead:
    """Predictions by what was learnt from, and crossings by the last of these.

    Attributes:
        theta: Draws of the posterior of recording 0.
    """

    held_out: Mapping[str, Any]
    crossing: Mapping[str, Any]
    theta: Float[ndarray, "draw 11"]


def run(
    folder: Path, settings: Pendulum, out: Path, seed: int, *, quick: bool, progress: Progress
) -> Ahead:
    """Infer, predict and cross; `quick` learns from recording 0 alone."""
    particles = min(QUICK_PARTICLES, settings.particles) if quick else settings.particles
    instants = tuple(settings.instants)
    jobs = [
        Job(str(folder), learnt, TESTED[learnt], settings.span, instants, particles, seed)
        for learnt in ((ALONE,) if quick else (ALONE, SEVERAL))
    ]
    digest = hashlib.sha256(str(jobs).encode()).hexdigest()[:8]
    journal: Journal[dict[str, Any]] = Journal(out / f"ahead-{digest}.journal", dict, dict)
    found = run_all(work, jobs, journal=journal, progress=part(progress, 0, 2))
    crossing = _crossing(folder, found[-1], seed, part(progress, 1, 2))
    journal.file.unlink()
    return Ahead(
        {_named(job): one["held_out"] for job, one in zip(jobs, found, strict=True)},
        crossing,
        np.array(found[0]["theta"]),
    )


def _named(job: Job) -> str:
    first, last = job.learnt[0], job.learnt[-1]
    return str(first) if first == last else f"{first}-{last}"


def _crossing(
    folder: Path, found: Mapping[str, Any], seed: int, progress: Progress
) -> dict[str, Any]:
    """Let the controller decide by some draws of a posterior."""
    generator = np.random.default_rng([_SEED, seed])
    theta, observation, departure = (
        np.array(found[name]) for name in ("theta", "observation", "departure")
    )
    draws = Draws(
        theta,
        observation,
        departure,
        rate=filmed_pendulum.RATE,
        window=round(motion_inference.WINDOW * filmed_pendulum.RATE),
        substeps=pendulum_inference.substeps_of(filmed_pendulum.RATE),
    )
    best = replace(draws[:1], theta=np.array([found["best"]]))
    some = generator.permutation(len(theta))[:FUTURES]
    tested = filmed_pendulum.recordings(folder, TESTED[SEVERAL])
    states = [run.states for run in tested.values()]
    return real_crossing.evaluate(draws[some], best, states, generator, progress=progress)


def work(job: Job) -> dict[str, Any]:
    """Infer and predict."""
    generator = np.random.default_rng([_SEED, job.seed, *job.learnt])
    folder = Path(job.folder)
    inferred = pendulum_inference.infer(
        filmed_pendulum.recordings(folder, job.learnt),
        generator,
        span=job.span,
        instants=job.instants,
        particles=job.particles,
    )
    others = filmed_pendulum.recordings(folder, job.tested)
    predictions = predicted_motions.predict(inferred, others, generator)
    posterior = inferred.posterior
    said = inferred.to_json()
    return {
        "held_out": {
            **(pendulum_predictions.together(list(predictions.values())) or {}),
            "each": {
                number: pendulum_predictions.to_json(each) for number, each in predictions.items()
            },
            **{name: said[name] for name in ("fit_rmse", "starts_at_best", "at_limits", "rank")},
        },
        "best": motion_inference.best(inferred).tolist(),
        "theta": inferred.theta.tolist(),
        "observation": posterior.sigma.flatten(0, 1).tolist(),
        "departure": posterior.delta.flatten(0, 1).tolist(),
    }
