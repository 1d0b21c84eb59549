"""How posteriors of pendulums are validated: inferred again, tried on held-out pieces, crossed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import chain_agreement
from ricochet.tasks.console.progress import part
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.rigid_bodies import particle_packages
from ricochet.tasks.systems.rigid_bodies.kinds import PENDULUM
from ricochet.tasks.systems.rigid_bodies.settings import PendulumGate
from ricochet.tasks.systems.rigid_bodies.validation import (
    coverage,
    crossings,
    gate,
    held_out,
    recordings,
    report,
    results,
)
from ricochet.tasks.systems.rigid_bodies.validation.gate import PendulumEvidence
from ricochet.tasks.validation.judge import Candidate, Validation
from ricochet.tasks.validation.outcomes import SIMULATED

FEWEST_PLACES = 10
"""Pieces that were not learnt from."""


def measure(
    candidate: Candidate, settings: Settings, seed: int, progress: Progress
) -> PendulumEvidence:
    """Measure a candidate again by its own recordings."""
    files, rules = candidate.recordings(), settings[PendulumGate]
    return audit(candidate.package, files, rules, seed=seed, progress=progress)


def audit(
    package: Package,
    files: Sequence[Path],
    settings: PendulumGate,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> PendulumEvidence:
    """Measure a package again.

    Raises:
        BadInput: If the recordings are away, or not those of the package, or hold nothing that was
            not learnt from.
    """
    draws = particle_packages.draws_of(package)
    runs, of = recordings.read(package, files), recordings.learnt(package)
    held = recordings.held_out(runs, of, **held_out.SURROUNDINGS)
    if held_out.places(held) < FEWEST_PLACES:
        found = f"{held_out.places(held)} pieces that were not learnt from"
        raise BadInput(", ".join(map(str, files)), found, f"at least {FEWEST_PLACES}")
    again = coverage.infer_again(
        draws, runs, of, settings, seed=seed, workers=workers, progress=part(progress, 0, 2)
    )
    predicted = held_out.predict(
        crossings.some(draws, settings.futures, seed),
        held,
        np.random.default_rng([seed, coverage.STREAM, 3]),
        progress=part(progress, 1, 2),
    )
    stated = coverage.stated(draws, of.particles)
    agreement = chain_agreement.compare(stated, again.chains)
    return PendulumEvidence(agreement, again.places, predicted, settings.chance)


VALIDATION = Validation(
    kind=PENDULUM,
    refuse=PENDULUM.refuse,
    rigs={SIMULATED: crossings.open_twin},
    measure=measure,
    judge_evidence=gate.judge_evidence,
    judge_result=gate.judge_crossings,
    report=report.report,
    read=results.from_json,
    line=report.line,
)
"""Of `pendulum-<name>`."""
