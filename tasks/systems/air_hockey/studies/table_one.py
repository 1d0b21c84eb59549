"""The study of shooting: Table I of Jankowski, Maric et al. on the simulated table, disturbed.

"Energy-based Contact Planning under Uncertainty for Robot Air Hockey", Sec. V. Every row
(`tasks.systems.air_hockey.studies.rows`) shoots from the same starts; the energies then shoot pucks
that move, with and without an opponent (`moving_pucks`), and one agent defends and prepares
(`own_half`). A goal is a clean passage, |y| < 0.093 m;
speeds and banks are those of goals. `predicted` is the mean probability of a goal that the learnt
model gave to the shots as they were played: where it holds, scores agree with it and the chance
constraint means what it says. A study that was stopped goes on where it was (`shot_journal`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.console.progress import part
from ricochet.tasks.figures import style
from ricochet.tasks.general_settings import Quick
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.storage.provenance import artifacts
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.figures import episodes, table_one
from ricochet.tasks.systems.air_hockey.policies import packages, train
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.studies import moving_pucks, own_half, shot_journal
from ricochet.tasks.systems.air_hockey.studies import rows as shooting_rows
from ricochet.tasks.systems.air_hockey.studies.rows import CONVENTIONAL, ENERGIES, EXHAUSTIVE, ROWS
from ricochet.tasks.systems.air_hockey.studies.shot_journal import Player
from ricochet.tasks.systems.air_hockey.validation import shot_chances, trials
from ricochet.tasks.systems.air_hockey.validation.trials import Played, Start
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.training.steps import TrainingRequest

SEED = 60_000
PICTURED = ("cautious", "aggressive")
OPPOSED = "sweep", "cautious"
"""The moving pucks whose fastest goal is drawn and whose steps are timed."""
TIMED, TIMED_QUICK = 12, 4
"""Shots played once more, one after the other, to time the steps; those of a quick study."""
CLOCKED = (*ENERGIES, CONVENTIONAL, EXHAUSTIVE)
"""Rows whose steps are timed; all but the last have 20 ms for a step."""
PAPER = {
    "CB": {"score": 0.51, "speed_mean": 0.52, "banks_mean": 0.0},
    "Atacom": {"score": 0.90, "speed_mean": 0.55, "banks_mean": 0.0},
    "cautious": {"score": 0.93, "speed_mean": 1.00, "banks_mean": 0.0},
    "balanced": {"score": 0.80, "speed_mean": 1.44, "banks_mean": 0.53},
    "aggressive": {"score": 0.61, "speed_mean": 1.97, "banks_mean": 1.13},
}
"""Its Table I, in its own simulator."""


def run(request: StudyRequest) -> dict[str, Any]:
    """Train the energies unless they are there, shoot and count."""
    settings = shrunk(request.settings) if request.quick else request.settings
    works = 1 + len(ROWS) + len(CLOCKED) + len(PICTURED) + 1 + len(moving_pucks.JOBS)
    works += len(own_half.JOBS)
    progress = (part(request.progress, number, works) for number in range(works))
    folder = output_folder(request.out / "policies")
    shooters = policies(settings, folder, request.seed, next(progress))
    begun = trials.starts(request.count or settings[Hockey].shots, seed=SEED + request.seed)
    disturbance = disturbance_of(settings[Hockey])
    players = _players(shooters, settings, request.out)
    played = {row: players[row].play(begun, disturbance, next(progress)) for row in ROWS}
    timed = begun[: TIMED_QUICK if request.quick else TIMED]
    steps = {row: _steps(players[row], timed, disturbance, next(progress)) for row in CLOCKED}
    known = {row: shooting_rows.conditions(row, shooters, settings) for row in ROWS}
    rows = {row: count(each, known[row]) for row, each in played.items()}
    for row, spent in steps.items():
        rows[row]["step_ms"] = _milliseconds(spent)
    moving = _moving(players, known, disturbance, (len(begun), len(timed)), progress, request)
    kept = players[ENERGIES[0]], shooters[ENERGIES[0]], settings, disturbance, request
    tasks = own_half.run(*kept, len(begun), progress)
    _draw(rows, played, moving, request.out)
    for row in PICTURED:
        picture(players[row].make(), row, begun, played[row], disturbance, request.out)
        next(progress)(1, 1)
    return {
        "quick": request.quick,
        "shots": len(begun),
        "disturbance": asdict(disturbance),
        "rows": rows,
        "moving": moving,
        "tasks": tasks,
        "step_ms": _milliseconds([each for row in ENERGIES for each in steps[row]]),
        "paper": PAPER,
        "challenge": {**moving_pucks.CHALLENGE, **own_half.CHALLENGE},
    }


def _players(shooters: Mapping[str, Shooter], settings: Settings, out: Path) -> dict[str, Player]:
    """Return who plays the rows, and goes on where a study of the same that was stopped was."""
    held, mark = shot_journal.journal(output_folder(out)), shot_journal.digest(shooters, settings)
    make = {row: partial(shooting_rows.agent, row, shooters, settings) for row in ROWS}
    return {row: Player(make[row], f"{row} {mark}", held) for row in ROWS}


def shrunk(settings: Settings) -> Settings:
    """Return the settings of a quick study."""
    share = settings[Quick].quick
    fewer = settings.changed(
        Energies,
        states=min(1500, settings[Energies].states),
        epochs=min(80, settings[Energies].epochs),
        batch=min(32, settings[Energies].batch),
        held_out=min(100, settings[Energies].held_out),
    )
    return fewer.changed(Hockey, shots=max(9, round(share * settings[Hockey].shots)))


def policies(
    settings: Settings, folder: Path, seed: int, progress: Progress = no_progress
) -> dict[str, Shooter]:
    """Return the trained shooters by setting, training what is not there.

    Those of `make repro` or `ricochet train energy` serve if they are of these settings, and their
    contacts and strokes if only the energies are others.
    """
    places = (artifacts() / "energy", artifacts() / "train" / "energy", folder)
    requests = [TrainingRequest(settings, place, seed, fallbacks=places) for place in places]
    request = next((each for each in requests if train.has_packages(each)), requests[-1])
    train.train(request, progress)
    found = (packages.read(place, key=UNSIGNED) for place in train.folders(request).values())
    return {shooter.setting.name: shooter for shooter in found}


def count(played: list[Played], known: Conditions) -> dict[str, Any]:
    """Count a row; None where nothing was played, or nothing scored that a number could be of."""
    goals = [each for each in played if each.outcome.scored]
    speeds = np.array([each.outcome.speed_at_line for each in goals])
    share, interval = None, (0.0, 1.0)
    if played:
        share = len(goals) / len(played)
        interval = stats.binomtest(len(goals), len(played)).proportion_ci(0.95)
    plans = [shot for each in played if (shot := each.first_shot) is not None]
    model = shot_chances.as_played(known, plans)
    alone = all(each.start.opponent == "none" for each in played)
    off = [
        each.outcome.normal - each.strike_plans[0].angle
        for each in played
        if each.strike_plans and each.outcome.strikes == 1
    ]
    return {
        "score": share,
        "score_interval": list(interval),
        "speed_mean": float(speeds.mean()) if len(goals) else None,
        "speed_std": float(speeds.std(ddof=1)) if len(goals) > 1 else None,
        "banks_mean": float(np.mean([g.outcome.banks for g in goals])) if goals else None,
        "constraint_violations": sum(bool(each.outcome.violations) for each in played),
        "violations": sorted({kind for each in played for kind in each.outcome.violations}),
        "predicted": float(model.goal.sum() / len(played)) if played and alone else None,
        "predicted_speed": float(model.speed.mean()) if len(plans) else None,
        "normal_error_sd": float(np.std(off)) if off else None,
        "ended": {
            kind: sum(each.outcome.ended == kind for each in played)
            for kind in ("line", "returned", "out", "time")
        },
        "blocked": sum(each.outcome.blocked for each in played),
        "never_struck": sum(each.outcome.strikes == 0 for each in played),
        "faults": sum(bool(each.faults) for each in played),
    }


def _moving(
    players: Mapping[str, Player],
    known: Mapping[str, Conditions],
    disturbance: Disturbance,
    shots: tuple[int, int],
    progress: Iterator[Progress],
    request: StudyRequest,
) -> dict[str, dict[str, Any]]:
    """Count every set of moving pucks, of so many shots and so many timed ones."""
    found: dict[str, dict[str, Any]] = {name: {} for name in moving_pucks.SETS}
    for name, row in moving_pucks.JOBS:
        pucks = moving_pucks.SETS[name]
        starts, disturbed = pucks.starts(shots[0], request.seed), pucks.disturbance(disturbance)
        played = players[row].play(starts, disturbed, next(progress))
        found[name][row] = count(played, known[row])
        if (name, row) == OPPOSED:
            steps = _steps(players[row], starts[: shots[1]], disturbed, next(progress))
            found[name][row]["step_ms"] = _milliseconds(steps)
            picture(players[row].make(), name, starts, played, disturbed, request.out)
    return found


def _steps(
    player: Player,
    begun: tuple[Start, ...],
    disturbance: Disturbance,
    progress: Progress,
) -> list[float]:
    """Play shots one after the other; times of the agent's steps until the strike, s."""
    steps: list[float] = []
    for each in player.time(begun, disturbance, progress):
        struck = each.outcome.struck
        steps += each.steps[: round(struck / PERIOD) if np.isfinite(struck) else None]
    return steps


