"""What a camera's track says at the end of each frame: a joint whose opening is measured.

A recorded session has no points of a scene but one track, `time,position`. It moves the filter of a
prismatic joint (Eq. 3) whose axis is known, as the filters of a whole scene would.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.filters import kalman
from ricochet.models.systems.drawers.kinematics.joints import Joint, Kind
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.tracking.pace import Seen
from ricochet.models.systems.drawers.tracking.paper_fusion import Lit, Velocities
from ricochet.models.systems.drawers.tracks import Track

PLACE, VELOCITY = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
STALE = 0.1  # s without an image from which the drawer is not seen
LEAST_NOISE = 5e-4  # m
START = 1.0  # m/s, deviation of the velocity at first
ACCELERATION = 1.0  # m/s^(3/2): a stroke that begins within a third of a second


def follow(
    track: Track, noise: float, light_off: float, heard: Velocities | None = None
) -> tuple[Lit, list[Seen | None]]:
    """Return the joint at the end of each lit frame, and where the drawer is seen there.

    Args:
        track: Of the camera, while there was light.
        noise: Deviation of one of its positions, m.
        light_off: When the light went off, s.
        heard: By the sound of each frame, which the joint then takes as well; None: none.
    """
    size = max(noise, LEAST_NOISE)
    mean, covariance = np.array([track.positions[0], 0.0]), np.diag([size, START]) ** 2
    ends = PERIOD * np.arange(1, int(light_off / PERIOD) + 1)
    found, seen, at, image = [], [], float(track.times[0]), 1
    for frame, end in enumerate(ends.tolist()):
        while image < len(track.times) and track.times[image] <= end:
            mean, covariance = _ahead(mean, covariance, float(track.times[image]) - at)
            place = float(track.positions[image])
            mean, covariance = _measured(mean, covariance, PLACE, place, size)
            at, image = float(track.times[image]), image + 1
        fresh = abs(end - float(track.times[image - 1])) <= STALE
        now, spread = _ahead(mean, covariance, max(end - at, 0.0))
        if heard is not None:
            now, spread = _measured(
                now, spread, VELOCITY, float(heard.mean[frame]), heard.deviation
            )
            mean, covariance, at = now, spread, max(end, at)
        found.append(_joint(now, spread))
        seen.append(Seen(float(now[0]), float(np.sqrt(spread[0, 0]))) if fresh else None)
    return Lit(found), seen


def _ahead(
    mean: Float[ndarray, " 2"], covariance: Float[ndarray, "2 2"], duration: float
) -> tuple[Float[ndarray, " 2"], Float[ndarray, "2 2"]]:
    """Return position and velocity after a time, s: even but for a white acceleration."""
    transition = np.array([[1.0, duration], [0.0, 1.0]])
    noise = ACCELERATION**2 * kalman.white_acceleration(duration)
    return kalman.predict(mean, covariance, transition=transition, noise=noise)


def _measured(
    mean: Float[ndarray, " 2"],
    covariance: Float[ndarray, "2 2"],
    observation: Float[ndarray, "1 2"],
    value: float,
    deviation: float,
) -> tuple[Float[ndarray, " 2"], Float[ndarray, "2 2"]]:
    """Return position and velocity after one of them was measured."""
    noise = np.array([[deviation**2]])
    found = kalman.update(mean, covariance, np.array([value]), observation=observation, noise=noise)
    return found.mean, found.covariance


def _joint(mean: Float[ndarray, " 2"], covariance: Float[ndarray, "2 2"]) -> Joint:
    """Return a position and velocity as a prismatic joint whose axis is known."""
    spread = np.diag([1e-12, 1e-12, 0.0, 0.0])
    spread[2:, 2:] = covariance
    return Joint(Kind.PRISMATIC, np.array([0.0, 0.0, *mean]), spread, 0.0, np.zeros(6))
