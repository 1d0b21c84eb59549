"""Files of tracks: `time,position` in a row, s and m, of a camera or of a film of a scale."""

from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.drawers import tracks
from ricochet.models.systems.drawers.tracks import Compared, Track
from ricochet.tasks.storage import number_tables
from ricochet.tasks.storage.files import write_bytes

COLUMNS = ("time", "position")
FARTHEST = 2.0
"""Largest opening, m: what is more was written in other units."""
LATEST = 86_400.0
"""Longest time, s: a day."""
LEAST = 0.02
"""Least way between both ends of a track that moves, m."""
AGREE = 0.02
"""m, by which camera and measured motion may differ."""
MOST_A_SECOND = 1000
"""Rows, of a take: those of all takes are kept."""
GAP = 0.5
"""Longest time between frames of a motion that is throughout, s."""


def read(file: Path) -> Track:
    """Read a track.

    Raises:
        BadInput: If it cannot be read, has other columns or units, times do not increase, or the
            drawer jumps.
    """
    expected = "the columns time,position"
    rows = number_tables.read(file, expected)
    if tuple(name.lower() for name in rows.names) != COLUMNS:
        raise BadInput(str(file), rows.shown, expected)
    if len(rows.cells) < 2:
        raise BadInput(str(file), f"{len(rows.cells)} rows", "two at least")
    times, positions = number_tables.numbers(rows, 2).T
    track = Track(times, positions)
    _check_times(file, track)
    _check_positions(file, track)
    return track


def write(file: Path, track: Track) -> None:
    """Write a track."""
    rows = zip(track.times, track.positions, strict=True)
    lines = (f"{time:.6g},{position:.6g}" for time, position in rows)
    write_bytes(file, ("\n".join((",".join(COLUMNS), *lines)) + "\n").encode())


def check_rate(file: Path, track: Track, seconds: float) -> None:
    """Refuse a track of very many rows for a take of so many seconds."""
    if len(track.times) > (most := round(MOST_A_SECOND * (seconds + 1.0))):
        expected = f"at most {most}, {MOST_A_SECOND} a second"
        raise BadInput(str(file), f"{len(track.times)} rows", expected)


def check_throughout(file: Path, track: Track, seconds: float) -> None:
    """Refuse a motion that leaves parts of a take of so many seconds out."""
    ends = np.concatenate([[0.0], track.times, [seconds]])
    gaps = np.diff(ends)
    longest = int(np.argmax(gaps))
    if gaps[longest] > GAP:
        found = f"nothing from {ends[longest]:.2f} to {ends[longest + 1]:.2f} s"
        raise BadInput(str(file), found, f"frames throughout the {seconds:g} s")


def check_lit(file: Path, track: Track, light_off_at: float) -> None:
    """Refuse a camera that saw the drawer in the dark."""
    if track.times[-1] > light_off_at:
        found = f"a frame at {track.times[-1]:.3f} s"
        raise BadInput(str(file), found, f"none after the light went off at {light_off_at:g} s")


def check_agree(file: Path, vision: Track, motion: Track) -> None:
    """Refuse a camera that sees another motion than was measured."""
    measured = np.interp(vision.times, motion.times, motion.positions)
    off = float(np.sqrt(np.mean((vision.positions - measured) ** 2)))
    if off > AGREE:
        found = f"{off:.3f} m (root of the mean square) off the measured motion"
        raise BadInput(str(file), found, f"{AGREE:g} m at most: one zero, one unit, one direction")


def check_on_time(file: Path, compared: Compared, *, seconds: float) -> str | None:
    """Refuse a track that does not go together with the sound; return a note if it hardly does.

    Args:
        seconds: That the track lasts; of a short one a shift is not known well enough for a note.

    Raises:
        BadInput: If it is of another take, late, or of strokes of which nothing is heard.
    """
    if compared.late is None and compared.moves:
        found = "other strokes than are heard" if compared.heard else "strokes that are not heard"
        raise BadInput(str(file), found, "the motion of this take, and sound of it")
    if (late := compared.late) is None:
        return "cannot be compared with the sound: it rests"
    if not tracks.ON_TIME[0] <= late <= tracks.ON_TIME[1]:
        found = f"{abs(late):.2f} s {'late' if late > 0.0 else 'early'} against the sound"
        expected = "the clock of the sound: move its times by that"
        raise BadInput(str(file), found, expected)
    if seconds >= tracks.LONG and not tracks.USUAL[0] <= late <= tracks.USUAL[1]:
        usual = 0.5 * sum(tracks.USUAL)
        side = "late" if late > usual else "early"
        return f"{abs(late - usual):.2f} s {side} against the sound: is its clock the sound's?"
    return None


def _check_times(file: Path, track: Track) -> None:
    back = np.flatnonzero(np.diff(track.times) <= 0.0)
    first, last = float(track.times[0]), float(track.times[-1])
    if first < 0.0 or last > LATEST:
        found = f"a time of {first if first < 0.0 else last:g} s"
        raise BadInput(str(file), found, f"times from 0 to {LATEST:g} s")
    if len(back):
        found = f"{track.times[back[0] + 1]:g} s after {track.times[back[0]]:g} s"
        raise BadInput(f"{file}: frame {back[0] + 2}", found, "times that increase")


def _check_positions(file: Path, track: Track) -> None:
    way = float(np.ptp(track.positions))
    largest = float(np.abs(track.positions).max())
    if largest > FARTHEST:
        expected = f"metres, {FARTHEST:g} at most"
        raise BadInput(str(file), f"a position of {largest:.4g}", expected)
    if way < LEAST:
        found = f"a drawer that moves by {way:.2g} m"
        raise BadInput(str(file), found, f"{LEAST:g} m at least: metres, and a drawer that moves")
    if (jumped := tracks.jump(track)) is not None:
        found = f"{jumped[1]:.3g} m/s at {jumped[0]:.3f} s"
        raise BadInput(str(file), found, f"{tracks.FASTEST:g} m/s at most: a track without jumps")
