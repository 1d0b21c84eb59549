r"""Which posture, joint speeds and speed a stroke has: a table over where and whither.

For a mallet's centre (x, y) at contact and a shooting angle u the table holds the posture
(`postures`), the ready posture and how long before the contact it is passed (`run_ups`), the
duration from home and the speed v that this stroke reaches: the largest share of what the posture's
joints could do for which the whole stroke, from rest at home to rest again, keeps to the limits.
`stroke_search` finds these. What is interpolated is a start only: the contact's posture is then
moved onto the point exactly, and its joint speeds give exactly the speed promised along u.

Everything is in the robot's frame. (x, y) is the mallet's, not the puck's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from models.planners import mallet_speed, postures, run_ups, stroke_search, via_points
from models.planners.run_ups import Limits
from models.simulators import iiwa

LARGEST_ANGLE = 1.35  # rad
SIDE = 0.464
"""Largest |y| of a mallet's centre at contact, m."""
_MOST = 0.99 * iiwa.USABLE
"""Share of the joints' speed limits that no contact exceeds, whatever is interpolated."""
ENDS = ((0.64, 1.34), (-0.455, 0.455), (-LARGEST_ANGLE, LARGEST_ANGLE))
"""What the table spans: x and y, m, and the shooting angle, rad."""


@dataclass(frozen=True)
class Contact:
    """A stroke's contact and how to get there.

    Attributes:
        joints: Joint angles at contact, rad.
        joint_speeds: At contact, rad/s.
        speed: Of the mallet along the shooting angle, m/s.
        duration: From rest at home to the contact, s.
        ready: Joint angles of the ready posture, rad.
        wind_up: Time from there to the contact, s.
    """

    joints: Float[ndarray, " 7"]
    joint_speeds: Float[ndarray, " 7"]
    speed: float
    duration: float
    ready: Float[ndarray, " 7"]
    wind_up: float


