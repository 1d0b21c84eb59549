"""Recordings of a simulated box that an arm shakes, as files."""

from pathlib import Path

import numpy as np

from ricochet.hardware.twins import shaken_box
from ricochet.models.systems.rigid_bodies import shaking
from ricochet.tasks.systems.rigid_bodies.box_recordings import JOINTS, POINTS
from ricochet.tasks.systems.rigid_bodies.studies.box_placements import TRUTH

PLACES = ((0.09, -0.03), (-0.05, 0.04))
SECONDS = 3.6
NAMES = ("time", *JOINTS, *POINTS)


def table(
    joints: np.ndarray, seed: int, *, weights: tuple[tuple[float, float], ...] = ()
) -> np.ndarray:
    """Columns `NAMES` of a recording."""
    draw = np.random.default_rng(seed)
    points = shaken_box.record(TRUTH, joints, shaking.RATE, draw, weights=weights)
    time = np.arange(len(joints)) / shaking.RATE
    return np.concatenate((time[:, None], joints, points.reshape(len(joints), -1)), 1)


def telling() -> np.ndarray:
    """Joints of the motion that tells most, shortened."""
    return shaking.waves(shaking.TELLING, SECONDS)


def write(file: Path, values: np.ndarray, names: tuple[str, ...] = NAMES) -> Path:
    """Write a recording."""
    np.savetxt(file, values, "%.6f", ",", header=",".join(names), comments="")
    return file
