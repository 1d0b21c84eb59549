"""Microphone arrays: where the microphones are, how fast they sample, how fast sound travels.

The surface is the plane z = 0 and z points up. Sound travels at c = 331.3 sqrt(1 + T / 273.15) m/s
in dry air at T degrees Celsius. Three microphones fix a point of the plane by two delays (Eqs. 9
and 10 of Matl et al., STReSSD) unless they stand on one line: then the point and its mirror image
across the vertical plane through that line give the same delays.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

LEAST_DISTANCE = 1e-3  # m; closer microphones record the same sound
LEAST_SPREAD = 0.02  # smallest over largest extent of the array, seen from above


@dataclass(frozen=True)
class Microphones:
    """A microphone array.

    Attributes:
        positions: m, one row a channel.
        sample_rate: Hz.
        temperature: Of the air, degrees Celsius.
    """

    positions: Float[ndarray, "channel 3"]
    sample_rate: float
    temperature: float = 20.0

    def __post_init__(self) -> None:
        """Hold the positions as a read-only array of doubles."""
        positions = np.array(self.positions, dtype=np.float64)
        if positions.ndim != 2 or positions.shape[1] != 3:
            raise ValueError(f"positions must have shape (channel, 3), not {positions.shape}")
        if not (math.isfinite(self.sample_rate) and self.sample_rate > 0):
            raise ValueError(f"sample_rate must be positive, not {self.sample_rate}")
        if not -100.0 < self.temperature < 100.0:
            raise ValueError(f"temperature must be in (-100, 100), not {self.temperature}")
        positions.setflags(write=False)
        object.__setattr__(self, "positions", positions)

    @property
    def speed_of_sound(self) -> float:
        """Speed of sound in dry air at the array's temperature, m/s."""
        return 331.3 * math.sqrt(1.0 + self.temperature / 273.15)


def check_layout(positions: Float[ndarray, "channel 3"]) -> None:
    """Refuse positions, in m, that cannot fix a point of the surface.

    >>> check_layout(np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.1], [0.0, 0.3, 0.1]]))

    Raises:
        ValueError: Fewer than three microphones, a position that is not finite, two in one
            place, or all on one line seen from above.
    """
    positions = np.asarray(positions, dtype=np.float64)
    if positions.ndim != 2 or positions.shape[1] != 3 or len(positions) < 3:
        raise ValueError(f"positions must have shape (3 or more, 3), not {positions.shape}")
    if not np.isfinite(positions).all():
        channel = int(np.flatnonzero(~np.isfinite(positions).all(axis=1))[0])
        raise ValueError(f"positions[{channel}] is not finite: {positions[channel].tolist()}")
    first, second = np.triu_indices(len(positions), 1)
    apart = np.linalg.norm(positions[first] - positions[second], axis=1)
    if apart.min() < LEAST_DISTANCE:
        closest = int(apart.argmin())
        pair = (int(first[closest]), int(second[closest]))
        raise ValueError(f"positions {pair[0]} and {pair[1]} coincide: {apart.min():.4g} m apart")
    if spread(positions) < LEAST_SPREAD:
        raise ValueError(
            f"positions are collinear seen from above: spread {spread(positions):.3g}, "
            f"at least {LEAST_SPREAD} needed"
        )


def spread(positions: Float[ndarray, "channel 3"]) -> float:
    """Return how far an array is from standing on one line, where this is 0.

    It is the smallest over the largest singular value of the horizontal positions about their mean.

    >>> square = np.array([[0.0, 0.0, 0.1], [1.0, 0.0, 0.2], [0.0, 1.0, 0.3], [1.0, 1.0, 0.4]])
    >>> round(spread(square), 3), round(spread(square[[0, 3, 3]]), 3)
    (1.0, 0.0)
    """
    horizontal = positions[:, :2] - positions[:, :2].mean(axis=0)
    values = np.linalg.svd(horizontal, compute_uv=False)
    return float(values[-1] / values[0]) if values[0] > 0 else 0.0
