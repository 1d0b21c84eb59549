"""A rigid body that is followed by its points: the second of three coupled filters (Sec. IV-A).

State: the place t and orientation R of the body, its velocity v and spin w, all in the camera's
frame; the belief is about the error (dt, dr, dv, dw), R being off by exp(dr). A point that lies at
b in the body is at

    p = t + R b

The body moves with constant velocity but for white accelerations; where a joint is believed in, it
moves as the joint does (`constrain`). What it measures are the beliefs about its points.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.spatial.transform import Rotation

from ricochet.models.filters import kalman
from ricochet.models.systems.drawers.kinematics.features import Features

ACCELERATION, TURN = 3.0, 3.0  # m/s^(3/2) and rad/s^(3/2), of the white accelerations
START, START_TURN = 0.3, 0.3  # m/s and rad/s, deviations at first
FEWEST = 4  # points that make a body


@dataclass(frozen=True)
class Body:
    """The belief about a body.

    Attributes:
        points: b of each point; not a number where it is not known yet.
        place, rotation: t, m, and R.
        velocity, spin: m/s and rad/s.
        covariance: Of (dt, dr, dv, dw).
    """

    points: Float[ndarray, "point 3"]
    place: Float[ndarray, " 3"]
    rotation: Float[ndarray, "3 3"]
    velocity: Float[ndarray, " 3"]
    spin: Float[ndarray, " 3"]
    covariance: Float[ndarray, "12 12"]


def born(features: Features) -> Body | None:
    """Return a body that rests in the middle of its points, None where these are too few."""
    known = features.known
    if known.sum() < FEWEST:
        return None
    middle = features.places[known].mean(0)
    sizes = np.repeat([1e-6, 1e-6, START, START_TURN], 3)
    return Body(
        features.places - middle, middle, np.eye(3), np.zeros(3), np.zeros(3), np.diag(sizes**2)
    )


def predict(body: Body, duration: float) -> Body:
    """Return the belief after a time, s."""
    transition = np.eye(12)
    transition[:6, 6:] = duration * np.eye(6)
    rates = np.diag(np.repeat([ACCELERATION, TURN], 3) ** 2)
    noise = np.kron(kalman.white_acceleration(duration), rates)
    return replace(
        body,
        place=body.place + duration * body.velocity,
        rotation=Rotation.from_rotvec(duration * body.spin).as_matrix() @ body.rotation,
        covariance=transition @ body.covariance @ transition.T + noise,
    )


def update(body: Body, features: Features) -> Body:
    """Return the belief after its points were measured; points that are new become its own."""
    known = features.known & np.isfinite(body.points[:, 0])
    if known.sum() >= FEWEST:
        body = _corrected(body, features, known)
    new = features.known & ~np.isfinite(body.points[:, 0])
    points = body.points.copy()
    points[new] = (features.places[new] - body.place) @ body.rotation
    return replace(body, points=points)


def spread(body: Body) -> Float[ndarray, "point 3 3"]:
    """Return how far each point of the body may be off, m^2, by the body's own belief."""
    seen = _observation(np.nan_to_num(body.points) @ body.rotation.T)
    return seen @ body.covariance @ np.swapaxes(seen, 1, 2)


def constrain(
    body: Body, velocity: Float[ndarray, " 3"], spin: Float[ndarray, " 3"], spread: float
) -> Body:
    """Return the belief of a body that a joint lets move in one way alone.

    Args:
        velocity, spin: As the joint moves, m/s and rad/s.
        spread: Deviation of both, a component.
    """
    covariance = body.covariance.copy()
    covariance[6:, :] = covariance[:, 6:] = 0.0
    covariance[6:, 6:] = spread**2 * np.eye(6)
    return replace(body, velocity=velocity, spin=spin, covariance=covariance)


def _corrected(body: Body, features: Features, known: ndarray) -> Body:
    arms = body.points[known] @ body.rotation.T
    observation = _observation(arms)
    left = features.places[known] - body.place - arms
    # Points err by themselves, so that 12 x 12 matrices are enough: the filter's information form.
    weighed = np.linalg.solve(features.covariances[known], observation)
    information = np.linalg.inv(body.covariance) + np.einsum("pki,pkj->ij", observation, weighed)
    covariance = np.linalg.inv(information)
    mean = covariance @ np.einsum("pki,pk->i", weighed, left)
    moved, turned, faster, spun = mean.reshape(4, 3)
    return replace(
        body,
        place=body.place + moved,
        rotation=Rotation.from_rotvec(turned).as_matrix() @ body.rotation,
        velocity=body.velocity + faster,
        spin=body.spin + spun,
        covariance=0.5 * (covariance + covariance.T),
    )


def _observation(arms: Float[ndarray, "point 3"]) -> Float[ndarray, "point 3 12"]:
    """Return the derivatives of points by the error of the body."""
    found = np.zeros((len(arms), 3, 12))
    found[:, :, :3] = np.eye(3)
    found[:, :, 3:6] = -_crosses(arms)
    return found


def _crosses(arms: Float[ndarray, "point 3"]) -> Float[ndarray, "point 3 3"]:
    """Return the matrices of the products with each arm: [b]x v = b x v."""
    found = np.zeros((len(arms), 3, 3))
    x, y, z = arms.T
    found[:, 0, 1], found[:, 0, 2] = -z, y
    found[:, 1, 0], found[:, 1, 2] = z, -x
    found[:, 2, 0], found[:, 2, 1] = -y, x
    return found
