"""A trial of batting as pictures and a film.

    python -m ricochet.tasks.systems.batting.film FOLDER [--seconds 30]

Ours plays a trial by the camera alone. FOLDER then holds `problem.png` and `shapes.png` (as Figs. 1
and 2 of Fu et al.), `entropy.png` (Figs. 4 and 5), `trial.png` (Figs. 3, 6 and 7) and `trial.gif`.
"""

import argparse
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from ricochet.models.systems.batting import trial
from ricochet.models.systems.batting.belief import flights
from ricochet.models.systems.batting.belief.localiser import FilterSettings
from ricochet.models.systems.batting.planning import looking, policies
from ricochet.models.systems.batting.planning.looking import FREQUENCIES, entropy
from ricochet.models.systems.batting.table import CAMERA_PERIOD, Table
from ricochet.models.systems.batting.trial import Frame
from ricochet.models.systems.batting.world import World, paper_world
from ricochet.tasks.console.progress import bar
from ricochet.tasks.figures import style
from ricochet.tasks.storage.files import output_folder, write_bytes
from ricochet.tasks.systems.batting.figures import problem, scenes
from ricochet.tasks.systems.batting.studies.rows import DELTA, policy

SEED = 7
EVERY = 4  # frames of the camera to one of the film
TWO_STEPS = 30.0  # s, of the trial in two steps
SHOWN = (0.0, 0.1, 0.2, 0.5, 1.0)  # shares of the trial, of the strip's pictures


def make(folder: Path, seconds: float = 30.0, seed: int = SEED) -> None:
    """Play a trial and write its pictures and its film."""
    place, frames = output_folder(folder), list[Frame]()
    planned = paper_world(np.random.default_rng(seed + 1))
    start = trial.random_start(seed, 0, seconds, planned.table.screen_noise)
    with bar("trial") as progress:

        def watch(frame: Frame) -> None:
            frames.append(frame)
            progress(len(frames), len(start.screen))

        draw = np.random.default_rng(seed + 2)
        ours = policy("ours", known=False, seconds=seconds)
        trial.run(start, ours, FilterSettings(), planned, draw, watch)
    chosen = [frames[round(share * (len(frames) - 1))] for share in SHOWN]
    figures = {
        "problem": problem.problem(planned, DELTA, two_steps(planned, seed)),
        "shapes": scenes.seven(),
        "entropy": _entropy(frames, planned),
        "trial": scenes.strip(chosen, planned.table, DELTA),
    }
    style.write(place, figures)
    write_bytes(place / "trial.gif", film(frames[::EVERY], planned.table))


def two_steps(planned: World, seed: int) -> list[Frame]:
    """Return the frames of a trial of row B, from its second look to the end of the bat after it.

    The first look is still without a belief.
    """
    frames = list[Frame]()
    start = trial.random_start(seed, 1, TWO_STEPS, planned.table.screen_noise)
    by_steps = policy("B", known=False, seconds=TWO_STEPS)
    draw = np.random.default_rng(seed + 3)
    trial.run(start, by_steps, FilterSettings(), planned, draw, frames.append)
    turns = [k for k in range(1, len(frames)) if frames[k].look != frames[k - 1].look]
    first, last = (turns[1], turns[3]) if len(turns) > 3 else (0, len(frames) - 1)
    return frames[first : last + 1]


def film(frames: list[Frame], table: Table) -> bytes:
    """Return frames as an animated GIF at the speed of the trial."""
    pictures = []
    with bar("film") as progress:
        for number, frame in enumerate(frames):
            figure = Figure(figsize=(4.2, 4.4), layout="constrained")
            scenes.scene(figure.subplots(), frame, table, DELTA)
            pictures.append(Image.fromarray(style.to_pixels(figure)).quantize(64))
            progress(number + 1, len(frames))
    content = io.BytesIO()
    pictures[0].save(
        content,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 * EVERY * CAMERA_PERIOD),
        loop=0,
        optimize=True,
    )
    return content.getvalue()


def _entropy(frames: list[Frame], planned: World) -> Figure:
    """Return the entropy over a trial, and ahead of an instant in its middle."""
    middle = frames[len(frames) // 2]
    draw = np.random.default_rng(0)
    sampled = policies.sample(middle.cloud, policies.LOOK_PARTICLES, planned, draw)
    look = looking.best_look(sampled, middle.angle, policies.LOOK_STEPS, planned)
    over_time = np.array([entropy(flights.position(frame.cloud)[1]) for frame in frames])
    times = np.array([frame.time for frame in frames])
    names = [f"{frequency:.1f}" for frequency in FREQUENCIES]
    return scenes.entropies(over_time, times, look.entropies, names, CAMERA_PERIOD)


def main(words: Sequence[str] | None = None) -> None:
    """Take the words of the command line."""
    parser = argparse.ArgumentParser(description="Draw a trial of batting, and film it.")
    parser.add_argument("folder", type=Path, help="for pictures and trial.gif")
    parser.add_argument("--seconds", type=_seconds, default=30.0, metavar="S", help="of the trial")
    given = parser.parse_args(words)
    make(given.folder, given.seconds)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 1.0 <= found <= 600.0:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a number from 1 to 600")
    return found


if __name__ == "__main__":
    main()
