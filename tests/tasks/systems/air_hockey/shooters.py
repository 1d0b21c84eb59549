"""A small shooting policy that is quick to make: coarse strokes and an energy of random weights."""

import numpy as np

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.energy_network import Energy
from ricochet.models.systems.air_hockey.table import LARGEST_ANGLE, Table
from ricochet.tasks.systems.air_hockey.policies import packages
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from tests.oracles import hockey_modes

HIDDEN = 8
GRID = (4, 5, 7)


def strokes() -> Strokes:
    axes = (
        np.linspace(0.6, 1.4, 4),
        np.linspace(-0.5, 0.5, 5),
        LARGEST_ANGLE * np.linspace(-1.0, 1.0, 7),
    )
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
        setting=objective.SETTINGS[setting],
        energy=energy(seed),
        modes=hockey_modes.MODES,
        strokes=strokes(),
        table=Table(),
        low=np.append(objective.LOW, -LARGEST_ANGLE),
        high=np.append(objective.HIGH, LARGEST_ANGLE),
    )


def write(folder, seed: int = 0, setting: int = 1) -> Shooter:
    """Write a package of it and return what is in there."""
    made = shooter(seed, setting)
    checks = {"regret": 0.01, "agreement": 0.9, "held_out_history": [4.0, 2.0, 1.5]}
    packages.write(
        made, folder, checks=checks, key=f"key {seed}", git_commit="unknown", settings={"seed": 0}
    )
    return made
