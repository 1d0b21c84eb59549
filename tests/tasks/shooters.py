"""A small shooting policy that is quick to make: coarse strokes and an energy of random weights."""

import numpy as np

from models.core.hockey_table import Table
from models.planners import shots
from models.planners.energy import Energy
from models.planners.strokes import Strokes
from models.simulators import iiwa
from tasks import energy_packages
from tasks.energy_packages import Shooter
from tests.oracles import hockey_modes

HIDDEN = 8
GRID = (4, 5, 7)


def strokes() -> Strokes:
    axes = (np.linspace(0.6, 1.4, 4), np.linspace(-0.5, 0.5, 5), np.linspace(-1.35, 1.35, 7))
    x, y, angle = np.meshgrid(*axes, indexing="ij")
    one = np.ones(GRID)
    joints = np.broadcast_to(iiwa.HOME, (*GRID, 7)).copy()
    speeds = hockey_modes.speed(np.stack((x, y), -1), angle)
    sound = np.ones([count - 1 for count in GRID], bool)
    return Strokes(*axes, joints, 0.0 * joints, 0.2 * one, 1.2 * one, speeds, sound)


def energy(seed: int = 0) -> Energy:
    draw = np.random.default_rng(seed)
    shapes = ((7,), (7, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN,))
    scale, *layers = (draw.normal(size=shape).astype(np.float32) for shape in shapes)
    return Energy(0.0 * scale, np.abs(scale) + np.float32(0.1), *layers)


def shooter(seed: int = 0, setting: int = 1) -> Shooter:
    return Shooter(
        setting=shots.SETTINGS[setting],
        energy=energy(seed),
        modes=hockey_modes.MODES,
        strokes=strokes(),
        table=Table(),
        low=np.append(shots.LOW, -shots.LARGEST_ANGLE),
        high=np.append(shots.HIGH, shots.LARGEST_ANGLE),
    )


def write(folder, seed: int = 0, setting: int = 1) -> Shooter:
    """Write a package of it and return what is in there."""
    made = shooter(seed, setting)
    checks = {"regret": 0.01, "agreement": 0.9, "held_out_history": [4.0, 2.0, 1.5]}
    energy_packages.write(
        made, folder, checks=checks, key=f"key {seed}", git_commit="unknown", settings={"seed": 0}
    )
    return made
