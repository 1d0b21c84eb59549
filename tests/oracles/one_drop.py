"""The likelihood of one drop by brute force: simulate the law many times, average the noise.

Written apart from the package, in numpy, by the plainest means: a von Mises-Fisher draw about z,
turned by a cross product, drawn again while it points down; the measurement's density of (r, P1,
P2), averaged over the drop's common azimuth, which the law leaves uniform:

    p(r, P1, P2 | T1, T2, p1, p2),  r exact as a ratio of two Gaussians with T1 > 0 for sure,
    |z| = |sum_ij Q_ij conj(P_i) p_j|,  Q the inverse of position_sd^2 [[2, -1], [-1, 2]].
"""

import numpy as np
from scipy.special import i0e, logsumexp

START_SD, GRAVITY = 0.1, 9.81


def directions(mean, concentration, draw):
    """One von Mises-Fisher direction about each mean direction, by rejection of downward ones."""
    fresh = _direction(mean, concentration, draw)
    down = np.flatnonzero(fresh[:, 2] <= 0)
    if len(down):
        fresh[down] = directions(mean[down], concentration, draw)
    return fresh


def _direction(mean, concentration, draw):
    uniform, azimuth = draw.random(len(mean)), 2 * np.pi * draw.random(len(mean))
    low = np.exp(-2 * concentration)
    cosine = 1 + np.log(low + uniform * (1 - low)) / concentration
    sine = np.sqrt(np.maximum(0, 1 - cosine**2))
    across = np.cross(mean, np.eye(3)[np.argmin(np.abs(mean), axis=1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    third = np.cross(mean, across)
    return (
        cosine[:, None] * mean
        + (sine * np.cos(azimuth))[:, None] * across
        + (sine * np.sin(azimuth))[:, None] * third
    )


def flights(restitution, concentration, height, count, draw):
    """Durations (count, 2) and displacements (count, 2), complex, of the first two flights."""
    start = START_SD * draw.normal(size=(count, 2))
    velocity = np.column_stack([start, np.full(count, -np.sqrt(2 * GRAVITY * height))])
    times, places = np.empty((count, 2)), np.empty((count, 2), dtype=complex)
    for flight in range(2):
        velocity[:, 2] *= -restitution
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        velocity = speed * directions(velocity / speed, concentration, draw)
        times[:, flight] = 2 * velocity[:, 2] / GRAVITY
        places[:, flight] = (velocity[:, 0] + 1j * velocity[:, 1]) * times[:, flight]
        velocity[:, 2] *= -1
    return times, places


def log_likelihood(observed, theta, *, count, draw):
    """Log density of (r, P1, P2) and its standard error, by `count` simulated drops.

    `observed` is (ratio, first, second, turn, time_sd, position_sd, height), theta (restitution,
    kappa).
    """
    ratio, first, second, turn, time_sd, position_sd, height = observed
    times, places = flights(*theta, height, count, draw)
    logs = _log_ratio(ratio, times, time_sd)
    logs += _log_places(np.array([first, second * np.exp(1j * turn)]), places, position_sd)
    value = logsumexp(logs) - np.log(count)
    weights = np.exp(logs - logs.max())
    return value, weights.std() / weights.mean() / np.sqrt(count)


def _log_ratio(ratio, times, time_sd):
    # P(R < r) = Phi(z), z = (r T1 - T2) / (s c), c^2 = 1 + (1 + r)^2 + r^2; the density is dz/dr
    spread = np.sqrt(1 + (1 + ratio) ** 2 + ratio**2)
    z = (ratio * times[:, 0] - times[:, 1]) / (time_sd * spread)
    slope = times[:, 0] / (time_sd * spread) - z * (1 + 2 * ratio) / spread**2
    return -0.5 * z**2 - 0.5 * np.log(2 * np.pi) + np.log(np.maximum(slope, 1e-300))


def _log_places(observed, places, position_sd):
    inverse = np.array([[2, 1], [1, 2]]) / (3 * position_sd**2)
    own = np.real(np.conj(observed) @ inverse @ observed)
    theirs = np.real(np.einsum("di,ij,dj->d", np.conj(places), inverse, places))
    mixed = np.abs(places @ (inverse @ np.conj(observed)))
    constant = np.log((2 * np.pi) ** 2 * 3 * position_sd**4)
    return np.log(i0e(mixed)) + mixed - 0.5 * (own + theirs) - constant
