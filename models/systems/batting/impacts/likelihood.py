"""Likelihood of measured impulses under the law of impact (Eqs. 1-6 of Fu et al.) and its noise.

With P the law's impulse, d = J - P its error and s the shares of |P_n| that are the deviations,

    p(J) = (1 - q) N(d; 0, diag(s_n P_n, s_t P_n)^2) (1 + mirrored) + q T(J)

Noise that would leave the body approaching is mirrored at zero normal velocity (`impact_law`): a
body that leaves the surface at the speed L may also come from the error d_n - 2 L / (M^-1)_nn,
which is `mirrored`. T is Cauchy's density in the plane about 1.5 times the plastic impulse, as wide
as the plastic impulse, the same for all parameters: an impact far from the law, as a wrong row is,
says nothing of the law. A share q of 1 % is expected to be such.
"""

import math

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.impact_law import Contact, Law, impulse, inverse_mass

OUTLIERS = 0.01
"""Share of the impacts that are expected to be far from the law."""
LEAST_SIZE = 1e-6  # of |P_n| in plastic impulses, for the deviations


@compiled
def log_likelihoods(
    theta: Float[ndarray, "draw 5"],
    contacts: Float[ndarray, "impact 6"],
    observed: Float[ndarray, "impact 2"],
) -> Float[ndarray, " draw"]:
    """Return the log likelihood of each draw.

    Args:
        theta: Restitution, tangential restitution, friction, and the shares of noise.
        contacts: Entries of a `Contact`, each.
        observed: Impulses, normal and tangential, kg m/s.
    """
    found = np.zeros(len(theta))
    for i in range(len(contacts)):
        row = contacts[i]
        contact = Contact(row[0], row[1], row[2], row[3], row[4], row[5])
        outlier = log_outlier(contact, observed[i, 0], observed[i, 1])
        for j in range(len(theta)):
            law = Law(theta[j, 0], theta[j, 1], theta[j, 2], 0.0, theta[j, 3], theta[j, 4])
            core = log_core(law, contact, observed[i, 0], observed[i, 1])
            high = max(core, outlier)
            found[j] += high + math.log(math.exp(core - high) + math.exp(outlier - high))
    return found


@compiled
def outlier_probabilities(
    theta: Float[ndarray, "draw 5"],
    contacts: Float[ndarray, "impact 6"],
    observed: Float[ndarray, "impact 2"],
) -> Float[ndarray, " impact"]:
    """Return the probability that an impact is far from the law, over some draws."""
    found = np.zeros(len(contacts))
    for i in range(len(contacts)):
        row = contacts[i]
        contact = Contact(row[0], row[1], row[2], row[3], row[4], row[5])
        outlier = log_outlier(contact, observed[i, 0], observed[i, 1])
        for j in range(len(theta)):
            law = Law(theta[j, 0], theta[j, 1], theta[j, 2], 0.0, theta[j, 3], theta[j, 4])
            core = log_core(law, contact, observed[i, 0], observed[i, 1])
            found[i] += 1.0 / (1.0 + math.exp(min(core - outlier, 700.0))) / len(theta)
    return found


@compiled
def log_core(law: Law, contact: Contact, j_n: float, j_t: float) -> float:
    """Return the log density of an impulse that is as the law and its noise say."""
    a, b, _ = inverse_mass(contact)
    p_n, p_t = impulse(law, contact)
    size = max(abs(p_n), -LEAST_SIZE * contact.v_n / a)
    s_n, s_t = law.normal_share * size, law.tangential_share * size
    d_n, d_t = j_n - p_n, (j_t - p_t) / s_t
    leaving = max(contact.v_n + a * j_n + b * j_t, 0.0)
    mirrored = (d_n - 2.0 * leaving / a) / s_n
    d_n /= s_n
    folded = math.log(1.0 + math.exp(min(0.5 * (d_n * d_n - mirrored * mirrored), 700.0)))
    density = -0.5 * (d_n * d_n + d_t * d_t) - math.log(2.0 * math.pi * s_n * s_t)
    return math.log(1.0 - OUTLIERS) + density + folded


@compiled
def log_outlier(contact: Contact, j_n: float, j_t: float) -> float:
    """Return the log density of an impulse that is far from the law."""
    width = -contact.v_n / inverse_mass(contact)[0]
    away = ((j_n - 1.5 * width) ** 2 + j_t * j_t) / (width * width)
    return math.log(OUTLIERS / (2.0 * math.pi * width * width)) - 1.5 * math.log(1.0 + away)
