"""The law of impact in the axes of the world, with matrices: Eqs. 1-5 of Fu et al. as printed.

M^-1 = 1/m + q q^T / I with q = (-r_y, r_x), for contact velocity v + w q. The condition of Eq. 5 is
that of the candidate's own tangential part.
"""

import numpy as np

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts.recorded import Impacts


def inverse_masses(impacts: Impacts) -> np.ndarray:
    """Return M^-1 of each impact."""
    q = np.stack([-impacts.contact[:, 1], impacts.contact[:, 0]], axis=1)
    point = np.eye(2) / impacts.mass[:, None, None]
    return point + q[:, :, None] * q[:, None, :] / impacts.inertia[:, None, None]


def velocities(impacts: Impacts, motion: np.ndarray) -> np.ndarray:
    """Return the velocity of the contacts relative to the surface, x and y."""
    q = np.stack([-impacts.contact[:, 1], impacts.contact[:, 0]], axis=1)
    return motion[:, :2] + motion[:, 2:] * q - impacts.surface


def impulses(law: Law, impacts: Impacts) -> tuple[np.ndarray, np.ndarray]:
    """Return the impulses, x and y, and whether each impact sticks."""
    e, e_t, mu = law.restitution, law.tangential_restitution, law.friction
    found, sticks = np.empty((len(impacts), 2)), np.empty(len(impacts), dtype=bool)
    inverse, velocity = inverse_masses(impacts), velocities(impacts, impacts.before)
    for i, (w, v, n) in enumerate(zip(inverse, velocity, impacts.normal, strict=True)):
        mass = np.linalg.inv(w)
        p_1 = -(n @ v) / (n @ w @ n) * n
        p_2 = -mass @ v
        p_bar = (1.0 + e) * p_1 + (1.0 + e_t) * (p_2 - p_1)
        sticks[i] = np.linalg.norm(p_bar - n * (n @ p_bar)) <= mu * (n @ p_bar)
        side = np.linalg.norm(p_2 - n * (n @ p_2))
        slid = mu * (1.0 + e) * (n @ p_1) / (side - mu * (n @ (p_2 - p_1))) if not sticks[i] else 0
        k = 1.0 + e_t if sticks[i] else slid
        found[i] = (1.0 + e) * p_1 + k * (p_2 - p_1)
    return found, sticks


def energy(impacts: Impacts, motion: np.ndarray) -> np.ndarray:
    """Return kinetic energies as seen from the surface, J."""
    seen = motion[:, :2] - impacts.surface
    return 0.5 * (impacts.mass * (seen**2).sum(1) + impacts.inertia * motion[:, 2] ** 2)
