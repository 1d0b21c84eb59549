"""The episodes to be played for a recording, `ricochet.puck-strokes/1`.

    NAME.npz     `puck`, `joints`, `commands`, `contact` of each episode (`recording_plan.Play`)
    NAME.json    {"schema", "period", "kinds": [..], "sha256", "seed", "instructions": [..]}

Commands are those of the challenge's interface: joint positions and speeds at the end of each
20 ms.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import recording_plan
from ricochet.models.systems.air_hockey.puck.recording_plan import STROKE, Play
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.storage.files import output_folder, sha256, write_arrays, write_json
from ricochet.tasks.systems.air_hockey.recordings import puck_episodes
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.training.steps import TrainingRequest

SCHEMA = "ricochet.puck-strokes/1"
STREAM = 5
"""Of randomness."""
INSTRUCTIONS = (
    "Record puck and mallet at 50 Hz in every episode, for 1.5 s or more, as"
    f" {puck_episodes.SCHEMA}; an episode begins with its first command.",
    "stroke: bring the arm to `joints`, lay the puck down at rest at `puck`, play `commands`, and"
    " hold the last one. The mallet meets the puck at `contact`: place, velocity and time.",
    "throw: leave the arm at `joints` and throw the puck by hand, about from the place and with the"
    " velocity of `puck`; what it does exactly is what is recorded.",
    "throw at the mallet: likewise; the puck must meet the resting mallet before anything else.",
)


def write(request: TrainingRequest, file: Path) -> str:
    """Write the episodes that the settings ask for; return the line that says what to do next."""
    if file.suffix != ".npz":
        raise BadInput(str(file), file.suffix or "no ending", "a file NAME.npz")
    plays = planned(request)
    write_plays(file, plays, seed=request.seed)
    strokes = sum(play.kind == STROKE for play in plays)
    return (
        f"{file}: {strokes} strokes and {len(plays) - strokes} throws; play and record them as"
        f" {file.with_suffix('.json')} says, then: ricochet train energy --set"
        " hockey.recording=FOLDER"
    )


def planned(request: TrainingRequest) -> tuple[Play, ...]:
    """Return the episodes that the settings ask for."""
    settings = request.settings[Hockey]
    draw = np.random.default_rng([request.seed, STREAM])
    return recording_plan.plan(Table(), episodes=settings.episodes, steps=settings.steps, draw=draw)


def write_plays(file: Path, plays: Sequence[Play], *, seed: int) -> None:
    """Write episodes to be played, the arrays and what goes with them."""
    output_folder(file.parent)
    names = ("puck", "joints", "commands", "contact")
    write_arrays(file, {name: np.stack([getattr(play, name) for play in plays]) for name in names})
    content = {
        "schema": SCHEMA,
        "period": PERIOD,
        "kinds": [play.kind for play in plays],
        "sha256": sha256(file),
        "seed": seed,
        "instructions": list(INSTRUCTIONS),
    }
    write_json(file.with_suffix(".json"), content)
