"""A table of simulated impacts, to try `ricochet infer impacts` with.

python -m ricochet.tasks.systems.batting.sample FOLDER     writes FOLDER/impacts.csv

Seven shapes hit surfaces that move. The truth is here alone.
"""

import sys
from pathlib import Path

import numpy as np

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import recorded
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.batting import impact_files

TRUTH = Law(0.85, 0.6, 0.35, 0.0, 0.03, 0.05)
IMPACTS = 300


def make(folder: Path, *, law: Law = TRUTH, count: int = IMPACTS, seed: int = 1) -> Path:
    """Write the table if it is missing; return its file."""
    file = output_folder(folder) / "impacts.csv"
    if not file.is_file():
        draw = np.random.default_rng(seed)
        impact_files.write(file, recorded.simulate(law, seven_shapes(), count, draw))
    return file


if __name__ == "__main__":
    make(Path(sys.argv[1]))
