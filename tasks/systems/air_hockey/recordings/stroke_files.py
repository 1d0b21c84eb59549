"""The episodes to be played for a recording, `ricochet.puck-strokes/1`.

    NAME.npz     `puck`, `joints`, `commands`, `contact` of each episode (`recording_plan.Play`)
    NAME.json    {"schema", "period", "kinds": [..], "sha256", "seed", "instructions": [..]}

Commands are those of the challenge's interface: joint positions and speeds at the end of each
20 ms.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import recording_plan
from ricochet.models.systems.air_hockey.puck.recording_plan import STROKE, Play
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.files import (
    output_folder,
    read_regular,
    sha256,
    shown,
    write_arrays,
    write_json,
)
from ricochet.tasks.systems.air_hockey.recordings import episode_checks, puck_episodes
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.training.steps import TrainingRequest

SCHEMA = "ricochet.puck-strokes/1"
STREAM = 5
"""Of randomness."""
LARGEST = 2**28
"""Bytes of a file that was written before."""
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
    """Return the episodes that the settings ask for.

    Raises:
        BadInput: A recording of so many could not be read, or they are too short for a stroke.
    """
    settings = request.settings[Hockey]
    for name, least, most in (
        ("episodes", puck_episodes.FEWEST, puck_episodes.MOST_EPISODES),
        ("steps", recording_plan.LEAST_STEPS, episode_checks.LONGEST),
    ):
        found = getattr(settings, name)
        if not least <= found <= most:
            raise BadInput(f"hockey.{name}", f"{found}", f"{least} to {most}, to be recorded")
    draw = np.random.default_rng([request.seed, STREAM])
    try:
        return recording_plan.plan(
            Table(), episodes=settings.episodes, steps=settings.steps, draw=draw
        )
    except ValueError as error:  # a stroke as slow as may be
        raise BadInput("hockey.steps", f"{settings.steps} ({error})", "more") from error


def write_plays(file: Path, plays: Sequence[Play], *, seed: int) -> None:
    """Write episodes to be played, the arrays and what goes with them.

    Raises:
        BadInput: Another file has one of the two names.
    """
    _refuse_others(file)
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


def _refuse_others(file: Path) -> None:
    """Refuse names that are taken, unless by strokes that were written before."""
    manifest, free = file.with_suffix(".json"), f"a new name, or strokes of {SCHEMA}"
    stated: dict[str, Any] = {}
    if os.path.lexists(manifest):
        stated = _stated(read_regular(manifest, free, largest=limits.TEXT))
        if stated.get("schema") != SCHEMA:
            raise BadInput(shown(manifest), "another file", free)
    if os.path.lexists(file):
        digest = sha256(read_regular(file, free, largest=LARGEST))
        if stated.get("sha256") != digest:
            raise BadInput(shown(file), f"a file that {manifest.name} does not state", free)


def _stated(content: bytes) -> dict[str, Any]:
    """Return an object of JSON, an empty one of anything else."""
    try:
        return checked_json.parse_object(content, "a manifest of strokes")
    except BadInput:
        return {}
