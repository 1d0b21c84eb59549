"""A table that is not ours, learnt from a recording of it and played on.

    python -m benchmarks.air_hockey.other_table [--quick] [--out FOLDER]

The twin of a table with livelier rims, less drag and more airflow (`other`) plays the strokes of
`ricochet train energy --write-strokes`; pucks are thrown where it says a hand should, with a tenth
of deviation. Puck and mallet are recorded at 50 Hz with 1 mm of noise on each coordinate, nothing
else. `ricochet train energy --set hockey.recording=..` learns from that; its policies, and those
trained on the simulated table of ours, then shoot the same pucks on the other table, at rest and
moving. Printed: the laws learnt, those of an exact record, the true drag and airflow; for each row
the score with its interval of 95 %, the mean goal probability that the policy's own model gave to
the shots as they were played, with the interval within which so many shots of those probabilities
score, and whether the score lies in it.
"""

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy import stats

from ricochet.models.core.progress import Progress
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import mode_fitting
from ricochet.models.systems.air_hockey.puck.dataset import sampled
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.recording_plan import STROKE, Play
from ricochet.models.systems.air_hockey.simulator import Disturbance, World
from ricochet.tasks.console.jobs import run_all
from ricochet.tasks.console.progress import bar
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import agents, packages, train, training_data
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes, stroke_files
from ricochet.tasks.systems.air_hockey.recordings.episode_checks import Episode
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.validation import shot_chances, trials
from ricochet.tasks.systems.air_hockey.validation.trials import Played, Start
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import TrainingRequest

RIMS = ("left", "right", "far_left", "far_right", "near_left", "near_right")
SOLREF = (0.02, 0.05)  # of the rims, which keep 0.85 of the normal speed (ours 0.73)
DRAG, AIRFLOW = 0.3, 0.15  # 1/s, m/s^2; ours 0.5 and 0.1
NOISE = 1e-3  # m
SECONDS = 1.5  # of an episode
THROWN = 0.1  # share and rad by which a hand misses speed and direction
SEED = 70_000
QUICK = {"states": 1500, "epochs": 80, "batch": 32, "held_out": 100}


@dataclass(frozen=True)
class Recorded:
    """A recorded episode, as it was seen and exactly."""

    seen: Episode
    trace: np.ndarray


def other(model: mujoco.MjModel) -> None:
    """Make another table of the scene."""
    for name in RIMS:
        model.geom(name).solref[:] = SOLREF
    for name in ("puck_x", "puck_y"):
        model.joint(name).damping[0] = DRAG * float(model.body("puck").mass[0])


def disturbance() -> Disturbance:
    """Return what disturbs an episode on the other table."""
    return Disturbance(airflow=AIRFLOW, position_noise=2e-3)


def record(job: tuple[Play, int]) -> Recorded:
    """Play one episode on the other table and record it."""
    play, seed = job
    draw, world = np.random.default_rng((SEED, seed)), simulator.build(other)
    puck = play.puck.copy()
    if play.kind != STROKE:
        turn, faster = THROWN * draw.standard_normal(), 1.0 + THROWN * draw.standard_normal()
        away = np.array(((np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))))
        puck[2:] = faster * away @ puck[2:]
    episode, _ = simulator.reset(
        world, puck=puck, disturbance=disturbance(), draw=draw, joints=play.joints
    )
    for period in range(round(SECONDS / PERIOD)):
        simulator.step(episode, play.commands[min(period, len(play.commands) - 1)])
    trace = np.array(episode.trace)
    exact = sampled(trace[None])
    noise = NOISE * draw.standard_normal((2, *exact.puck[0].shape))
    places = exact.puck[0] + noise[0], exact.mallet[0] + noise[1]
    off = np.abs(exact.puck[0, :, 0]) > world.table.half_length  # a camera sees the table alone
    places[0][np.logical_or.accumulate(off)] = np.nan
    return Recorded(Episode(PERIOD * np.arange(len(exact.puck[0])), *places), trace)


def make_recording(request: TrainingRequest, folder: Path, progress: Progress) -> np.ndarray:
    """Write a recording of the plan's episodes; return their traces."""
    plays = stroke_files.planned(request)
    stroke_files.write_plays(folder / "strokes.npz", plays, seed=request.seed)
    found = run_all(record, [(play, k) for k, play in enumerate(plays)], progress=progress)
    table = simulator.build().table
    note = "a twin with other rims, drag and airflow"
    puck_episodes.write(folder, [each.seen for each in found], table=table, note=note)
    return np.stack([each.trace for each in found])


def trained(settings: Settings, out: Path, name: str) -> dict[str, Shooter]:
    """Train, unless it was, and return the shooters by setting."""
    request = TrainingRequest(settings, out, seed=0)
    for step in () if train.has_packages(request) else train.steps(request)[:-1]:
        steps.take(step, lambda label: bar(f"{name}: {label}"))
    found = (packages.read(place, key=UNSIGNED) for place in train.folders(request).values())
    return {shooter.setting.name: shooter for shooter in found}


def shoot(job: tuple[Shooter, Start, Disturbance]) -> Played:
    """Play one shot on the other table."""
    shooter, start, disturbed = job
    world: World = simulator.build(other)
    return trials.play_one(agents.make(shooter), start, disturbed, world=world)[0]