def _milliseconds(steps: list[float]) -> dict[str, float]:
    """Return the median and the 99th percentile of times."""
    median, high = 1e3 * np.quantile(steps, (0.5, 0.99))
    return {"median": float(median), "p99": float(high)}


def picture(
    shooter: ShootingAgent,
    row: str,
    begun: tuple[Start, ...],
    played: list[Played],
    disturbance: Disturbance,
    out: Path,
) -> None:
    """Draw the fastest goal of a row into `episode-<row>.png` and, as a film, `.gif`."""
    speeds = [each.outcome.speed_at_line if each.outcome.scored else 0.0 for each in played]
    start = begun[int(np.argmax(speeds))]
    again, episode = trials.play_one(shooter, start, disturbance)
    banks, speed = again.outcome.banks, again.shot.speed
    title = f"{row}: {speed:.2f} m/s at the goal line after {banks} bank{'s'[: banks != 1]}"
    style.write(out, {f"episode-{row}": episodes.strip(episode, title=title)})
    episodes.film(episode, out / f"episode-{row}.gif")


def _draw(
    rows: dict[str, Any], played: dict[str, list[Played]], moving: dict[str, Any], out: Path
) -> None:
    paper = {**PAPER, "conventional": PAPER["CB"]}
    crossings = {row: [each.outcome for each in shots] for row, shots in played.items()}
    drawn = {"table": table_one.rows(rows, paper), "crossings": table_one.crossings(crossings)}
    drawn["moving"] = table_one.moving(moving, moving_pucks.CHALLENGE)
    style.write(out, drawn)
