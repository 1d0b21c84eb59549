"""Impact of a rigid body by Chatterjee and Ruina, with noise: Eqs. 1-6 of Fu et al.

With V the velocity of the contact point relative to the surface before impact, n the surface's
normal, M the mass matrix that the body shows at the contact and r the contact from its centre:

    M^-1 = 1/m + J (1/I) J^T,  J = (-r_t, r_n) in the axes n, t
    P_I = -(n^T V / n^T M^-1 n) n                       (1)   plastic, without friction
    P_II = -M V                                         (2)   plastic, sticking
    P = (1 + e) P_I + k (P_II - P_I)                    (4)
    k = 1 + e_t if |P_bar - n n^T P_bar| <= mu n^T P_bar, with P_bar at k = 1 + e_t     (3, 5)
      = mu (1 + e) n^T P_I / (|P_II - n n^T P_II| - mu n^T (P_II - P_I)) otherwise
    P' = P + epsilon                                    (6)

The printed condition of Eq. 5 has n n^T P_II, which is not the tangential part of the candidate;
the candidate's own part is meant. After any k the normal velocity is -e times that before, since
n^T M^-1 (P_II - P_I) = 0. Noise that would leave the body approaching is mirrored at zero normal
velocity, so that a body always leaves the surface.
"""

import math
from typing import NamedTuple

from ricochet.models.core.compiled import compiled


class Law(NamedTuple):
    """Coefficients of the law and its noise.

    Attributes:
        restitution: e, from 0 to 1.
        tangential_restitution: e_t, from -1 to 1.
        friction: mu, the half-width of the friction cone.
        impulse_noise: Standard deviation of epsilon along each axis, kg m/s.
        normal_share, tangential_share: Further deviation along the normal and across it, as a share
            of the normal impulse.
    """

    restitution: float = 0.95
    tangential_restitution: float = 0.75
    friction: float = 0.8
    impulse_noise: float = 1e-4
    normal_share: float = 0.0
    tangential_share: float = 0.0


class Contact(NamedTuple):
    """Where a body touches and how that point moves, in the axes normal and tangent.

    The tangent is the normal turned by 90 degrees counter-clockwise.

    Attributes:
        mass, inertia: Of the body, kg, and about its centre of mass, kg m^2.
        r_n, r_t: Contact from the centre of mass, m.
        v_n, v_t: Its velocity relative to the surface before impact, m/s; v_n < 0.
    """

    mass: float
    inertia: float
    r_n: float
    r_t: float
    v_n: float
    v_t: float


@compiled
def impulse(law: Law, contact: Contact) -> tuple[float, float]:
    """Return the normal and tangential impulse on the body without noise, kg m/s (Eqs. 1-5)."""
    v_n, v_t = contact.v_n, contact.v_t
    a, b, c = inverse_mass(contact)
    determinant = a * c - b * b
    plastic = -v_n / a
    stick_n = -(c * v_n - b * v_t) / determinant
    stick_t = -(a * v_t - b * v_n) / determinant
    k = 1.0 + law.tangential_restitution
    normal = (1.0 + law.restitution) * plastic + k * (stick_n - plastic)
    if k * abs(stick_t) > law.friction * normal:
        k = law.friction * (1.0 + law.restitution) * plastic
        k /= abs(stick_t) - law.friction * (stick_n - plastic)
        normal = (1.0 + law.restitution) * plastic + k * (stick_n - plastic)
    return normal, k * stick_t


@compiled
def noisy_impulse(law: Law, contact: Contact, z_n: float, z_t: float) -> tuple[float, float]:
    """Return the impulse with noise (Eq. 6), from two standard normal numbers."""
    normal, tangential = impulse(law, contact)
    size = abs(normal)
    d_n = z_n * math.sqrt(law.impulse_noise**2 + (law.normal_share * size) ** 2)
    d_t = z_t * math.sqrt(law.impulse_noise**2 + (law.tangential_share * size) ** 2)
    a, b, _ = inverse_mass(contact)
    leaving = contact.v_n + a * (normal + d_n) + b * (tangential + d_t)
    if leaving < 0.0:
        d_n -= 2.0 * leaving / a
    return normal + d_n, tangential + d_t


@compiled
def inverse_mass(contact: Contact) -> tuple[float, float, float]:
    """Return the entries nn, nt and tt of M^-1, 1/kg."""
    m, moment = 1.0 / contact.mass, 1.0 / contact.inertia
    r_n, r_t = contact.r_n, contact.r_t
    return m + r_t * r_t * moment, -r_n * r_t * moment, m + r_n * r_n * moment
