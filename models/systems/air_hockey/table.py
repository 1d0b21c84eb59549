"""The air-hockey table: where its walls, goals and robot are.

Table frame: the origin is the centre of the surface, x points at the goal that is shot at, y to the
left, z up. The robot's base is not turned against it. Lengths from the public files of the 2023
Robot Air Hockey Challenge (tournament, 7 joints); all in metres.
"""

from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray

LARGEST_ANGLE = 1.35  # rad, of shots, either way from the x axis
WIDEST_PUSH = 1.9  # rad, of soft strokes that bring a puck off the own wall


@dataclass(frozen=True)
class Table:
    """The table.

    Attributes:
        half_length, half_width: From the centre to the inner face of an end wall, of a long rim.
        goal_half_width: Of the opening in an end wall.
        clean_half_width: Largest |y| of a puck's centre that passes between the posts untouched.
        robot_base: Of the robot that shoots.
        tip_height: Of the rod's tip over the surface while the mallet glides on it.
        mallet_front: Least x of the mallet's centre, so that it stays off the wall behind it.
        mallet_side: Largest |y| of the mallet's centre.
    """

    half_length: float = 0.974
    half_width: float = 0.519
    goal_half_width: float = 0.125
    clean_half_width: float = 0.093
    puck_radius: float = 0.03165
    mallet_radius: float = 0.04815
    robot_base: tuple[float, float, float] = (-1.51, 0.0, -0.1)
    tip_height: float = 0.0645
    mallet_front: float = -0.92585
    mallet_side: float = 0.47085

    @property
    def contact_radius(self) -> float:
        """Distance of the centres of puck and mallet where they touch."""
        return self.puck_radius + self.mallet_radius

    @property
    def wall_x(self) -> float:
        """Largest |x| of the puck's centre outside the goals."""
        return self.half_length - self.puck_radius

    @property
    def wall_y(self) -> float:
        """Largest |y| of the puck's centre."""
        return self.half_width - self.puck_radius

    def contains(self, place: Float[ndarray, " 2"], margin: float = 0.0) -> bool:
        """Return whether a place is on the table, or off it by at most a margin."""
        x, y = abs(place[0]), abs(place[1])
        return bool(x <= self.half_length + margin and y <= self.half_width + margin)
