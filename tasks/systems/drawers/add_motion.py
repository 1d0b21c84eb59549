"""Adds a measured motion to a take of a session that a real rig recorded.

python -m ricochet.tasks.systems.drawers.add_motion SESSION TAKE MOTION.csv [LIGHT_OFF_AT]

MOTION.csv has `time,position` in a row, s in the clock of the sound and m, throughout the take. It
becomes the take's `motion`; what of it is before LIGHT_OFF_AT, s (default: all), its `vision`.
Files are left as they were unless the take can be read with it.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.drawers.labels import SAMPLE_RATE
from ricochet.models.systems.drawers.tracks import Track
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.storage.files import write_bytes
from ricochet.tasks.systems.drawers import sessions, track_files
from ricochet.tasks.systems.drawers.sessions import Session, StatedTake, Take


def add(folder: Path, file: str, motion: Path, light_off_at: float | None = None) -> Take:
    """Add a motion to a take; return the take as it is read with it.

    Raises:
        BadInput: If there is no such take, or the motion cannot be that of its sound.
    """
    session = sessions.read_manifest(folder / MANIFEST)
    place, stated = _found(session, file)
    track, seconds = track_files.read(motion), stated.frames / SAMPLE_RATE
    off = seconds if light_off_at is None else light_off_at
    if not 0.0 < off <= seconds:
        raise BadInput("LIGHT_OFF_AT", f"{off:g} s", f"0 to {seconds:g} s, the length of the take")
    lit = track.times <= off
    number = f"{place:04d}"
    added = replace(
        stated, vision=f"vision-{number}.csv", motion=f"motion-{number}.csv", light_off_at=off
    )
    seen = Track(track.times[lit], track.positions[lit])
    before = {name: _content(folder / str(name)) for name in (added.vision, added.motion)}
    _write(folder, added, seen, track)
    try:
        take = sessions.load(session, added)
    except BadInput:
        _restore(folder, before)
        raise
    takes = [added if each.file == file else each for each in session.takes]
    content = sessions.to_json(session, takes)
    write_bytes(folder / MANIFEST, json.dumps(content, indent=1).encode())
    return take


def _found(session: Session, file: str) -> tuple[int, StatedTake]:
    for place, take in enumerate(session.takes):
        if take.file == file:
            return place, take
    expected = "one of " + ", ".join(take.file for take in session.takes)
    raise BadInput(str(session.folder / MANIFEST), f"no take {file!r}", expected)


def _write(folder: Path, added: StatedTake, seen: Track, track: Track) -> None:
    if len(seen.times) < 2:
        raise BadInput("LIGHT_OFF_AT", f"{added.light_off_at:g} s", "frames of the film before it")
    track_files.write(folder / str(added.vision), seen)
    track_files.write(folder / str(added.motion), track)


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def _restore(folder: Path, before: Mapping[str | None, bytes | None]) -> None:
    """Leave files as they were."""
    for name, content in before.items():
        if content is None:
            (folder / str(name)).unlink(missing_ok=True)
        else:
            write_bytes(folder / str(name), content)


def main(arguments: list[str]) -> int:
    """Add a motion as the command line asks for it; return the exit status."""
    if len(arguments) not in (3, 4):
        print("expected SESSION TAKE MOTION.csv [LIGHT_OFF_AT]", file=sys.stderr)  # noqa: T201
        return 2
    try:
        off = float(arguments[3]) if len(arguments) == 4 else None
        take = add(Path(arguments[0]), arguments[1], Path(arguments[2]), off)
    except (BadInput, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    for line in (f"{take.file}: motion added", *take.notes):
        print(line)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
