"""Rolling out shots, and how far the Gaussian of the goal line can be trusted.

    python -m benchmarks.air_hockey.shots [--package
    artifacts/train/energy/shooting-cautious/package]

First the time of 3000 x 100 stochastic roll-outs with three choices from them: bank to bank by
tabled flights (ours) and, on a share of the shots, a period at a time (Eq. 8 as it is written) and
100 draws of each shot. Then the goal probability in closed form against shots drawn one by one,
by banks: mean difference (what the closed form promises too much is positive), its root mean
square, that of the draws alone, and the share of shots within three of their standard errors.
Without a package, modes and arm are those of the tests.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from ricochet.models.systems.air_hockey.puck import dynamics
from ricochet.models.systems.air_hockey.shots import crossings, objective
from ricochet.models.systems.air_hockey.shots.objective import SETTINGS, Conditions
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.systems.air_hockey.policies import packages
from tests.oracles import shot_draws
from tests.oracles.hockey_modes import CONDITIONS

STATES, ANGLES = 3000, 100
TARGET = 60.0  # s
CASES, SAMPLES = 40, 2000
LIKELY = 0.2  # goal probability from which on a shot is of interest
AIRFLOW_SD = 0.0707  # m/s^2, 0.1 in a direction that is not known


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, help="learnt modes and strokes to take")
    package = parser.parse_args().package
    conditions = CONDITIONS if package is None else conditions_of(package)
    print_times(conditions)
    print_trust(conditions)


def conditions_of(package: Path) -> Conditions:
    """Return what a package knows, with the aim's usual error."""
    shooter = packages.read(package, key=UNSIGNED)
    return Conditions(
        shooter.modes, shooter.strokes.speed, objective.contact_covariance(), shooter.table
    )


def print_times(conditions: Conditions) -> None:
    """Print what roll-outs cost."""
    draw = np.random.default_rng(0)
    states = objective.draw_states(STATES, airflow_sd=AIRFLOW_SD, draw=draw)
    angles = objective.draw_angles(STATES, ANGLES, draw=draw)
    wall, processor = time.perf_counter(), time.process_time()
    found = objective.exhaustive(conditions, states, angles)
    rows = [objective.take(found, objective.best(setting, found)) for setting in SETTINGS]
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    verdict = "met" if wall <= TARGET else "MISSED"
    print(f"{STATES} x {ANGLES} roll-outs: {wall:.1f} s, {processor:.1f} s of processor", end="")
    print(f", target {TARGET:g} s: {verdict}")
    for name, run, share in (
        ("a period at a time", by_periods, 0.01),
        ("100 draws of each", by_draws, 0.001),
    ):
        count = int(share * STATES)
        before = time.process_time()
        run(conditions, states[:count], angles[:count])
        print(f"  {name}: {(time.process_time() - before) / share:.0f} s of processor")
    print(f"{'setting':12s}{'goal':>8s}{'speed':>8s}{'banks':>8s}{'allowed':>9s}")
    for setting, row in zip(SETTINGS, rows, strict=True):
        kept = objective.feasible(setting, row).mean()
        numbers = f"{row.goal.mean():8.3f}{row.speed.mean():8.2f}{row.banks.mean():8.2f}"
        print(f"{setting.name:12s}{numbers}{kept:9.3f}")


def by_periods(conditions: Conditions, states: np.ndarray, angles: np.ndarray) -> None:
    """Roll out by Eq. 8, all shots for as long as one is on its way."""
    modes, table = conditions.modes, conditions.table
    flat, angle = np.repeat(states, angles.shape[1], 0), angles.reshape(-1)
    normal, speed = objective.contact(conditions, flat, angle)
    mean, spread = objective.launched(conditions, flat, normal, speed)
    for _ in range(crossings.LONGEST):
        mean, spread = dynamics.step(modes, mean, spread, table)


def by_draws(conditions: Conditions, states: np.ndarray, angles: np.ndarray) -> None:
    """Draw every shot."""
    draw = np.random.default_rng(1)
    for state, row in zip(states, angles, strict=True):
        for angle in row[
            objective.contact(conditions, np.tile(state, (len(row), 1)), row)[1] > 0.0
        ]:
            shot_draws.play(conditions, state, float(angle), samples=100, draw=draw)


def print_trust(conditions: Conditions) -> None:
    """Print closed form against draws, by banks."""
    draw = np.random.default_rng(2)
    states = objective.draw_states(CASES, airflow_sd=AIRFLOW_SD, draw=draw)
    angles = objective.draw_angles(CASES, 2 * ANGLES, draw=draw)
    found = objective.exhaustive(conditions, states, angles)
    head = ("shots", "promised", "too much", "rms", "of draws", "within 3")
    print(f"{'banks':12s}" + "".join(f"{name:>10s}" for name in head))
    for banks in range(crossings.MOST_BANKS + 1):
        rows = []
        for i, state in enumerate(states):
            likely = np.flatnonzero((found.banks[i] == banks) & (found.goal[i] > LIKELY))
            if len(likely):
                j = draw.choice(likely)
                angle = float(angles[i, j])
                drawn = shot_draws.play(conditions, state, angle, samples=SAMPLES, draw=draw)
                rows.append((found.goal[i, j], drawn.goal.mean()))
        promised, share = np.array(rows).T
        error = np.sqrt(np.maximum(promised * (1.0 - promised), 1e-3) / SAMPLES)
        off = promised - share
        numbers = (promised.mean(), off.mean(), np.sqrt((off**2).mean()))
        numbers += (np.sqrt((error**2).mean()), (np.abs(off) < 3.0 * error).mean())
        print(f"{banks:<12d}{len(rows):10d}" + "".join(f"{number:10.3f}" for number in numbers))


if __name__ == "__main__":
    main()
