r"""Where a contact may have been if its sound reached one of three microphones late.

Three first arrivals give one place r (Eq. 10 of Matl et al., STReSSD). If the direct path to
microphone b is blocked, its first arrival is a reflection whose path is longer by l, and r is
wrong. But the range differences h_b(p) = |p - m_b| - |p - m_i|, h_j(p) = |p - m_j| - |p - m_i| tell

    h_j(p) = h_j(r) + N(0, sd^2),        h_b(p) = h_b(r) - l,      l ~ N(detour, detour_sd^2).

So p is about the solution p* of both at the mean detour, with the covariance J^-1 R J^-T, J being
the Jacobian of (h_j, h_b) at p* and R = diag(sd^2, detour_sd^2). A density in p* becomes one in the
located place r by the factor |dp* / dr| = |det J(r)| / |det J(p*)|. What was detected enters by
r alone: neither the speed of sound nor the times are needed.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

_STEPS = 12
_CONVERGED = 1e-4  # m
_FARTHEST = 0.2  # m, of one step
_FLATTEST = 0.05  # least |det J|; below, ranges do not tell a place


@dataclass(frozen=True)
class Detour:
    """By how much an arrival off a near surface comes by a longer way.

    Attributes:
        mean, sd: m.
        range_sd: Error of the difference of two direct ranges, m, bend of the hyperbola included.
    """

    mean: float = 0.20
    sd: float = 0.07
    range_sd: float = 0.008


@dataclass(frozen=True)
class PositionEstimate:
    """A place, m, that explains what was detected, and the log of |dp* / dr|."""

    mean: Float[ndarray, " 2"]
    covariance: Float[ndarray, "2 2"]
    log_stretch: float


def estimates(
    located: Float[ndarray, " 2"], microphones: Float[ndarray, "3 3"], *, detour: Detour
) -> tuple[PositionEstimate, ...]:
    """Return where a contact may have been if its sound came late to one of three microphones.

    There is an estimate for each microphone that may have been late, none where no place fits.
    """
    x, y = located.tolist()
    rows: list[list[float]] = microphones.tolist()
    found = (_estimate(x, y, rows[-turn:] + rows[:-turn], detour) for turn in range(3))
    return tuple(place for place in found if place is not None)


def _estimate(
    x: float, y: float, microphones: list[list[float]], detour: Detour
) -> PositionEstimate | None:
    """Solve for the place if the last microphone was late, by Newton's method.

    In plain floats: in arrays of two, the calls cost ten times what the arithmetic does.
    """
    first, second, located_slopes = _differences(x, y, microphones)
    second -= detour.mean
    for _ in range(_STEPS):
        f, g, (a, b, c, d) = _differences(x, y, microphones)
        determinant = a * d - b * c
        if abs(determinant) < _FLATTEST:
            return None
        f, g = first - f, second - g
        dx, dy = (d * f - b * g) / determinant, (a * g - c * f) / determinant
        length = math.hypot(dx, dy)
        part = min(1.0, _FARTHEST / max(length, 1e-12))
        x, y = x + part * dx, y + part * dy
        if length < _CONVERGED:
            break
    else:
        return None
    inverse = np.array([[d, -b], [-c, a]]) / determinant
    spread = (inverse * (detour.range_sd**2, detour.sd**2)) @ inverse.T
    a, b, c, d = located_slopes
    stretch = abs((a * d - b * c) / determinant)
    return PositionEstimate(np.array([x, y]), spread, math.log(max(stretch, 1e-12)))


def _differences(
    x: float, y: float, microphones: list[list[float]]
) -> tuple[float, float, tuple[float, float, float, float]]:
    """Ranges to the second and third microphone less that to the first, m, and their Jacobian."""
    away = [(x - p, y - q, z) for p, q, z in microphones]
    ranges = [math.hypot(*way) for way in away]
    east, north = (
        [way[axis] / length for way, length in zip(away, ranges, strict=True)] for axis in (0, 1)
    )
    slopes = (east[1] - east[0], north[1] - north[0], east[2] - east[0], north[2] - north[0])
    return ranges[1] - ranges[0], ranges[2] - ranges[0], slopes
