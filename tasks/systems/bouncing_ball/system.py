"""What the bouncing ball offers."""

from ricochet.tasks.systems.bouncing_ball.kinds import DENSITY, POSTERIOR
from ricochet.tasks.systems.interface import System

SYSTEM = System("bouncing_ball", kinds=(POSTERIOR, DENSITY))
