r"""Free flights of the puck in noisy places.

A record at 50 Hz is a row of flights; between two of them the puck was touched. In a flight place,
velocity and airflow of each axis are linear-Gaussian, with drag d, period h and e = exp(-d h):

    x' = x + f v + (h - f) / d a,     v' = e v + f a,     a' = a,     f = (1 - e) / d,

disturbed by a white acceleration of density q, and seen as y = x + N(0, r^2). A flight begins
anywhere on the table, with v ~ N(0, 1.5^2) and a ~ N(0, s^2). So the evidence of samples i..j as
one flight is that of a Kalman filter which starts at i (`place_smoothing`), and the best partition
of an episode follows exactly (Bellman),

    best(j) = max_i  best(i - 1) + log p(y_i..y_j) + log b,    b the chance that a flight begins.

A sample within a contact becomes a flight of its own; a sample that was not seen costs nothing.
d, r, s and q are those of the greatest evidence, in turn with the partition; there, and where
flights are smoothed, all flights of an episode have one airflow.

Optimal partitions: Jackson et al., "An algorithm for optimal partitioning of data on an interval",
IEEE Signal Processing Letters 12 (2005).
"""

from dataclasses import astuple, dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import optimize

from ricochet.models.filters import kalman
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import place_smoothing
from ricochet.models.systems.air_hockey.puck.place_smoothing import Motion
from ricochet.models.systems.air_hockey.table import Table

_SPEED_SD = 1.5  # m/s, of an axis of a puck's velocity where a flight begins
_BEGINS = 0.03  # chance in a period
_ROUNDS = 4  # of partition and law
_LEAST, _MOST = np.log((1e-3, 1e-5, 1e-3, 1e-8)), np.log((5.0, 2e-2, 1.0, 1.0))
"""Of the law's four numbers."""


@dataclass(frozen=True)
class FlightLaw:
    """How pucks fly and are seen.

    Attributes:
        drag: d, 1/s.
        noise: r, of each axis of a place, m.
        airflow_sd: s, of each axis of an episode's airflow, m/s^2.
        scatter: q, density of the white acceleration, m^2/s^3.
    """

    drag: float
    noise: float
    airflow_sd: float
    scatter: float

    @property
    def motion(self) -> Motion:
        """A period of flight."""
        keep = np.exp(-self.drag * PERIOD)
        reach = (1.0 - keep) / self.drag
        pushed = (PERIOD - reach) / self.drag
        matrix = np.array(((1.0, reach, pushed), (0.0, keep, reach), (0.0, 0.0, 1.0)))
        scatter = np.zeros((3, 3))
        scatter[:2, :2] = self.scatter * kalman.white_acceleration(PERIOD)
        return Motion(matrix, scatter, self.noise, (1.0, _SPEED_SD, self.airflow_sd))


def learn(
    places: Float[ndarray, "episode time 2"], table: Table
) -> tuple[FlightLaw, Bool[ndarray, "episode time"]]:
    """Return the law of the greatest evidence, and at which samples flights begin.

    Args:
        places: Of the puck's centre, m; NaN where it was not seen.

    Raises:
        ValueError: If no three places in a row were seen.
    """
    law = FlightLaw(drag=0.3, noise=rough_noise(places), airflow_sd=0.1, scatter=1e-4)
    begins = partition(law, places, table)
    for _ in range(_ROUNDS):
        law = likeliest(law, places, begins)
        before, begins = begins, partition(law, places, table)
        if (begins == before).all():
            break
    return law, begins


def partition(
    law: FlightLaw, places: Float[ndarray, "episode time 2"], table: Table
) -> Bool[ndarray, "episode time"]:
    """Return at which samples flights begin, in the partition of the greatest evidence."""
    return np.stack([_partition(law.motion, episode, table) for episode in places])


def likeliest(
    law: FlightLaw, places: Float[ndarray, "episode time 2"], begins: Bool[ndarray, "episode time"]
) -> FlightLaw:
    """Return the law of the greatest evidence for a partition, sought from another law."""

    def lacking(logs: ndarray) -> float:
        motion = FlightLaw(*np.exp(logs)).motion
        return -place_smoothing.evidence(motion, places, begins)

    found = optimize.minimize(
        lacking,
        np.clip(np.log(astuple(law)), _LEAST, _MOST),
        method="L-BFGS-B",
        bounds=list(zip(_LEAST, _MOST, strict=True)),
        options={"eps": 1e-4, "ftol": 1e-9},
    )
    return FlightLaw(*map(float, np.exp(found.x)))


def rough_noise(places: Float[ndarray, "episode time 2"]) -> float:
    """Return the noise by the median of second differences, which are N(0, 6 r^2) in a flight."""
    bends = np.diff(places, n=2, axis=1)
    bends = bends[np.isfinite(bends)]
    if len(bends) == 0:
        raise ValueError("places: no three in a row were seen")
    sd = np.median(np.abs(bends)) / 0.6745 / np.sqrt(6.0)
    return float(np.clip(sd, *np.exp((_LEAST[1], _MOST[1]))))


def _partition(
    motion: Motion, places: Float[ndarray, "time 2"], table: Table
) -> Bool[ndarray, " time"]:
    """Return at which samples of an episode flights begin."""
    total, seen = _evidence(motion, places, table), np.isfinite(places).all(-1)
    count = len(places)
    best, since = np.zeros(count + 1), np.full(count, -1)
    for j in range(count):
        best[j + 1] = best[j]
        if seen[j]:
            starts = np.flatnonzero(seen[: j + 1])
            found = best[starts] + total[starts, j - starts] + np.log(_BEGINS)
            best[j + 1], since[j] = found.max(), starts[found.argmax()]
    begins, j = np.zeros(count, bool), count - 1
    while j >= 0:
        if seen[j]:
            j = int(since[j])
            begins[j] = True
        j -= 1
    return begins


def _evidence(
    motion: Motion, places: Float[ndarray, "time 2"], table: Table
) -> Float[ndarray, "start length"]:
    """Return log p of the samples from each start on as one flight, by its length less one."""
    count = len(places)
    later = np.arange(count)[:, None] + np.arange(count)
    windows = np.concatenate((places, np.full((count, 2), np.nan)))[later]
    density = place_smoothing.run(motion, windows, np.zeros((count, count), bool)).log_density
    density[:, 0] = -np.log(4.0 * table.half_length * table.half_width)
    return np.cumsum(density, axis=1)
