"""How batting controllers are validated: learnt again, tried on flights, played on the board."""

from functools import partial
from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.batting.impacts import inference
from ricochet.models.systems.batting.impacts.believed_law import as_posterior
from ricochet.models.systems.batting.impacts.inference import LEAST_IMPACTS, ImpactPosterior
from ricochet.models.systems.batting.table import Table
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
    batter = _of_the_board(package, str(file))
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
    """Return how far the posterior is from that inferred again, and the share of held-out rows.

    These are predicted by the law, which is what filter and planner simulate with; its regions are
    taken as they are.
    """
    table, limit = impact_files.read(file), package.parameters[2].high
    held = held_out(table.rows - 2, packages.hold_out(package, str(file)))
    if held.sum() < FEWEST_HELD_OUT or (~held).sum() < LEAST_IMPACTS:
        found = f"{int(held.sum())} rows that were not learnt from, {int((~held).sum())} others"
        expected = f"at least {FEWEST_HELD_OUT} and {LEAST_IMPACTS}"
        raise BadInput(str(file), found, expected)
    draw = np.random.default_rng([seed, STREAM])
    stated, learnt = ImpactPosterior(batter.theta, limit), table.impacts.take(~held)
    again = inference.infer(learnt, draw, friction_limit=limit)
    first, second = stated.shares, again.shares
    deviations = np.maximum(first.std(0), 1e-12), np.maximum(second.std(0), 1e-12)
    apart = float((np.abs(first.mean(0) - second.mean(0)) / np.minimum(*deviations)).max())
    ratios = deviations[0] / deviations[1]
    predicted = inference.predict(as_posterior(batter.law), table.impacts.take(held), draw)
    share = Share(int(predicted.inside.sum()), int(held.sum()))
    return apart, float(np.maximum(ratios, 1.0 / ratios).max()), share


def play_all(
    settings: BattingGate, contenders: Contenders, seed: int, folder: Path
) -> BattingResult:
    """Let every contender, and row B, play from the same starts; telemetry goes into the folder."""
    place, players, count = output_folder(folder), _players(contenders), settings.trials
    jobs = [
        BoardJob(batter, seed, number, row, settings.seconds, place / f"{role}-{number:02}.mcap")
        for role, (batter, row) in players.items()
        for number in range(count)
    ]
    with bar(f"{contenders.name}, trials of {', '.join(players)}") as progress:
        played = play.play_trials(jobs, progress)
    trials = {
        role: tuple(played[place * count : (place + 1) * count])
        for place, role in enumerate(players)
    }
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
        role: _of_the_board(package, contenders.where(role))
        for role, package in contenders.packages.items()
    }
    ours = {role: (batter, agents.OURS) for role, batter in batters.items()}
    return ours | {REFERENCE: (batters[CANDIDATE], agents.REFERENCE)}


def _of_the_board(package: Package, where: str) -> Batter:
    """Return what a package knows; `BadInput` where that is of another table than the board."""
    batter = packages.from_package(package, where=where)
    for name, found, expected in zip(Table._fields, batter.table, Table(), strict=True):
        if found != expected:
            raise BadInput(f"{where}: {name}", f"{found:g}", f"{expected:g}, that of the board")
    return batter


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
