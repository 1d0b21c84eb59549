"""The sample that comes with the repository: three recordings of a simulated pendulum.

python -m ricochet.tasks.systems.rigid_bodies.sample FOLDER     makes those that are missing

The pendulum is like the filmed one, and its joints rub: dry friction, which the equations that are
inferred do not have. Its truth is here alone.
"""

import sys
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.swung_pendulum import Camera, Nature, SwungPendulum
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.progress import bar
from ricochet.tasks.storage.files import output_folder, write_bytes
from ricochet.tasks.systems.rigid_bodies.motion_files import ANGLES
from ricochet.tasks.systems.rigid_bodies.motion_tables import TIME

TRUTH = Nature(
    np.array((0.35, 1e-3, 0.1, 0.002, 1e-4, 0.145, 0.35, 7e-4, 0.028, 0.0, 2e-4)),
    dry=np.array((1e-3, 2e-4)),
    departure=np.zeros(4),
    error=np.full(2, 1e-3),
)
CAMERA = Camera(rate=400.0, window=20, substeps=8)
RUNS, SECONDS = 3, 20.0


def make(folder: Path, *, seed: int = 1, progress: Progress = no_progress) -> tuple[Path, ...]:
    """Record the runs that are missing, each apart from the others; return the files of all."""
    files = tuple(output_folder(folder) / f"run-{number}.csv" for number in range(RUNS))
    for number, file in enumerate(files):
        if not file.is_file():
            pendulum = SwungPendulum(TRUTH, CAMERA, draw=np.random.default_rng([seed, number]))
            write_bytes(file, _table(pendulum.swing(SECONDS), CAMERA.rate))
        progress(number + 1, RUNS)
    return files


def _table(angles: Float[ndarray, "frame 2"], rate: float) -> bytes:
    """Return rows of time, s, and angles, rad."""
    rows = (f"{number / rate:.4f},{a:.6f},{b:.6f}" for number, (a, b) in enumerate(angles))
    return ("\n".join((",".join((TIME, *ANGLES)), *rows)) + "\n").encode()


if __name__ == "__main__":
    with bar("sample") as made:
        make(Path(sys.argv[1]), progress=made)
