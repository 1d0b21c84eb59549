"""The outcome of an episode of air hockey, from its record at 1 kHz.

A goal counts where the puck's centre passes the line with |y| below the clean half width; banks are
distinct touches of the long rims between the first touch of the mallet and the line. Limits are
0.95 of the true ones, on what is observed at 50 Hz: joint ranges and speeds, the tip's height and
place, heights of links 4 and 7 (public files of the 2023 Robot Air Hockey Challenge).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.challenge_tasks import HIT, Task
from ricochet.models.systems.air_hockey.simulator import STEP, Episode
from ricochet.models.systems.air_hockey.table import Table

_APART = 0.01  # s without touch between two banks
_SLOWEST = 1e-9  # m/s


@dataclass(frozen=True)
class Outcome:
    """How an episode ended.

    Attributes:
        scored: Whether the puck passed the line without touching a post.
        ended: "line", "returned", "out" or "time".
        y_at_line, speed_at_line: m and m/s; NaN where the puck did not get there.
        banks: Touches of the long rims after the strike.
        struck: When the mallet first touched the puck, s; NaN if never.
        strikes: Distinct touches of the mallet.
        mallet_speed: A millisecond before, m/s.
        mallet_direction: Angle of its velocity then, rad.
        normal: Angle from mallet to puck then, rad.
        launch: Velocity of the puck after the first strike, m/s.
        violations: Kinds of limit that were broken.
        blocked: Whether the opponent touched the puck before it got to the line, or ever.
    """

    scored: bool
    ended: str
    y_at_line: float
    speed_at_line: float
    banks: int
    struck: float
    strikes: int
    mallet_speed: float
    mallet_direction: float
    normal: float
    launch: tuple[float, float]
    violations: tuple[str, ...]
    blocked: bool = False


def over(episode: Episode, task: Task = HIT) -> bool:
    """Return whether the puck has left the table, or the task ends as it says."""
    if not episode.trace:
        return False
    row = episode.trace[-1]
    return not episode.world.table.contains(row[:2]) or task.is_over(row)


def _end(row: Float[ndarray, " 11"], table: Table) -> str:
    """Return how a puck off the line ends an episode of hitting, "time" where it does not."""
    if not table.contains(row[:2]):
        return "out"
    return "returned" if HIT.is_over(row) else "time"


def outcome(episode: Episode) -> Outcome:
    """Return the outcome of an episode, ended or not."""
    trace, table = np.array(episode.trace), episode.world.table
    mallet = np.array(["mallet" in touched for touched in episode.touches])
    first = int(mallet.argmax()) if mallet.any() else -1
    line = _line(trace, table)
    y, speed = (np.nan, np.nan) if line is None else _at_line(trace, line, table)
    banks = _banks(episode, first, len(trace) if line is None else line)
    ended = "line" if line is not None else _end(trace[-1], table)
    blocked = any("opponent" in touched for touched in episode.touches[:line])
    return Outcome(
        bool(abs(y) < table.clean_half_width),
        ended,
        y,
        speed,
        banks,
        np.nan if first < 0 else STEP * (first + 1),
        _starts(mallet),
        *_strike(trace, mallet, first),
        violations(np.array(episode.observed), table),
        blocked,
    )


def violations(observed: Float[ndarray, "period 2 7"], table: Table) -> tuple[str, ...]:
    """Return the kinds of limit that the arm broke, from observed joint positions and speeds."""
    joints, speeds = observed[:, 0], observed[:, 1]
    pose = iiwa.pose(joints)
    x, y, z = np.moveaxis(pose.tip, -1, 0)
    x, off = x + table.robot_base[0], np.abs(z - iiwa.TIP_HEIGHT)
    broken = {
        "joint position": (np.abs(joints) > iiwa.USABLE * iiwa.JOINT_LIMIT).any(),
        "joint speed": (np.abs(speeds) > iiwa.USABLE * iiwa.SPEED_LIMIT).any(),
        "mallet place": ((x < table.mallet_front) | (np.abs(y) > table.mallet_side)).any(),
        "mallet height": (off > iiwa.TIP_TOLERANCE).any(),
        "link height": ((pose.link4 < iiwa.LINK_HEIGHT) | (pose.link7 < iiwa.LINK_HEIGHT)).any(),
    }
    return tuple(kind for kind, found in broken.items() if found)


def _line(trace: Float[ndarray, "time 11"], table: Table) -> int | None:
    """Return the number of the first sample beyond the goal line."""
    beyond = trace[:, 0] >= table.half_length
    return int(beyond.argmax()) if beyond.any() else None


def _at_line(trace: Float[ndarray, "time 11"], line: int, table: Table) -> tuple[float, float]:
    """Return where and how fast the puck passes the line, m and m/s."""
    x, y, _, vx, vy, _ = trace[line, :6]
    back = (x - table.half_length) / max(vx, _SLOWEST)
    return float(y - back * vy), float(np.hypot(vx, vy))


def _banks(episode: Episode, first: int, end: int) -> int:
    """Count distinct touches of either long rim after the strike."""
    if first < 0:
        return 0
    kinds = ("left", "right")
    return sum(
        _starts(np.array([kind in touched for touched in episode.touches[first:end]]))
        for kind in kinds
    )


def _starts(touching: ndarray) -> int:
    """Count runs of touches that are at least `_APART` apart."""
    when = np.flatnonzero(touching)
    return 0 if len(when) == 0 else 1 + int((np.diff(when) > _APART / STEP).sum())


def _strike(
    trace: Float[ndarray, "time 11"], mallet: ndarray, first: int
) -> tuple[float, float, float, tuple[float, float]]:
    """Return speed and direction of the mallet, normal, and the puck's velocity after the touch."""
    if first < 2:
        return np.nan, np.nan, np.nan, (np.nan, np.nan)
    velocity = (trace[first - 1, 6:8] - trace[first - 2, 6:8]) / STEP
    normal = trace[first - 1, :2] - trace[first - 1, 6:8]
    free = ~mallet[first:]
    end = first + int(free.argmax()) if free.any() else len(trace) - 1
    launch = (float(trace[end, 3]), float(trace[end, 4]))
    angles = np.arctan2((velocity[1], normal[1]), (velocity[0], normal[0]))
    return float(np.hypot(*velocity)), float(angles[0]), float(angles[1]), launch
