"""Points of a scene that a depth camera follows: the first of three coupled filters (Sec. IV-A).

Each point is a belief N(p, P) about its place in the camera's frame, z away from the camera. It is
predicted with the motion of the body that it belongs to, and updated by where the camera sees it. A
depth camera's error grows with the square of the distance along the ray, and with the distance
across it (Khoshelham and Elberink 2012, of a camera of this kind).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.filters import kalman

ACROSS = 1.0e-3  # m at a distance of 1 m
ALONG = 1.5e-3  # m at a distance of 1 m
WANDER = 1.0e-3  # m/sqrt(s), of a point on its body
SLACK = 12.0  # squared distance of an observation beyond which it is of something else


@dataclass(frozen=True)
class Features:
    """Beliefs about points; one that was never seen has no finite place."""

    places: Float[ndarray, "point 3"]
    covariances: Float[ndarray, "point 3 3"]

    @property
    def known(self) -> Bool[ndarray, " point"]:
        """Which were seen at all."""
        return np.isfinite(self.places[:, 0])


def noise(places: Float[ndarray, "point 3"]) -> Float[ndarray, "point 3 3"]:
    """Return the covariance with which a depth camera sees points, m^2.

    >>> np.sqrt(np.diagonal(noise(np.array([[0.1, 0.0, 2.0]]))[0])).tolist()
    [0.002, 0.002, 0.006]
    """
    depth = places[:, 2]
    sizes = np.stack([ACROSS * depth, ACROSS * depth, ALONG * depth**2], axis=1)
    return sizes[:, :, None] ** 2 * np.eye(3)


def unseen(count: int) -> Features:
    """Return points of which nothing is known.

    >>> unseen(2).known
    array([False, False])
    """
    return Features(np.full((count, 3), np.nan), np.tile(np.eye(3), (count, 1, 1)))


def predict(
    features: Features,
    rotation: Float[ndarray, "3 3"],
    translation: Float[ndarray, " 3"],
    duration: float,
    spread: Float[ndarray, "point 3 3"],
) -> Features:
    """Return the beliefs after the body moved: p -> R p + t.

    Args:
        rotation, translation: R and t, m.
        duration: s.
        spread: What the body's motion leaves open of each point, m^2.
    """
    moved, covariances = kalman.predict(
        features.places,
        features.covariances,
        transition=rotation,
        noise=spread + WANDER**2 * duration * np.eye(3),
        offset=translation,
    )
    return Features(moved, covariances)


def update(features: Features, seen: Float[ndarray, "point 3"]) -> Features:
    """Return the beliefs after an image.

    Args:
        seen: Where each point is seen, m; not a number where it is not.
    """
    there = np.isfinite(seen).all(axis=1)
    first, again = there & ~features.known, there & features.known
    places, covariances = features.places.copy(), features.covariances.copy()
    places[first], covariances[first] = seen[first], noise(seen[first])
    if again.any():
        found = kalman.update(
            places[again],
            covariances[again],
            seen[again],
            observation=np.eye(3),
            noise=noise(seen[again]),
        )
        kept = found.squared_distance < SLACK
        at = np.flatnonzero(again)[kept]
        places[at], covariances[at] = found.mean[kept], found.covariance[kept]
    return Features(places, covariances)