@dataclass(frozen=True)
class Strokes:
    """The table.

    Attributes:
        x: Of the mallet's centre, ascending, m.
        y: Of the mallet's centre, ascending, m.
        angle: Shooting angle, ascending, rad.
        joints: At contact, rad.
        offsets: Joint angles of the ready posture less what `run_ups.ready` gives, rad.
        wind_ups: Time from the ready posture to the contact, s.
        durations: From rest at home to the contact, s.
        speeds: Reached, m/s; 0 where no stroke was found.
    """

    x: Float[ndarray, " x"]
    y: Float[ndarray, " y"]
    angle: Float[ndarray, " u"]
    joints: Float[ndarray, "x y u 7"]
    offsets: Float[ndarray, "x y u 7"]
    wind_ups: Float[ndarray, "x y u"]
    durations: Float[ndarray, "x y u"]
    speeds: Float[ndarray, "x y u"]

    def contact(self, position: Float[ndarray, " 2"], angle: float) -> Contact:
        """Return the stroke that meets a point.

        Args:
            position: Of the mallet's centre, m.
            angle: Shooting angle, rad.

        Raises:
            ValueError: If the point or the angle is not in the table.
        """
        where = np.array((*position, angle))
        if not self.covers(where[:2], where[2]):
            raise ValueError(f"position, angle: {position}, {angle} are not in the table")
        joints = via_points.seek(
            self._between(self.joints, where), np.array((*position, iiwa.TIP_HEIGHT))
        )
        unit = unit_speeds(joints, where[2])
        speed = min(float(self.speed(where[:2], where[2])), float(_MOST / _busiest(unit)))
        wind_up = self._between(self.wind_ups, where)
        ready = run_ups.ready(joints, speed * unit, wind_up=wind_up)
        ready = via_points.level(ready + self._between(self.offsets, where), steps=2)
        duration = float(self._between(self.durations, where))
        return Contact(joints, speed * unit, speed, duration, ready, float(wind_up))

    def speed(
        self, positions: Float[ndarray, "*batch 2"], angles: Float[ndarray, "*batch"]
    ) -> Float[ndarray, "*batch"]:
        """Return the speeds that strokes reach, m/s; 0 outside the table.

        Args:
            positions: Of the mallet's centre, m.
            angles: Shooting angles, rad.
        """
        where = np.concatenate((positions, np.asarray(angles)[..., None]), -1)
        return np.where(self.covers(positions, angles), self._between(self.speeds, where), 0.0)

    def duration(
        self, positions: Float[ndarray, "*batch 2"], angles: Float[ndarray, "*batch"]
    ) -> Float[ndarray, "*batch"]:
        """Return how long strokes take from rest at home to the contact, s.

        Args:
            positions: Of the mallet's centre, m.
            angles: Shooting angles, rad.
        """
        where = np.concatenate((positions, np.asarray(angles)[..., None]), -1)
        return self._between(self.durations, where)

    def covers(
        self, positions: Float[ndarray, "*batch 2"], angles: Float[ndarray, "*batch"]
    ) -> Bool[ndarray, "*batch"]:
        """Return whether points and angles are where strokes may be.

        Args:
            positions: Of the mallet's centre, m.
            angles: Shooting angles, rad.
        """
        inside = (positions[..., 0] >= self.x[0]) & (positions[..., 0] <= self.x[-1])
        inside &= np.abs(positions[..., 1]) <= SIDE
        return inside & (np.abs(angles) <= LARGEST_ANGLE + 1e-9)

    def _between(
        self, values: Float[ndarray, "x y u *each"], where: Float[ndarray, "*batch 3"]
    ) -> Float[ndarray, "..."]:
        """Interpolate linearly along each axis; outside, the nearest inside."""
        cells, shares = [], []
        for axis, knots in enumerate((self.x, self.y, self.angle)):
            place = (where[..., axis] - knots[0]) / (knots[1] - knots[0])
            cell = np.clip(np.nan_to_num(place), 0, len(knots) - 2 + 1e-9).astype(int)
            cells.append(cell)
            shares.append(np.clip(place - cell, 0.0, 1.0))
        total = 0.0
        for corner in np.ndindex(2, 2, 2):
            weight = np.prod(
                [s if c else 1.0 - s for s, c in zip(shares, corner, strict=True)], axis=0
            )
            value = values[tuple(cell + c for cell, c in zip(cells, corner, strict=True))]
            total = total + weight.reshape(weight.shape + (1,) * (values.ndim - 3)) * value
        return np.asarray(total)

    def to_arrays(self) -> dict[str, ndarray]:
        """Return the table as arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def build(
    *,
    counts: tuple[int, int, int] = (9, 11, 13),
    ends: tuple[tuple[float, float], ...] = ENDS,
    steps: tuple[int, int] = (400, 40),
    draw: np.random.Generator,
    limits: Limits | None = None,
    progress: Callable[[float], None] | None = None,
) -> Strokes:
    """Compute the table: about a minute on a core at full size.

    Args:
        counts: Of places in x, y and shooting angle.
        ends: The least and greatest x, y and shooting angle.
        steps: Of the ascent of postures and of the search for run-ups.
        draw: Source of randomness of the search.
        limits: What strokes keep to.
        progress: Told the share of the work done.
    """
    limits = limits or Limits()
    axes = [np.linspace(*end, count) for end, count in zip(ends, counts, strict=True)]
    at_x, at_y, at_angle = np.meshgrid(*axes, indexing="ij")
    points = np.stack((at_x, at_y, 0.0 * at_x + iiwa.TIP_HEIGHT), -1)
    along = direction(at_angle)

    def told(start: float, share: float) -> Callable[[int], None]:
        return lambda step: progress(start + share * step) if progress else None

    joints = postures.climb(
        points, along, limits=limits, steps=steps[0], progress=told(0.0, 0.3 / steps[0])
    )
    unit = unit_speeds(joints, at_angle)
    fastest = 1.0 / (np.abs(unit) / limits.joint_speed).max(-1)
    found = stroke_search.search(
        joints,
        fastest[..., None] * unit,
        limits=limits,
        draw=draw,
        steps=steps[1],
        progress=told(0.3, 0.7 / steps[1]),
    )
    speed = found.share * fastest
    x, y, angle = axes
    return Strokes(x, y, angle, joints, found.offset, found.wind_up, found.duration, speed)


def from_arrays(arrays: Mapping[str, ndarray]) -> Strokes:
    """Return a table from its arrays.

    Args:
        arrays: As `Strokes.to_arrays` gives them.

    Raises:
        ValueError: If one is missing, of another shape, or not finite.
    """
    table = Strokes(**{field.name: np.asarray(arrays[field.name]) for field in fields(Strokes)})
    grid = (len(table.x), len(table.y), len(table.angle))
    for name, value in table.to_arrays().items():
        expected = (value.shape[0],) if name in ("x", "y", "angle") else grid
        if value.shape[: len(expected)] != expected or not np.isfinite(value).all():
            raise ValueError(f"{name}: expected finite values over {expected}, got {value.shape}")
    return table


def unit_speeds(
    joints: Float[ndarray, "*batch 7"], angles: Float[ndarray, "*batch"]
) -> Float[ndarray, "*batch 7"]:
    """Return the joint speeds that move the tip at 1 m/s along an angle.

    Args:
        joints: Joint angles, rad.
        angles: Shooting angles, rad.
    """
    found = mallet_speed.smooth(
        iiwa.pose(joints).jacobian,
        direction(np.asarray(angles)),
        limits=iiwa.SPEED_LIMIT,
        power=postures.POWER,
    )
    return found.joint_speeds / found.speed[..., None]


def _busiest(joint_speeds: Float[ndarray, "*batch 7"]) -> Float[ndarray, "*batch"]:
    return (np.abs(joint_speeds) / iiwa.SPEED_LIMIT).max(-1)


def direction(angles: Float[ndarray, "*batch"]) -> Float[ndarray, "*batch 3"]:
    """Return unit vectors along shooting angles, rad."""
    return np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), -1)
