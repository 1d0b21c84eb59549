"""The study of ball tracking: Figs. 7, 13 and 14 and Sec. 4.4 of Matl et al., in the twin.

Each ball is calibrated on a session of simulated drops with the default measurement noise. Then it
is tossed; the real-time path detects the bounces of each toss once, and every controller faces the
same toss with the same arm. Nothing but sound reaches a controller. Each toss is a job of its own
with its own seed, so that the numbers do not depend on how many processors share the work.

    stay                    never moves: what chance alone touches
    intercept               Algorithm 1 as printed
    intercept_frictionless  Algorithm 1, assuming that a contact keeps the horizontal speed
    cautious_intercept      Algorithm 2 as printed
    belief                  ours
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.calibration import posterior
from ricochet.models.systems.bouncing_ball.tracking import outcomes as ball_tracking
from ricochet.models.systems.bouncing_ball.tracking.outcomes import Outcome
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.figures import style
from ricochet.tasks.general_settings import Quick
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball.figures import tracking
from ricochet.tasks.systems.bouncing_ball.settings import Study, Tosses
from ricochet.tasks.systems.bouncing_ball.studies import sessions
from ricochet.tasks.systems.bouncing_ball.studies.sessions import Session
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop, controllers
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import open_laboratory
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import workspace as workspace_of
from ricochet.tasks.systems.bouncing_ball.validation import simulated_trials
from ricochet.tasks.systems.interface import StudyRequest

SEED, APART = 70_000, 1_000_000
"""The first seed of the study, and how far those of two studies lie apart."""
CONTROLLERS = tuple(controllers.BUILDERS)
TIMED = 60
"""Tosses at most that are repeated one after the other, to time the latency by the wall clock."""
SAMPLES = 2000
"""Draws of the posterior that a controller is given."""


@dataclass(frozen=True)
class Job:
    """One toss of a ball, and the model of the ball that calibration gave."""

    ball: str
    number: int
    settings: Settings
    model: controllers.BallModel


@dataclass(frozen=True)
class ComparedToss:
    """One toss with every controller.

    Attributes:
        bounces: Bounces on the table before the crossing.
        outliers: How many of them were mislocated or missed.
        latencies: From the sound of a bounce to the new target, s, by controller.
    """

    outcomes: dict[str, Outcome]
    bounces: int
    outliers: int
    latencies: dict[str, list[float]]


def run(request: StudyRequest) -> dict[str, Any]:
    """Toss the balls with every controller and count the outcomes."""
    settings = request.settings
    workspace_of(settings[Tosses])  # refused before anything is computed
    tosses, first = _count(request), APART * request.seed
    balls = enumerate(BALLS, start=first)
    models = {ball: _calibrated(ball, settings, number) for number, ball in balls}
    jobs = [Job(ball, first + i, settings, models[ball]) for ball in models for i in range(tosses)]
    compared: dict[str, list[ComparedToss]] = {ball: [] for ball in models}
    for job, result in zip(jobs, run_all(compare, jobs, progress=request.progress), strict=True):
        compared[job.ball].append(result)
    alone = [compare(job) for job in jobs[:: -(-len(jobs) // TIMED)]]
    size = {"quick": request.quick, "tosses": tosses}
    found = summarise(compared) | {"latency_ms": latencies(alone)} | size
    drawn = {
        "figure-7": tracking.shares(found["balls"]),
        "figure-13": tracking.all_tosses(found["balls"]),
        "figure-14": tracking.outliers_by_bounce(found["balls"]),
    }
    style.write(request.out, drawn)
    return found


def compare(job: Job) -> ComparedToss:
    """Toss a ball once with every controller."""
    ball, settings = BALLS[job.ball], job.settings
    workspace = workspace_of(settings[Tosses])
    inputs = controllers.ControllerInputs(job.model, workspace, ball, settings, job.number)
    laboratory = open_laboratory(settings, ball=ball, seed=SEED + job.number)
    detected = list(control_loop.listen(laboratory.toss()))
    toss = laboratory.truth_for_evaluation().toss
    before = toss.times < (toss.crossing_time or np.inf)
    end = simulated_trials.end_of(toss)
    outcomes, latencies = {}, {}
    for name in CONTROLLERS:
        controller, arm = controllers.controller(name, inputs), SimulatedArm(workspace)
        done = control_loop.run_control_loop(controller, detected, arm, until=end)
        outcomes[name] = simulated_trials.outcome_of(done, toss, detected, workspace=workspace)
        latencies[name] = [decision.latency for decision in done.decisions]
    wrong = outcomes[CONTROLLERS[0]].outliers
    return ComparedToss(outcomes, int(before.sum()), len(wrong), latencies)


def summarise(compared: Mapping[str, list[ComparedToss]]) -> dict[str, Any]:
    """Return rows by ball and controller, means over the balls and outlier rates."""
    balls = {
        ball: {
            name: ball_tracking.row([each.outcomes[name] for each in tosses])
            for name in CONTROLLERS
        }
        for ball, tosses in compared.items()
    }
    rates = {
        ball: sum(each.outliers for each in tosses) / max(sum(each.bounces for each in tosses), 1)
        for ball, tosses in compared.items()
    }
    return {
        "balls": balls,
        "mean": {name: _mean_row(balls, name) for name in CONTROLLERS},
        "outlier_rate": rates | {"mean": float(np.mean(list(rates.values())))},
    }


def latencies(tosses: list[ComparedToss]) -> dict[str, Any]:
    """Return median and 99th percentile of the latency, ms, of all controllers and of each.

    The tosses were compared while nothing else was computed.
    """
    waits = {
        name: [wait for each in tosses for wait in each.latencies[name]] for name in CONTROLLERS
    }
    moving = [wait for name in CONTROLLERS[1:] for wait in waits[name]]
    return _latency(moving) | {name: _latency(each) for name, each in waits.items()}


def _mean_row(balls: Mapping[str, Any], name: str) -> dict[str, float | None]:
    """Means over the balls that have a value, as the paper's; None where no ball has."""
    keys = ("success", "outliers", "boundaries", "missed", "energy", "energy_successes")
    values = {key: [rows[name][key] for rows in balls.values()] for key in keys}
    there = {key: [value for value in row if value is not None] for key, row in values.items()}
    return {key: float(np.mean(row)) if row else None for key, row in there.items()}


def _latency(waits: list[float]) -> dict[str, float]:
    values = 1e3 * np.array(waits or [np.nan])
    return {"median": float(np.median(values)), "p99": float(np.quantile(values, 0.99))}


def _calibrated(ball: str, settings: Settings, seed: int) -> controllers.BallModel:
    """Calibrate a ball on a session of drops of its own."""
    session = Session(SEED + seed, settings[Study].drops, BALLS[ball].theta)
    drops = sessions.simulate(session)
    density = posterior.posterior(drops.features, drops.noise, drops.release)
    theta = density.sample(SAMPLES, draw=np.random.default_rng(SEED + seed))
    return controllers.fit_ball_model(contact_draws.of_pairs(torch.from_numpy(theta)))


def _count(request: StudyRequest) -> int:
    """Return the number of tosses of each ball."""
    if request.count is not None:
        return request.count
    tosses = request.settings[Tosses].tosses
    return max(1, round(tosses * request.settings[Quick].quick)) if request.quick else tosses
