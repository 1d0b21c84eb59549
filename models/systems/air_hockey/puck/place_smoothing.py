r"""Place, rate and acceleration of a body from noisy places: a Kalman filter and its smoother.

Both axes of the table move alike and apart. With s = (place, rate, acceleration) of an axis,

    s' = F s + N(0, Q),     y = place + N(0, r^2),     s_0 ~ N(0, diag(sd)^2),

and where a piece begins, s forgets place and rate, s' = (0, 0, a) + N(0, diag(sd_1, sd_2, 0)^2),
so that one acceleration holds for all pieces. Smoothed states are those of Rauch, Tung and
Striebel, m_k + G (s_k+1 - m'_k+1) with G = P_k F^T P'_k+1^-1.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.filters import kalman

_PLACE = np.eye(1, 3)


@dataclass(frozen=True)
class Motion:
    """How a body moves and is seen.

    Attributes:
        transition, scatter: F and Q of a period.
        noise: r, m.
        sd: Prior standard deviations of place, rate and acceleration.
    """

    transition: Float[ndarray, "3 3"]
    scatter: Float[ndarray, "3 3"]
    noise: float
    sd: tuple[float, float, float]


@dataclass(frozen=True)
class Smoothed:
    """What is known at each sample, given all of them.

    Attributes:
        mean: Place, rate and acceleration of each axis, m, m/s, m/s^2.
        sd: Standard deviations, the same for both axes.
    """

    mean: Float[ndarray, "episode time 2 3"]
    sd: Float[ndarray, "episode time 3"]


@dataclass(frozen=True)
class Filtered:
    """Means and covariances before and after each sample, batch and time first, then the axis.

    Attributes:
        transition: Into each sample.
        log_density: Of each sample given those before; 0 where it was not seen.
    """

    transition: Float[ndarray, "batch time 3 3"]
    before: tuple[ndarray, ndarray]
    after: tuple[ndarray, ndarray]
    log_density: Float[ndarray, "batch time"]


def smooth(
    motion: Motion,
    places: Float[ndarray, "episode time 2"],
    begins: Bool[ndarray, "episode time"],
) -> Smoothed:
    """Return what is known of a body at each sample, pieces beginning where it is said."""
    found = run(motion, places, begins)
    mean, covariance = (part.copy() for part in found.after)
    for k in range(places.shape[1] - 2, -1, -1):
        forward = found.transition[:, k + 1, None]
        ahead, spread = (part[:, k + 1] for part in found.before)
        gain = covariance[:, k] @ np.swapaxes(forward, -1, -2) @ np.linalg.inv(spread)
        change = covariance[:, k + 1] - spread
        mean[:, k] += (gain @ (mean[:, k + 1] - ahead)[..., None])[..., 0]
        covariance[:, k] += gain @ change @ np.swapaxes(gain, -1, -2)
    variance = np.diagonal(covariance[:, :, 0], axis1=-2, axis2=-1)
    return Smoothed(mean, np.sqrt(np.maximum(variance, 0.0)))


def evidence(
    motion: Motion,
    places: Float[ndarray, "episode time 2"],
    begins: Bool[ndarray, "episode time"],
) -> float:
    """Return log p(places), pieces beginning where it is said."""
    return float(run(motion, places, begins).log_density.sum())


def run(
    motion: Motion, places: Float[ndarray, "batch time 2"], begins: Bool[ndarray, "batch time"]
) -> Filtered:
    """Return a Kalman filter's beliefs; places that are NaN were not seen."""
    batch, count, _ = places.shape
    forget, anew = np.diag((0.0, 0.0, 1.0)), np.diag((*np.square(motion.sd[:2]), 0.0))
    new = begins[:, :, None, None]
    transition = np.where(new, forget, motion.transition)
    scatter = np.where(new, anew, motion.scatter)
    mean = np.zeros((batch, 2, 3))
    covariance = np.tile(np.diag(np.square(motion.sd)), (batch, 2, 1, 1))
    before, after, density = [], [], np.zeros((batch, count))
    for k in range(count):
        if k:
            forward, noise = transition[:, k, None], scatter[:, k, None]
            mean, covariance = kalman.predict(mean, covariance, transition=forward, noise=noise)
        before.append((mean, covariance))
        mean, covariance, density[:, k] = _seen(motion, mean, covariance, places[:, k])
        after.append((mean, covariance))
    return Filtered(transition, _stacked(before), _stacked(after), density)


def _seen(
    motion: Motion,
    mean: Float[ndarray, "batch 2 3"],
    covariance: Float[ndarray, "batch 2 3 3"],
    place: Float[ndarray, "batch 2"],
) -> tuple[Float[ndarray, "batch 2 3"], Float[ndarray, "batch 2 3 3"], Float[ndarray, " batch"]]:
    """Return beliefs given places, and their log density; what was not seen changes nothing."""
    seen = np.isfinite(place).all(-1)
    found = kalman.update(
        mean,
        covariance,
        np.where(seen[:, None], place, 0.0)[..., None],
        observation=_PLACE,
        noise=np.array([[motion.noise**2]]),
    )
    return (
        np.where(seen[:, None, None], found.mean, mean),
        np.where(seen[:, None, None, None], found.covariance, covariance),
        np.where(seen, found.log_density.sum(-1), 0.0),
    )


def _stacked(beliefs: list[tuple[ndarray, ndarray]]) -> tuple[ndarray, ndarray]:
    """Return means and covariances with time second."""
    means, covariances = zip(*beliefs, strict=True)
    return np.stack(means, 1), np.stack(covariances, 1)
