"""What a drawer sounds like, and what its sound says of each frame: speed, place and direction.

`learning.py` learns it from sessions.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.drawers.belief.place_and_direction import Grammar, Heard
from ricochet.models.systems.drawers.direction import estimator as direction_estimator
from ricochet.models.systems.drawers.direction.estimator import DirectionEstimator
from ricochet.models.systems.drawers.features import Features
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.level import NORMAL
from ricochet.models.systems.drawers.place import estimator as place_estimator
from ricochet.models.systems.drawers.place.estimator import PlaceEstimator, Places
from ricochet.models.systems.drawers.speed import estimator as speed_estimator
from ricochet.models.systems.drawers.speed.estimator import SpeedEstimator, Speeds

AUDIBLE = 0.04  # m/s of the speed's mean, above which a frame says something of the place
LEAST_DEVIATION = 1e-3  # m/s, of a speed


@dataclass(frozen=True)
class Hearing:
    """A drawer's estimators, and the grammar of the joint belief."""

    speed: SpeedEstimator
    place: PlaceEstimator
    direction: DirectionEstimator
    grammar: Grammar


@dataclass(frozen=True)
class Said:
    """What the sound of each frame says by itself.

    Attributes:
        odds: Log odds that the drawer opens, if it moves.
    """

    speeds: Speeds
    places: Places
    odds: Float[ndarray, " frame"]

    def heard(self) -> list[Heard]:
        """Return the frames as the belief takes them."""
        half = (self.speeds.high - self.speeds.mean) / NORMAL  # the lower end may be cut at 0
        deviation = np.where(self.speeds.mean > AUDIBLE, self.places.deviation, np.inf)
        columns = (
            self.speeds.mean,
            np.maximum(half, LEAST_DEVIATION),
            self.places.mean,
            deviation,
            np.full(len(half), PERIOD),
            self.odds,
        )
        return [Heard(*row) for row in np.stack(columns, axis=1).tolist()]


def listen(hearing: Hearing, seen: Features) -> Said:
    """Return what the sound of each frame says by itself."""
    return Said(
        speed_estimator.predict(hearing.speed, seen.speed),
        place_estimator.predict(hearing.place, seen.place),
        direction_estimator.predict(hearing.direction, seen.direction),
    )
