"""What a trial of batting leaves behind: telemetry of readings, belief, bat and passes."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.belief import flights
from ricochet.models.systems.batting.belief.particles import Cloud
from ricochet.models.systems.batting.table import DISTANCES
from ricochet.tasks.storage.telemetry import NUMBER, TEXT, Channels, Telemetry, numbers

CHANNELS: Channels = {
    "camera": {"lower": NUMBER, "upper": NUMBER},
    "belief": {
        "position": numbers(2),
        "deviation": numbers(2),
        "shape": {"type": "integer"},
        "shape_probability": NUMBER,
    },
    "bat": {"angle": NUMBER, "target": NUMBER, "look": {"type": "boolean"}},
    "fault": {"line": TEXT},
    "trial": {"passes": numbers(len(DISTANCES)), "bats": {"type": "integer"}},
}
"""Messages of a trial; SI units, angles in radians. `passes` has a number for each distance of
Table I of Fu et al."""


def seen(
    log: Telemetry,
    now: float,
    reading: Float[ndarray, " 2"],
    cloud: Cloud | None,
    faults: Sequence[str],
) -> None:
    """Write a reading, what is believed after it, and what was wrong with it."""
    if np.isfinite(reading).all():
        log.write("camera", time=now, lower=float(reading[0]), upper=float(reading[1]))
    for line in faults:
        log.write("fault", time=now, line=line)
    if cloud is None:
        return
    mean, covariance = flights.position(cloud)
    shares = np.bincount(cloud.kinds, cloud.weights)
    log.write(
        "belief",
        time=now,
        position=mean.tolist(),
        deviation=np.sqrt(np.diag(covariance)).tolist(),
        shape=int(shares.argmax()),
        shape_probability=float(min(shares.max(), 1.0)),
    )
