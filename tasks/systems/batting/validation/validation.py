"""How batting controllers are validated: learnt again, tried on flights, played on the board."""

from functools import partial
from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.batting.impacts import inference
from ricochet.models.systems.batting.impacts.inference import ImpactPosterior
from ricochet.tasks.console.progress import bar, part
from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder, sha256
from ricochet.tasks.systems.batting import agents, impact_files, packages
from ricochet.tasks.systems.batting.infer_impacts import held_out
from ricochet.tasks.systems.batting.kinds import BATTER
from ricochet.tasks.systems.batting.packages import Batter
from ricochet.tasks.systems.batting.settings import BattingGate
from ricochet.tasks.systems.batting.validation import gate, play, report, results
from ricochet.tasks.systems.batting.validation.gate import BattingEvidence, Share
from ricochet.tasks.systems.batting.validation.play import BoardJob
from ricochet.tasks.systems.batting.validation.results import REFERENCE, BattingResult
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.judge import Candidate, RigRequest, RunTrials, Validation
from ricochet.tasks.validation.outcomes import SIMULATED

STREAM = 103
"""Of the randomness of what is inferred again."""
FEWEST_HELD_OUT = 20


def open_board(request: RigRequest) -> RunTrials[BattingResult]:
    """Return what plays the trials of all contenders on the simulated board."""
    return partial(play_all, request.settings[BattingGate])


def measure(
    candidate: Candidate, settings: Settings, seed: int, progress: Progress
) -> BattingEvidence:
    """Measure a candidate again by its own table of impacts, and on flights."""
    (file,) = candidate.recordings()
    return audit(candidate.package, file, settings[BattingGate], seed=seed, progress=progress)


def audit(
    package: Package,
    file: Path,
    settings: BattingGate,
    *,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> BattingEvidence:
    """Measure a package again.

    Raises:
        BadInput: If the table is away, or not that of the package, or too little was held out.
    """
    if sha256(file) != package.data_digest:
        raise BadInput(str(file), f"sha256 {sha256(file)}", f"{package.data_digest}, the package's")
    batter = packages.from_package(package, where=str(file))
    apart, ratio, impacts = _learn_again(package, batter, file, seed)
    flown = play.follow_flights(
        batter, settings.flights, seed, workers=workers, progress=part(progress, 0, 1)
    )
    inside = sum(each.inside for each in flown)
    errors = tuple(each.error for each in flown)
    return BattingEvidence(
        apart, ratio, impacts, Share(inside, len(flown)), errors, settings.chance
    )


def _learn_again(
    package: Package, batter: Batter, file: Path, seed: int
) -> tuple[float, float, Share]:
    """Return how far the posterior is from that inferred again, and its share of held-out rows."""
    limit = package.parameters[2].high
    table = impact_files.read(file)
    held = held_out(table.rows - 2, float(package.settings["hold_out"]))
    if held.sum() < FEWEST_HELD_OUT:
        found = f"{int(held.sum())} rows that were not learnt from"
        raise BadInput(str(file), found, f"at least {FEWEST_HELD_OUT}")
    draw = np.random.default_rng([seed, STREAM])
    stated, learnt = ImpactPosterior(batter.theta, limit), table.impacts.take(~held)
    again = inference.infer(learnt, draw, friction_limit=limit)
    first, second = stated.shares, again.shares
    deviations = np.maximum(first.std(0), 1e-12), np.maximum(second.std(0), 1e-12)
    apart = float((np.abs(first.mean(0) - second.mean(0)) / np.minimum(*deviations)).max())
    ratios = deviations[0] / deviations[1]
    widening = inference.widening_of(stated, learnt, draw)
    predicted = inference.predict(stated, table.impacts.take(held), draw, widening=widening)
    share = Share(int(predicted.inside.sum()), int(held.sum()))
    return apart, float(np.maximum(ratios, 1.0 / ratios).max()), share


def play_all(
    settings: BattingGate, contenders: Contenders, seed: int, folder: Path
) -> BattingResult:
    """Let every contender, and row B, play from the same starts; telemetry goes into the folder."""
    place, trials = output_folder(folder), {}
    for role, (batter, row) in _players(contenders).items():
        jobs = [
            BoardJob(
                batter, seed, number, row, settings.seconds, place / f"{role}-{number:02}.mcap"
            )
            for number in range(settings.trials)
        ]
        with bar(f"{contenders.name} {role}") as progress:
            trials[role] = tuple(play.play_trials(jobs, progress))
    return BattingResult(
        name=contenders.name,
        candidate=contenders.candidate,
        champion=contenders.champion,
        seed=seed,
        seconds=settings.seconds,
        trials=trials,
    )


def _players(contenders: Contenders) -> dict[str, tuple[Batter, str]]:
    """Return what each role knows and how it plans."""
    batters = {
        role: packages.from_package(package, where=contenders.where(role))
        for role, package in contenders.packages.items()
    }
    ours = {role: (batter, agents.OURS) for role, batter in batters.items()}
    return ours | {REFERENCE: (batters[CANDIDATE], agents.REFERENCE)}


VALIDATION = Validation(
    kind=BATTER,
    refuse=BATTER.refuse,
    rigs={SIMULATED: open_board},
    measure=measure,
    judge_evidence=gate.judge_evidence,
    judge_result=gate.judge_trials,
    report=report.report,
    read=results.from_json,
    line=report.line,
)
"""Of `batting-<set>`."""
