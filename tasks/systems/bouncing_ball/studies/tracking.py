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

`models` holds how the last three do with the two models that a ball may be given (`ball_models`):
pairs, as above, and the family. Beside the paper's balls it has a real ping-pong
ball, in air and with a restitution that falls with speed, of which pairs are the nearest model that
the paper has. Every model plays the same tosses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.tracking import outcomes as ball_tracking
from ricochet.models.systems.bouncing_ball.tracking.outcomes import Outcome
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.figures import style
from ricochet.tasks.general_settings import Quick
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball.figures import tracking
from ricochet.tasks.systems.bouncing_ball.settings import Study, Tosses
from ricochet.tasks.systems.bouncing_ball.studies import ball_models
from ricochet.tasks.systems.bouncing_ball.studies.ball_models import TOSSED
from ricochet.tasks.systems.bouncing_ball.tracking import control_loop, controllers
from ricochet.tasks.systems.bouncing_ball.tracking.controllers import BallModel, ControllerInputs
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import open_laboratory
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import workspace as workspace_of
from ricochet.tasks.systems.bouncing_ball.validation import simulated_trials
from ricochet.tasks.systems.interface import StudyRequest

SEED, APART = 70_000, 1_000_000
"""The first seed of the study, and how far those of two studies lie apart."""
CONTROLLERS = tuple(controllers.BUILDERS)
MODELLED = ("intercept_frictionless", "cautious_intercept", "belief")
"""Controllers that are compared with both models of a ball."""
TIMED = 60
"""Tosses at most that are repeated one after the other, to time the latency by the wall clock."""


@dataclass(frozen=True)
class Job:
    """One toss of a ball, and the models of the ball that calibration gave, pairs first."""

    ball: str
    number: int
    settings: Settings
    models: Mapping[str, BallModel]


@dataclass(frozen=True)
class ComparedToss:
    """One toss with every controller.

    Attributes:
        bounces: Bounces on the table before the crossing.
        outliers: How many of them were mislocated or missed.
        latencies: From the sound of a bounce to the new target, s, by controller.
        by_model: Outcomes by model, and by those controllers that have use of it.
    """

    outcomes: dict[str, Outcome]
    bounces: int
    outliers: int
    latencies: dict[str, list[float]]
    by_model: dict[str, dict[str, Outcome]] = field(default_factory=dict)


