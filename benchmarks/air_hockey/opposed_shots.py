"""What each setting chooses past an opponent.

    python -m benchmarks.air_hockey.opposed_shots PACKAGE

Pucks at rest on a grid, to be struck in 1.2 s; an opponent that was watched for two seconds stands
somewhere in goal, or sweeps. Of the best of 181 angles by each setting: in how many pucks there is
one, how many banks it has, its chance of a goal and its speed at the line, and how often `balanced`
goes another way than `cautious`: where a bank goes round an opponent, Eq. 12's weights matter.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy import ndarray

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.opponent.scripts import Sweep
from ricochet.models.systems.air_hockey.opponent.tracker import WINDOW, OpponentTracker
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import SETTINGS, Conditions, Opposed
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE, Table
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.systems.air_hockey.policies import agents, packages

UNTIL = 1.2  # s
ANGLES = np.linspace(-LARGEST_ANGLE, LARGEST_ANGLE, 181)


def main() -> None:
    """Print a row for each opponent and setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="folder of a shooting package")
    shooter = packages.read(parser.parse_args().package, key=UNSIGNED)
    conditions = shooter.conditions(aim=agents.AIM)
    print("opponent              setting     shot  banks   goal    m/s  other banks than cautious")
    for name, opponent in opponents().items():
        for line in rows(conditions, opponent):
            print(f"{name:<22}{line}")
            name = ""


def opponents() -> dict[str, OpponentTracker | None]:
    """Return opponents that were watched for the whole window."""
    found: dict[str, OpponentTracker | None] = {"nobody": None}
    clock = PERIOD * np.arange(WINDOW)
    for y in (0.0, 0.05, 0.1):
        found[f"stands at y {y:.2f} m"] = watched(np.tile((0.8, y), (WINDOW, 1)))
    for phase in np.pi / 3.0 * np.arange(6):
        sweep = Sweep(float(phase))
        places = np.array([sweep.move(t, np.zeros(2))[0] for t in clock])
        found[f"sweeps, phase {phase:.1f}"] = watched(places)
    return found


def watched(places: ndarray) -> OpponentTracker:
    """Return the tracker of a mallet that was seen at places, m."""
    tracker = OpponentTracker(Table())
    for place in places:
        tracker.update(place)
    return tracker


def rows(conditions: Conditions, opponent: OpponentTracker | None) -> list[str]:
    """Return a line for each setting."""
    x, y = np.meshgrid(np.linspace(-0.66, -0.24, 8), np.linspace(-0.36, 0.36, 12))
    states = np.zeros((x.size, 6))
    states[:, 0], states[:, 1] = x.ravel(), y.ravel()
    shape = (len(states), len(ANGLES))
    opposed = None if opponent is None else Opposed(opponent, np.array(UNTIL))
    shots = objective.evaluate(
        conditions,
        np.broadcast_to(states[:, None], (*shape, 6)),
        np.broadcast_to(ANGLES, shape),
        opposed=opposed,
    )
    lines, first = [], np.zeros(len(states))
    for setting in SETTINGS:
        best = objective.take(shots, objective.best(setting, shots))
        kept = objective.feasible(setting, best)
        banks = np.where(kept, best.banks, -1)
        first = banks if setting is SETTINGS[0] else first
        numbers = (part[kept].mean() for part in (best.banks, best.goal, best.speed))
        line = "".join(f"{number:7.2f}" for number in (kept.mean(), *numbers))
        lines.append(f"{setting.name:<10}{line}  {np.count_nonzero(banks != first)}/{len(states)}")
    return lines


if __name__ == "__main__":
    main()
