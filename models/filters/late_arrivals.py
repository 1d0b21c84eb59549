r"""Where a contact may have been if one of three microphones heard it late.

Three first arrivals give one place r (Eq. 10 of Matl et al., STReSSD). If the direct path to
microphone b is blocked, its first arrival is a reflection whose path is longer by l, and r is
wrong. But the range differences h_b(p) = |p - m_b| - |p - m_i|, h_j(p) = |p - m_j| - |p - m_i| tell

    h_j(p) = h_j(r) + N(0, sd^2),        h_b(p) = h_b(r) - l,      l ~ N(detour, detour_sd^2).

So p is about the solution p* of both at the mean detour, with the covariance J^-1 R J^-T, J being
the Jacobian of (h_j, h_b) at p* and R = diag(sd^2, detour_sd^2). A density in p* becomes one in the
place r that is heard by the factor |dp* / dr| = |det J(r)| / |det J(p*)|. What was heard enters by
r alone: neither the speed of sound nor the times are needed.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

_STEPS = 12
_CONVERGED = 1e-4  # m
_FLATTEST = 0.05  # least |det J|; below, ranges do not tell a place


@dataclass(frozen=True)
class Detour:
    """By how much an arrival off a near surface comes by a longer way.

    Attributes:
        mean: m.
        sd: Standard deviation, m.
        range_sd: Error of the difference of two direct ranges, m, bend of the hyperbola included.
    """

    mean: float = 0.20
    sd: float = 0.07
    range_sd: float = 0.008


@dataclass(frozen=True)
class Place:
    """A place that explains what was heard.

    Attributes:
        mean: m.
        covariance: m^2.
        log_stretch: Log of |dp* / dr|.
    """

    mean: Float[ndarray, " 2"]
    covariance: Float[ndarray, "2 2"]
    log_stretch: float


def places(
    heard: Float[ndarray, " 2"], microphones: Float[ndarray, "3 3"], *, detour: Detour
) -> tuple[Place, ...]:
    """Return where a contact may have been if one of the microphones heard it late.

    Args:
        heard: The place r that the arrivals give, m.
        microphones: Places of the three microphones, m; contacts are at z = 0.
        detour: By how much late arrivals are late.

    Returns:
        A place for each microphone that may have been late; none where no place fits.
    """
    found = (_place(heard, np.roll(microphones, shift, axis=0), detour) for shift in range(3))
    return tuple(place for place in found if place is not None)


def _place(
    heard: Float[ndarray, " 2"], microphones: Float[ndarray, "3 3"], detour: Detour
) -> Place | None:
    """Solve for the place if the last microphone was late, by Newton's method."""
    ranges, first = _differences(heard, microphones)
    wanted = ranges - np.array([0.0, detour.mean])
    point = heard
    for _ in range(_STEPS):
        ranges, jacobian = _differences(point, microphones)
        if abs(_determinant(jacobian)) < _FLATTEST:
            return None
        step = np.linalg.solve(jacobian, wanted - ranges)
        point = point + step * min(1.0, 0.2 / max(math.hypot(*step), 1e-12))
        if math.hypot(*step) < _CONVERGED:
            break
    else:
        return None
    inverse = np.linalg.inv(jacobian)
    spread = inverse @ np.diag([detour.range_sd**2, detour.sd**2]) @ inverse.T
    stretch = abs(_determinant(first)) / abs(_determinant(jacobian))
    return Place(point, spread, math.log(max(stretch, 1e-12)))


def _differences(
    point: Float[ndarray, " 2"], microphones: Float[ndarray, "3 3"]
) -> tuple[Float[ndarray, " 2"], Float[ndarray, "2 2"]]:
    """Ranges to the second and third microphone less that to the first, m, and their Jacobian."""
    away = np.array([point[0], point[1], 0.0]) - microphones
    ranges = np.sqrt((away**2).sum(axis=1))
    towards = away[:, :2] / ranges[:, None]
    return ranges[1:] - ranges[0], towards[1:] - towards[0]


def _determinant(matrix: Float[ndarray, "2 2"]) -> float:
    return float(matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0])
