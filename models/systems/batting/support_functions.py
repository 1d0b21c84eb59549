"""Support functions of smooth convex shapes as Fourier series.

A convex shape is given by h(psi), the distance from its origin to the tangent whose outward normal
points along psi, in the frame of the body:

    h(psi) = a_0 + sum_k a_k cos(k psi) + b_k sin(k psi)

The tangent touches at h u + h' u', with u = (cos psi, sin psi) and u' its derivative; the radius of
curvature there is h + h''. The shapes of Fig. 2 of Fu et al. are given in this way.
"""

import math

from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.compiled import compiled


@compiled
def evaluate(
    cosines: Float[ndarray, " harmonic"], sines: Float[ndarray, " harmonic"], angle: float
) -> tuple[float, float]:
    """Return h and h' at one angle of the body, in metres and metres per radian."""
    return evaluate_along(cosines, sines, math.cos(angle), math.sin(angle))


@compiled
def evaluate_along(
    cosines: Float[ndarray, " harmonic"], sines: Float[ndarray, " harmonic"], c: float, s: float
) -> tuple[float, float]:
    """Return h and h' along the unit vector (c, s) of the body, in metres and metres per radian.

    Cosines of multiples follow from their two predecessors: cos(k+1)x = 2 cos x cos kx - cos(k-1)x.
    """
    value, slope = cosines[0], 0.0
    c_before, s_before, c_now, s_now = 1.0, 0.0, c, s
    for k in range(1, cosines.shape[0]):
        a, b = cosines[k], sines[k]
        value += a * c_now + b * s_now
        slope += k * (b * c_now - a * s_now)
        c_before, c_now = c_now, 2.0 * c * c_now - c_before
        s_before, s_now = s_now, 2.0 * c * s_now - s_before
    return value, slope
