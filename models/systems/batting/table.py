"""The sloping table of Figs. 1 and 3 of Fu et al.: walls, bat, goal, camera.

The origin is the joint of the bat, x points along the bat's rest position and y up the slope, along
which gravity pulls back. Walls stand at x = 0, x = width and y = height. The bat is a line through
the joint, at an angle theta from x, and is sealed to the right wall at every angle, so that an
object lies on its upper side: -x sin(theta) + y cos(theta) >= 0.
"""

import math
from typing import NamedTuple

import numpy as np

LARGEST_ANGLE = math.pi / 6  # rad, of the bat, either way
LARGEST_RATE = 2.0  # rad/s, of the bat
CAMERA_PERIOD = 0.05  # s, between readings
DISTANCES = np.round(np.arange(0.07, 0.155, 0.01), 2)  # m, the columns of Table I


class Table(NamedTuple):
    """What does not change while an object flies; lengths in metres, SI units.

    Attributes:
        width, height: Of the table.
        gravity: Along -y.
        mass: Of every object.
        goal_x, goal_y: Where the centre of mass should pass.
        camera_x, camera_y: Pinhole of the camera, which looks along +x.
        focal_length: Distance of pinhole and screen.
        screen_width: Of the screen line, whose middle is on the optical axis.
        screen_noise: Standard deviation of each end of the projected segment.
    """

    width: float = 10.0
    height: float = 10.0
    gravity: float = 1.0
    mass: float = 0.005
    goal_x: float = 7.0
    goal_y: float = 3.0
    camera_x: float = -5.0
    camera_y: float = 5.0
    focal_length: float = 1.0
    screen_width: float = 2.0
    screen_noise: float = 0.02