def row(shooter: Shooter, played: list[Played]) -> dict[str, Any]:
    """Return score and prediction of the shots of one policy."""
    known = shooter.conditions(aim=agents.AIM)
    plans = [plan for each in played if (plan := each.first_shot) is not None]
    goal = shot_chances.as_played(known, plans).goal
    chances = np.concatenate((goal, np.zeros(len(played) - len(plans))))
    scored = sum(each.outcome.scored for each in played)
    low, high = interval(chances)
    speeds = [each.outcome.speed_at_line for each in played if each.outcome.scored]
    return {
        "score": scored / len(played),
        "of": len(played),
        "interval": stats.binomtest(scored, len(played)).proportion_ci(0.95),
        "predicted": chances.mean(),
        "within": (low, high),
        "holds": low <= scored / len(played) <= high,
        "speed": np.mean(speeds) if speeds else np.nan,
        "banks": np.mean([each.outcome.banks for each in played if each.outcome.scored]),
        "broken": sum(bool(each.outcome.violations) for each in played),
        "struck": sum(each.outcome.strikes > 0 for each in played),
    }


def interval(chances: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return between which shares independent shots of some chances score, ends included."""
    counts = np.array([1.0])
    for chance in chances:  # Poisson's binomial law
        counts = np.convolve(counts, (1.0 - chance, chance))
    total = np.cumsum(counts)
    low = int(np.searchsorted(total, 0.5 * (1.0 - level)))
    high = int(np.searchsorted(total, 0.5 * (1.0 + level)))
    return low / len(chances), high / len(chances)


def print_modes(name: str, modes: PuckModes) -> None:
    """Print what contacts keep and how much they scatter."""
    drag = modes.drag
    print(f"{name}: drag {drag:.3f} 1/s, airflow sd {modes.airflow_sd:.4f} m/s^2")
    for way in modes.first_bank:
        sd = np.round(np.sqrt(np.diag(way.law.covariance)), 3).tolist()
        kept = np.round(np.diag(way.law.matrix), 3).tolist()
        print(f"  first bank, {way.share:.0%}: {kept}, sd {sd}")
    sd = np.round(np.sqrt(np.diag(modes.mallet.covariance)), 3).tolist()
    print(f"  strike: {np.round(modes.mallet.matrix, 3).tolist()}, sd {sd}", flush=True)


def print_rows(title: str, rows: Mapping[str, dict[str, Any]]) -> None:
    """Print a table of scores."""
    print(f"{title}\n{'':34s}score (95 %)         predicted (its 95 %)   speed banks struck broken")
    for name, one in rows.items():
        low, high = one["interval"]
        under, over = one["within"]
        verdict = "holds" if one["holds"] else "does NOT hold"
        print(
            f"{name:34s}{one['score']:.3f} ({low:.2f}-{high:.2f})    {one['predicted']:.3f}"
            f" ({under:.2f}-{over:.2f}) {verdict:13s} {one['speed']:5.2f} {one['banks']:5.2f}"
            f" {one['struck']:4d}/{one['of']} {one['broken']:4d}",
            flush=True,
        )


def compare(
    title: str, shooters: Mapping[str, Shooter], begun: tuple[Start, ...], disturbed: Disturbance
) -> None:
    """Play the shots of each policy from the same starts and print a row of each."""
    rows = {}
    for name, shooter in shooters.items():
        jobs = [(shooter, start, disturbed) for start in begun]
        with bar(f"{title}: {name}") as progress:
            rows[name] = row(shooter, run_all(shoot, jobs, progress=progress))
    print_rows(title, rows)


def learn(settings: Settings, out: Path) -> Settings:
    """Record the other table, print what is learnt of it; return settings that name the record."""
    folder = out / "recording"
    with bar("recording the other table") as progress:
        traces = make_recording(TrainingRequest(settings, out, seed=0), folder, progress)
    there = settings.changed(Hockey, recording=str(folder))
    with bar("learning its modes") as progress:
        learnt = training_data.modes(TrainingRequest(there, out / "other", seed=0), progress)
    print(f"true: drag {DRAG}, airflow sd {AIRFLOW / np.sqrt(2.0):.4f} an axis")
    print_modes("exact record", mode_fitting.fit(sampled(traces), simulator.build().table))
    print_modes("recorded with noise", learnt)
    return there


def policies(settings: Settings, there: Settings, out: Path) -> dict[str, Shooter]:
    """Return the policies of the other table and of ours by name, those of a setting in turn."""
    found = {
        "recorded": trained(there, out / "other", "recorded"),
        "ours": trained(settings, out / "ours", "ours"),
    }
    return {
        f"{setting}, learnt from {name}": found[name][setting]
        for setting in ("cautious", "balanced", "aggressive")
        for name in found
    }


def main() -> None:
    """Record, learn, play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small energies and few shots")
    parser.add_argument("--shots", type=int, help="of a row; 49, or 9 with --quick")
    parser.add_argument("--out", type=Path, default=Path("artifacts/other-table"))
    options, began = parser.parse_args(), time.monotonic()
    settings = catalogue.load_settings()
    if options.quick:
        settings = settings.changed(Energies, **QUICK)
    shooters = policies(settings, learn(settings, options.out), options.out)
    shots = options.shots or (9 if options.quick else 49)
    calm, moving = Disturbance(airflow=AIRFLOW, position_noise=0.0), "moving pucks, no noise"
    at_rest = trials.starts(shots, seed=SEED)
    compare("pucks at rest, 2 mm of noise", shooters, at_rest, disturbance())
    compare(moving, shooters, trials.task_starts("hit", shots, seed=SEED), calm)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
