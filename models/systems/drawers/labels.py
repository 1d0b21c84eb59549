"""What frames of sound are labelled with: mean speed, mean velocity and position of the drawer.

Frames of FRAME samples at SAMPLE_RATE, 64 ms, one after another (Sec. III-A of Baum et al.).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

SAMPLE_RATE = 16_000
FRAME = 1024
PERIOD = FRAME / SAMPLE_RATE  # s
STEPS = 32  # of a frame, over which a track is interpolated
MOVING = 0.05  # m/s, above which a direction is asked for
MOST_MICROPHONES = 16
"""Of a ring: of each two much is kept, for every frame, and computed while it lasts."""


@dataclass(frozen=True)
class Labels:
    """Of consecutive frames.

    Attributes:
        speed: Mean of |v|, m/s.
        velocity: Mean of v, m/s; positive: it opens.
        position: At the end of the frame, m.
    """

    speed: Float[ndarray, " frame"]
    velocity: Float[ndarray, " frame"]
    position: Float[ndarray, " frame"]

    @property
    def moving(self) -> Bool[ndarray, " frame"]:
        """Frames in which it moves."""
        return self.speed > MOVING


def together(parts: Sequence[Labels]) -> Labels:
    """Return the labels of takes one after another.

    >>> one = Labels(np.ones(2), np.ones(2), np.ones(2))
    >>> together([one, one]).speed
    array([1., 1., 1., 1.])
    """
    rows = zip(*(vars(each).values() for each in parts), strict=True)
    return Labels(*(np.concatenate(row) for row in rows))


def of_track(
    times: Float[ndarray, " time"], positions: Float[ndarray, " time"], frames: int
) -> Labels:
    """Return the labels of so many frames from a track of positions.

    >>> found = of_track(np.array([0.0, 1.0]), np.array([0.0, 0.5]), 2)
    >>> found.speed.round(9), found.position.round(9)
    (array([0.5, 0.5]), array([0.032, 0.064]))

    Args:
        times, positions: Of the track, s and m; before and after it the drawer rests.
        frames: How many.
    """
    edges = np.arange(frames * STEPS + 1) * (PERIOD / STEPS)
    at = np.interp(edges, times, positions)
    moved = np.diff(at).reshape(frames, STEPS)
    ends = at[STEPS::STEPS]
    return Labels(np.abs(moved).sum(1) / PERIOD, moved.sum(1) / PERIOD, ends)
