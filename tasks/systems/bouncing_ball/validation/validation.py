"""How posteriors of a ball on a surface are validated: measured again, tosses, cups."""

from functools import partial

from ricochet.models.core.progress import Progress
from ricochet.tasks.console import operator
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.systems.bouncing_ball.tracking import real_rig
from ricochet.tasks.systems.bouncing_ball.validation import (
    audit,
    gate,
    real_trials,
    report,
    results,
    simulated_trials,
    twin_balls,
)
from ricochet.tasks.systems.bouncing_ball.validation.gate import CalibrationEvidence
from ricochet.tasks.systems.bouncing_ball.validation.results import TwinResult
from ricochet.tasks.validation.judge import Candidate, RigRequest, RunTrials, Validation
from ricochet.tasks.validation.outcomes import REAL, SIMULATED


def open_simulated(request: RigRequest) -> RunTrials[TwinResult]:
    """Return what plays the tosses in the twin laboratory."""
    return partial(simulated_trials.run, request.settings)


def open_real(request: RigRequest) -> RunTrials[TwinResult]:
    """Find the operator and the rig, without motion; `BadInput` if the rig lacks anything."""
    there = operator.at_terminal()
    rig = real_rig.open_rig(request.settings, armed=request.armed)
    ball = twin_balls.named(request.name)
    return partial(real_trials.run, ball, request.settings, rig, there)


def measure(
    candidate: Candidate, settings: Settings, seed: int, progress: Progress
) -> CalibrationEvidence:
    """Measure a posterior again from its recordings."""
    recordings = candidate.recordings()
    return audit.audit(
        candidate.package, recordings, settings=settings, seed=seed, progress=progress
    )


VALIDATION = Validation(
    kind=POSTERIOR,
    refuse=lambda name: None,
    rigs={SIMULATED: open_simulated, REAL: open_real},
    measure=measure,
    judge_evidence=gate.judge_evidence,
    judge_result=lambda result, _: gate.judge_trials(result),
    report=report.report,
    read=results.from_json,
    line=report.line,
)
"""Of `<ball>-<surface>`."""
