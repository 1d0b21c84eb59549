"""Impacts on the twin board, captured into a table for `ricochet infer impacts`.

python -m ricochet.tasks.systems.batting.capture_impacts FOLDER [--impacts 200]

writes FOLDER/impacts.csv. MuJoCo moves the objects, with contacts of its own; what they are like is
in the twin alone (`hardware.twins.batting.board`).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ricochet.hardware.twins.batting import captured_impacts
from ricochet.hardware.twins.batting.captured_impacts import Camera
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.progress import announce, bar
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems.batting import impact_files

IMPACTS = 200


def make(
    folder: Path,
    *,
    count: int = IMPACTS,
    seed: int = 0,
    noise: float = 1.0,
    progress: Progress = no_progress,
) -> Path:
    """Write the table anew; return its file.

    Args:
        folder: For `impacts.csv`.
        count: Of impacts.
        seed: Of starts, paths of the bat and errors.
        noise: Factor of the camera's deviations; 0: exact.
        progress: Takes how many impacts there are.
    """
    usual = Camera()
    camera = Camera(noise * usual.velocity, noise * usual.spin, noise * usual.place)
    draw = np.random.default_rng(seed)
    impacts = captured_impacts.capture(count, draw, camera=camera, progress=progress)
    file = output_folder(folder) / "impacts.csv"
    impact_files.write(file, impacts)
    return file


def main(words: Sequence[str] | None = None) -> None:
    """Take the words of the command line."""
    parser = argparse.ArgumentParser(description="Capture impacts on the twin board.")
    parser.add_argument("folder", type=Path, help="for impacts.csv")
    parser.add_argument("--impacts", type=_count, default=IMPACTS, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument(
        "--noise", type=_factor, default=1.0, metavar="X", help="times the camera's; 0: exact"
    )
    given = parser.parse_args(words)
    with bar("impacts") as done:
        file = make(
            given.folder,
            count=given.impacts,
            seed=given.seed,
            noise=given.noise,
            progress=done,
        )
    announce(str(file), stream=sys.stdout)


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= impact_files.MOST:
        expected = f"expected a whole number from 1 to {impact_files.MOST}"
        raise argparse.ArgumentTypeError(f"{text!r}, {expected}")
    return int(text)


def _factor(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0.0 <= found <= 100.0:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a number from 0 to 100")
    return found


if __name__ == "__main__":
    main()
