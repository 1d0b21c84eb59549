"""What air hockey offers."""

from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.interface import System

SYSTEM = System("air_hockey", kinds=(POLICY,))
