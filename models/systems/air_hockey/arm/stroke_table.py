r"""Which posture, joint speeds and speed a stroke has: a table over place and direction.

For a mallet's centre (x, y) at contact and a shooting angle u the table holds the posture
(`contact_postures`), the start posture and how long before the contact it is passed
(`stroke_path`), the duration from home and the speed v that this stroke reaches: the largest share
of what the posture's joints could do for which the whole stroke, from rest at home to rest again,
keeps to the limits. `stroke_search` finds these. What is interpolated is a start only: the
contact's posture is then moved onto the point exactly, and its joint speeds give exactly the
promised speed along u.

Everything is in the robot's frame. (x, y) is the mallet's, m, not the puck's; angles are in rad,
joint speeds in rad/s, times in s.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines, tip_speed
from ricochet.models.core.multilinear import Cell, between, cell_at
from ricochet.models.core.named_arrays import length, take
from ricochet.models.systems.air_hockey.arm import contact_postures, stroke_path, stroke_search
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits
from ricochet.models.systems.air_hockey.arm.stroke_search import RunUps
from ricochet.models.systems.air_hockey.table import WIDEST_PUSH

SIDE = 0.464
"""Largest |y| of a mallet's centre at contact, m."""
_MOST = 0.99 * iiwa.USABLE
"""Share of the joints' speed limits that no contact exceeds, whatever is interpolated."""
ENDS = ((0.595, 1.34), (-0.455, 0.455), (-WIDEST_PUSH, WIDEST_PUSH))
"""What the table spans: x and y, m, and the shooting angle, rad."""
MOST_PLACES = 1000
"""Along an axis of a stored table."""
_AXES = ("x", "y", "angle")
_PROBES = 3
"""Places at which every cell is tried."""


@dataclass(frozen=True)
class Contact:
    """A stroke's contact (joints, and the mallet's speed along the angle, m/s) and its times, s.

    A mallet that recedes before a puck, or stands, has no positive speed.
    """

    joints: Float[ndarray, " 7"]
    joint_speeds: Float[ndarray, " 7"]
    speed: float
    duration: float
    start_posture: Float[ndarray, " 7"]
    wind_up: float

    @property
    def is_stop(self) -> bool:
        """Whether the puck comes to the mallet, not the mallet to the puck."""
        return self.speed <= 0.0


@dataclass(frozen=True)
class Stroke:
    """Many contacts at once; the fields are those of `Contact`."""

    joints: Float[ndarray, "*batch 7"]
    joint_speeds: Float[ndarray, "*batch 7"]
    speed: Float[ndarray, "*batch"]
    duration: Float[ndarray, "*batch"]
    start_posture: Float[ndarray, "*batch 7"]
    wind_up: Float[ndarray, "*batch"]


