"""How much of a stroke's planned speed the mallet has while it pushes the puck, by angle.

    OMP_NUM_THREADS=1 python -m benchmarks.air_hockey.stroke_speeds PACKAGE [--strokes 300]

PACKAGE is the folder of a policy (with `shooting.json`), of which strokes and contacts are taken.
Pucks at rest anywhere in reach are struck at angles drawn evenly, by the agent with its filter and
its planner, in still air and without noise, the motors' law not knowing the mallet. The share is
that of the mallet's speed along the contact's normal, `segmentation.PUSH` after the first touch, of
the speed that was planned. Beside it stand the share that `objective.pushing` gives, and by how
much pucks leave faster than they should by it and by one share of 0.96 for all angles. Then the
coefficients of least squares, by the angle alone and with what else might explain the share: the
puck's x, the planned speed, and one over the effective mass of the arm along the normal,
n' J M^-1 J' n.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np

from ricochet.models.arms import iiwa, iiwa_dynamics
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.systems.air_hockey.policies import packages
from tests.oracles import played_strokes
from tests.oracles.played_strokes import Played

PLACES = ((-0.7, -0.2), (-0.38, 0.38))
WIDEST = 1.3  # rad
EDGES = np.linspace(0.0, WIDEST, 7)
CONSTANT = 0.96


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="folder with shooting.json")
    parser.add_argument("--strokes", type=int, default=300, help="that are tried")
    args = parser.parse_args()
    shooter = packages.read(args.package, key=UNSIGNED)
    known = shooter.conditions(aim=0.0)
    found = [one for k in range(args.strokes) if (one := stroke(known, shooter, k)) is not None]
    print_shares(known, found)
    print_fits(found)


def stroke(known: Conditions, shooter: packages.Shooter, number: int) -> Played | None:
    """Play a stroke at a place and an angle drawn by its number; None where there is none."""
    draw = np.random.default_rng((number, 70))
    place, angle = draw.uniform(*np.transpose(PLACES)), float(draw.uniform(-WIDEST, WIDEST))
    if not objective.contact(known, np.append(place, np.zeros(4)), np.array(angle))[1] > 0.0:
        return None
    return played_strokes.play(shooter.modes, shooter.strokes, place, angle, seed=number)


def launch(known: Conditions, one: Played, share: float) -> float:
    """Return how fast a puck should leave along the normal by a share of the planned speed, m/s."""
    speed = np.array([share * one.plan.contact.speed])
    after, _ = objective.launched(known, one.plan.puck[None], one.normal[None], speed)
    return float(after[0, 2:4] @ one.normal)


def print_shares(known: Conditions, found: list[Played]) -> None:
    """Print measured and used shares by angle."""
    angle = np.abs([one.plan.angle for one in found])
    share = np.array([one.pushing / one.plan.contact.speed for one in found])
    used = objective.pushing(angle)
    off = [
        [one.launch - launch(known, one, part) for one, part in zip(found, parts, strict=True)]
        for parts in (used, np.full(len(found), CONSTANT))
    ]
    names = ("strokes", "measured", "se", "used", "leave, m/s", f"by {CONSTANT}")
    print(f"{'angle, rad':12s}" + "".join(f"{name:>12s}" for name in names))
    for low, high in itertools.pairwise(EDGES):
        here = (angle >= low) & (angle < high)
        error = share[here].std(ddof=1) / np.sqrt(here.sum())
        numbers = (
            share[here].mean(),
            error,
            used[here].mean(),
            *(np.mean(np.array(o)[here]) for o in off),
        )
        row = f"{low:.2f} - {high:.2f} {here.sum():12d}"
        print(row + "".join(f"{number:12.4f}" for number in numbers))


def print_fits(found: list[Played]) -> None:
    """Print what least squares gives."""
    share = np.array([one.pushing / one.plan.contact.speed for one in found])
    columns = {
        "angle^2": np.array([one.plan.angle**2 for one in found]),
        "x": np.array([one.plan.puck[0] for one in found]),
        "speed": np.array([one.plan.contact.speed for one in found]),
        "1/mass": np.array([yielding(one) for one in found]),
    }
    for names in (("angle^2",), ("speed",), ("1/mass",), ("angle^2", "x"), tuple(columns)):
        about = np.column_stack([np.ones(len(share)), *(columns[name] for name in names)])
        fitted = np.linalg.lstsq(about, share, rcond=None)[0]
        left = (share - about @ fitted).std()
        said = " ".join(
            f"{value:+.4f} {name}" for value, name in zip(fitted, ("", *names), strict=True)
        )
        print(f"share = {said}: {left:.4f} left of {share.std():.4f}")


def yielding(one: Played) -> float:
    """Return n' J M^-1 J' n of the arm at the contact, 1/kg."""
    joints, normal = one.plan.contact.joints, np.append(one.normal, 0.0)
    pushed = iiwa.pose(joints).jacobian.T @ normal
    return float(pushed @ np.linalg.solve(iiwa_dynamics.inertia(joints), pushed))


if __name__ == "__main__":
    main()