def run(request: StudyRequest) -> dict[str, Any]:
    """Toss the balls with every controller and count the outcomes."""
    settings = request.settings
    workspace_of(settings[Tosses])  # refused before anything is computed
    tosses, first = _count(request), APART * request.seed
    balls = enumerate(TOSSED, start=first)
    models = {ball: _calibrated(ball, settings, number) for number, ball in balls}
    jobs = [Job(ball, first + i, settings, models[ball]) for ball in models for i in range(tosses)]
    compared: dict[str, list[ComparedToss]] = {ball: [] for ball in models}
    for job, result in zip(jobs, run_all(compare, jobs, progress=request.progress), strict=True):
        compared[job.ball].append(result)
    papers = {ball: compared[ball] for ball in BALLS}
    played = [job for job in jobs if job.ball in BALLS]
    alone = [compare(job) for job in played[:: -(-len(played) // TIMED)]]
    size = {"quick": request.quick, "tosses": tosses}
    found = summarise(papers) | {"models": by_model(compared)}
    found |= {"latency_ms": latencies(alone)} | size
    drawn = {
        "figure-7": tracking.shares(found["balls"]),
        "figure-13": tracking.all_tosses(found["balls"]),
        "figure-14": tracking.outliers_by_bounce(found["balls"]),
    }
    style.write(request.out, drawn)
    return found


def compare(job: Job) -> ComparedToss:
    """Toss a ball once with every controller."""
    ball, settings = TOSSED[job.ball], job.settings
    workspace = workspace_of(settings[Tosses])
    pairs = next(iter(job.models))
    inputs = ControllerInputs(job.models[pairs], workspace, ball, settings, job.number)
    laboratory = open_laboratory(settings, ball=ball, seed=SEED + job.number)
    detected = list(control_loop.listen(laboratory.toss()))
    toss = laboratory.truth_for_evaluation().toss
    before = toss.times < (toss.crossing_time or np.inf)
    end = simulated_trials.end_of(toss)

    def play(name: str, given: ControllerInputs) -> tuple[Outcome, list[float]]:
        controller, arm = controllers.controller(name, given), SimulatedArm(workspace)
        done = control_loop.run_control_loop(controller, detected, arm, until=end)
        outcome = simulated_trials.outcome_of(done, toss, detected, workspace=workspace)
        return outcome, [decision.latency for decision in done.decisions]

    outcomes, latencies = {}, {}
    for name in CONTROLLERS:
        outcomes[name], latencies[name] = play(name, inputs)
    by_model = {
        model: {name: play(name, replace(inputs, model=known))[0] for name in MODELLED}
        for model, known in job.models.items()
        if model != pairs
    }
    by_model = {pairs: {name: outcomes[name] for name in MODELLED}} | by_model
    wrong = outcomes[CONTROLLERS[0]].outliers
    return ComparedToss(outcomes, int(before.sum()), len(wrong), latencies, by_model)


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


def by_model(compared: Mapping[str, list[ComparedToss]]) -> dict[str, Any]:
    """Return by ball, controller and model the share touched of those that could be, and energy.

    `gain` is that of the second model over the first, on the same tosses; errors are standard ones.
    """
    return {
        ball: {name: _models_row([each.by_model for each in tosses], name) for name in MODELLED}
        for ball, tosses in compared.items()
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


def _models_row(tosses: list[dict[str, dict[str, Outcome]]], name: str) -> dict[str, Any]:
    inside = [each for each in tosses if _first(each)[name].kind != "boundaries"]
    models = list(inside[0]) if inside else []
    touched = np.array(
        [[each[m][name].kind == "success" for m in models] for each in inside], float
    )
    count, row = len(inside), dict[str, Any]()
    for number, model in enumerate(models):
        share = float(touched[:, number].mean())
        energy = float(np.mean([each[model][name].energy for each in inside]))
        error = float(np.sqrt(share * (1.0 - share) / count))
        row[model] = {"success": share, "error": error, "energy": energy}
    if len(models) > 1:
        gain = touched[:, 1].astype(float) - touched[:, 0]
        row["gain"] = {"success": float(gain.mean()), "error": float(gain.std() / np.sqrt(count))}
    return row | {"tosses": count}


def _first(of_toss: dict[str, dict[str, Outcome]]) -> dict[str, Outcome]:
    return next(iter(of_toss.values()))


def _mean_row(balls: Mapping[str, Any], name: str) -> dict[str, float | None]:
    """Means over the balls that have a value, as the paper's; None where no ball has."""
    keys = ("success", "outliers", "boundaries", "missed", "energy", "energy_successes")
    values = {key: [rows[name][key] for rows in balls.values()] for key in keys}
    there = {key: [value for value in row if value is not None] for key, row in values.items()}
    return {key: float(np.mean(row)) if row else None for key, row in there.items()}


def _latency(waits: list[float]) -> dict[str, float]:
    values = 1e3 * np.array(waits or [np.nan])
    return {"median": float(np.median(values)), "p99": float(np.quantile(values, 0.99))}


def _calibrated(ball: str, settings: Settings, seed: int) -> dict[str, BallModel]:
    """Calibrate a ball on sessions of drops of its own: pairs and the family."""
    tossed = TOSSED[ball]
    pairs = ball_models.of_pairs(tossed, drops=settings[Study].drops, seed=SEED + seed)
    family = ball_models.of_family(tossed, seed=SEED + seed)
    known = {"pairs": pairs, "family": family}
    return {name: controllers.fit_ball_model(draws) for name, draws in known.items()}


def _count(request: StudyRequest) -> int:
    """Return the number of tosses of each ball."""
    if request.count is not None:
        return request.count
    tosses = request.settings[Tosses].tosses
    return max(1, round(tosses * request.settings[Quick].quick)) if request.quick else tosses