@dataclass(frozen=True)
class Strokes:
    """The table.

    Attributes:
        x, y, angle: Of the mallet's centre and of the shot, ascending.
        offsets: Of the start postures from `stroke_path.start_posture`.
        wind_ups, durations: From the start posture and from rest at home to the contact, s.
        speeds: Reached, m/s; 0 where no stroke was found.
        sound: Whether what is interpolated in a cell between eight neighbours keeps to the limits.
    """

    x: Float[ndarray, " x"]
    y: Float[ndarray, " y"]
    angle: Float[ndarray, " u"]
    joints: Float[ndarray, "x y u 7"]
    offsets: Float[ndarray, "x y u 7"]
    wind_ups: Float[ndarray, "x y u"]
    durations: Float[ndarray, "x y u"]
    speeds: Float[ndarray, "x y u"]
    sound: Bool[ndarray, "cx cy cu"]

    def contact(self, position: Float[ndarray, " 2"], angle: float) -> Contact:
        """Return the stroke that meets a point; refuse one that the table does not cover."""
        where = np.array((*position, angle))
        if not self.covers(where[:2], where[..., 2]):
            raise ValueError(f"position, angle: {position}, {angle} are not in the table")
        found = self.stroke(where)
        return Contact(
            found.joints,
            found.joint_speeds,
            float(found.speed),
            float(found.duration),
            found.start_posture,
            float(found.wind_up),
        )

    def stroke(self, where: Float[ndarray, "*batch 3"]) -> Stroke:
        """Return the strokes at places x, y and angles, each interpolated and then made exact."""
        height = np.full((*where.shape[:-1], 1), iiwa.TIP_HEIGHT)
        target = np.concatenate((where[..., :2], height), -1)
        cell = self._cell(where)
        joints = splines.seek(between(self.joints, cell), target)
        unit = unit_speeds(joints, where[..., 2])
        most = _MOST / (np.abs(unit) / iiwa.SPEED_LIMIT).max(-1)
        speed = np.asarray(np.minimum(between(self.speeds, cell), most))
        joint_speeds, wind_up = speed[..., None] * unit, between(self.wind_ups, cell)
        start = stroke_path.start_posture(joints, joint_speeds, wind_up=wind_up)
        start = splines.level(start + between(self.offsets, cell), steps=2)
        duration = between(self.durations, cell)
        return Stroke(joints, joint_speeds, speed, duration, start, wind_up)

    def speed(
        self, positions: Float[ndarray, "*batch 2"], angles: Float[ndarray, "*batch"]
    ) -> Float[ndarray, "*batch"]:
        """Return the speeds that strokes reach, m/s; 0 outside the table."""
        cell = self._cell(_joined(positions, angles))
        possible = self.covers(positions, angles) & self.sound[cell.corner]
        return np.where(possible, between(self.speeds, cell), 0.0)

    def duration(
        self, positions: Float[ndarray, "*batch 2"], angles: Float[ndarray, "*batch"]
    ) -> Float[ndarray, "*batch"]:
        """Return how long strokes take from rest at home to the contact."""
        return between(self.durations, self._cell(_joined(positions, angles)))

    def covers(
        self, positions: Float[ndarray, "*batch 2"], angles: Float[ndarray, "*batch"]
    ) -> Bool[ndarray, "*batch"]:
        """Return whether points and angles are where strokes may be."""
        inside = (positions[..., 0] >= self.x[0]) & (positions[..., 0] <= self.x[-1])
        inside &= np.abs(positions[..., 1]) <= SIDE
        return np.asarray(inside & (np.abs(angles) <= self.angle[-1] + 1e-9))

    def _cell(self, where: Float[ndarray, "*batch 3"]) -> Cell:
        return cell_at((self.x, self.y, self.angle), where)

    def to_arrays(self) -> dict[str, ndarray]:
        """Return the table as arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def build(
    *,
    counts: tuple[int, int, int] = (10, 11, 17),
    ends: tuple[tuple[float, float], ...] = ENDS,
    steps: tuple[int, int] = (400, 40),
    draw: np.random.Generator,
    limits: Limits | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Strokes:
    """Compute the table: about a minute on a core at full size.

    Args:
        counts: Of places in x, y and shooting angle.
        ends: The least and greatest x, y and shooting angle.
        steps: Of the ascent of postures and of the search for run-ups.
    """
    limits = limits or Limits()
    axes = [np.linspace(*end, count) for end, count in zip(ends, counts, strict=True)]
    at_x, at_y, at_angle = np.meshgrid(*axes, indexing="ij")
    points = np.stack((at_x, at_y, 0.0 * at_x + iiwa.TIP_HEIGHT), -1)

    def part(start: float, share: float) -> Callable[[int], None]:
        return lambda step: progress(start + share * step)

    joints = contact_postures.climb(
        points,
        direction(at_angle),
        limits=limits,
        steps=steps[0],
        progress=part(0.0, 0.3 / steps[0]),
    )
    unit = unit_speeds(joints, at_angle)
    fastest = 1.0 / (np.abs(unit) / limits.joint_speed).max(-1)
    found = stroke_search.search(
        joints,
        fastest[..., None] * unit,
        limits=limits,
        draw=draw,
        steps=steps[1],
        progress=part(0.3, 0.7 / steps[1]),
    )
    cells = np.ones([count - 1 for count in counts], bool)
    speeds = found.share * fastest
    x, y, angle = axes
    table = Strokes(x, y, angle, joints, found.offset, found.wind_up, found.duration, speeds, cells)
    return _mended(table, limits, draw)


def _mended(table: Strokes, limits: Limits, draw: np.random.Generator) -> Strokes:
    """Return a table whose strokes are slowed down where they would break the limits in a cell."""
    inside = draw.uniform(0.15, 0.85, (_PROBES, *table.sound.shape, 3))
    inside[0] = 0.5

    def peaks(speeds: Float[ndarray, "x y u"], durations: Float[ndarray, "x y u"]) -> ndarray:
        return _cell_peaks(replace(table, speeds=speeds, durations=durations), inside, limits)

    speeds, durations, sound = stroke_search.mend(table.speeds, table.durations, peaks)
    return replace(table, speeds=speeds, durations=durations, sound=sound)


def from_arrays(arrays: Mapping[str, ndarray]) -> Strokes:
    """Return a table from its arrays, as `Strokes.to_arrays` gives them; refuse others."""
    x, y, angle = (take(arrays, n, (length(arrays, n, most=MOST_PLACES),)) for n in _AXES)
    grid = (len(x), len(y), len(angle))
    postures = {name: take(arrays, name, (*grid, 7)) for name in ("joints", "offsets")}
    numbers = {name: take(arrays, name, grid) for name in ("wind_ups", "durations", "speeds")}
    cells = take(arrays, "sound", tuple(count - 1 for count in grid), dtype=bool)
    return Strokes(x, y, angle, **postures, **numbers, sound=cells)


def unit_speeds(
    joints: Float[ndarray, "*batch 7"], angles: Float[ndarray, "*batch"]
) -> Float[ndarray, "*batch 7"]:
    """Return the joint speeds that move the tip at 1 m/s along an angle."""
    found = tip_speed.smooth(
        iiwa.pose(joints).jacobian,
        direction(np.asarray(angles)),
        limits=iiwa.SPEED_LIMIT,
        power=contact_postures.POWER,
    )
    return found.joint_speeds / found.speed[..., None]


def direction(angles: Float[ndarray, "*batch"]) -> Float[ndarray, "*batch 3"]:
    """Return unit vectors along shooting angles."""
    return np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), -1)


def _joined(
    positions: Float[ndarray, "*batch 2"], angles: Float[ndarray, "*batch"]
) -> Float[ndarray, "*batch 3"]:
    """Return x, y and angle as one row."""
    return np.concatenate((positions, np.asarray(angles)[..., None]), -1)


def _cell_peaks(
    table: Strokes, inside: Float[ndarray, "probe cx cy cu 3"], limits: Limits
) -> Float[ndarray, "cx cy cu"]:
    """Return the largest usage of strokes from home at places inside each cell."""
    corners = np.meshgrid(table.x[:-1], table.y[:-1], table.angle[:-1], indexing="ij")
    sizes = np.array([knots[1] - knots[0] for knots in (table.x, table.y, table.angle)])
    found = table.stroke(np.stack(corners, -1) + inside * sizes)
    start = stroke_path.start_posture(found.joints, found.joint_speeds, wind_up=found.wind_up)
    whole = np.ones_like(found.speed)
    run_up = RunUps(whole, found.wind_up, found.duration, found.start_posture - start)
    peak = stroke_search.peak_usage(run_up, found.joints, found.joint_speeds, limits)
    return np.where(found.speed > 0.0, peak, 0.0).max(0)
