"""The seven smooth convex shapes of Fig. 2 of Fu et al., with mass properties by integration.

With h the support function, x = h u + h' u' the boundary and rho = h + h'' its radius of curvature,
Green's theorem gives over one turn of the normal psi, for unit density,

    area = 1/2 int h rho,   first moment = 1/3 int x h rho,   polar moment = 1/4 int |x|^2 h rho

The integrands are trigonometric polynomials, for which the trapezoidal rule on enough points is
exact. The paper prints its shapes without their numbers; those of SHAPES are ours.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray

POINTS = 720  # of the boundary: more than four times the highest harmonic, so that sums are exact


class Shapes(NamedTuple):
    """A set of shapes, each with its centre of mass at the origin of its frame.

    Attributes:
        cosines, sines: Fourier series of the support functions, m.
        gyration_squared: Moment of inertia over mass about the centre of mass, m^2.
        radius: Largest distance of the boundary from the centre of mass, m.
        bend: Largest h'', by which a turning shape approaches a wall at most, m.
    """

    cosines: Float[ndarray, "shape harmonic"]
    sines: Float[ndarray, "shape harmonic"]
    gyration_squared: Float[ndarray, " shape"]
    radius: Float[ndarray, " shape"]
    bend: Float[ndarray, " shape"]


SHAPES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "disc": ((0.45,), ()),
    "ellipse": ((0.50, 0.0, 0.12), ()),
    "lozenge": ((0.55, 0.0, 0.10, 0.0, 0.008), ()),
    "triangle": ((0.55, 0.0, 0.0, 0.05), ()),
    "square": ((0.60, 0.0, 0.0, 0.0, 0.03), ()),
    "egg": ((0.50, 0.0, 0.06, 0.025), ()),
    "pebble": ((0.60, 0.0, 0.08, 0.015, 0.005), (0.0, 0.0, 0.0, 0.012, 0.0)),
}


@cache
def seven_shapes() -> Shapes:
    """Return the shapes of the study, in the order of SHAPES."""
    return gather([centred(*_padded(*series)) for series in SHAPES.values()])


def centred(
    cosines: Float[ndarray, " harmonic"], sines: Float[ndarray, " harmonic"]
) -> tuple[Float[ndarray, " harmonic"], Float[ndarray, " harmonic"]]:
    """Return the series of a shape that is moved so that its centre of mass is the origin.

    Raises:
        ValueError: If the series is no smooth convex shape: h or h + h'' is not positive.
    """
    h, _, curvature = support(cosines, sines, _angles())
    if not (h.min() > 0.0 and curvature.min() > 0.0):
        raise ValueError(f"least h {h.min():.4g}, least h + h'' {curvature.min():.4g}: not convex")
    x = boundary(cosines, sines)
    centre = (x * (h * curvature)[:, None]).mean(0) * 2.0 / 3.0 / (h * curvature).mean()
    moved_cosines, moved_sines = cosines.copy(), sines.copy()
    moved_cosines[1] -= centre[0]
    moved_sines[1] -= centre[1]
    return moved_cosines, moved_sines


def gather(
    series: list[tuple[Float[ndarray, " harmonic"], Float[ndarray, " harmonic"]]],
) -> Shapes:
    """Return a set of centred shapes with their mass properties."""
    cosines = np.stack([a for a, _ in series])
    sines = np.stack([b for _, b in series])
    gyration, radius, bend = [], [], []
    for a, b in series:
        h, _, curvature = support(a, b, _angles())
        distance = (boundary(a, b) ** 2).sum(1)
        gyration.append((distance * h * curvature).mean() / (2.0 * (h * curvature).mean()))
        radius.append(np.sqrt(distance.max()) * (1.0 + 1e-4))
        bend.append(max((curvature - h).max(), 0.0) * (1.0 + 1e-3) + 1e-12)
    return Shapes(cosines, sines, np.array(gyration), np.array(radius), np.array(bend))


def support(
    cosines: Float[ndarray, " harmonic"],
    sines: Float[ndarray, " harmonic"],
    angle: Float[ndarray, " angle"],
) -> tuple[Float[ndarray, " angle"], Float[ndarray, " angle"], Float[ndarray, " angle"]]:
    """Return h, h' and the radius of curvature h + h'' at angles of the body."""
    k = np.arange(len(cosines))
    c, s = np.cos(np.outer(angle, k)), np.sin(np.outer(angle, k))
    h = c @ cosines + s @ sines
    slope = c @ (k * sines) - s @ (k * cosines)
    return h, slope, c @ ((1 - k**2) * cosines) + s @ ((1 - k**2) * sines)


def boundary(
    cosines: Float[ndarray, " harmonic"], sines: Float[ndarray, " harmonic"], points: int = POINTS
) -> Float[ndarray, "points 2"]:
    """Return points of the boundary in the frame of the body, m, counter-clockwise."""
    angle = _angles(points)
    h, slope, _ = support(cosines, sines, angle)
    u = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    across = np.stack([-u[:, 1], u[:, 0]], axis=1)
    return h[:, None] * u + slope[:, None] * across


def _angles(points: int = POINTS) -> Float[ndarray, " points"]:
    return np.arange(points) * (2.0 * np.pi / points)


def _padded(
    cosines: tuple[float, ...], sines: tuple[float, ...]
) -> tuple[Float[ndarray, " harmonic"], Float[ndarray, " harmonic"]]:
    harmonics = 1 + max(len(series) - 1 for pair in SHAPES.values() for series in pair)
    padded = np.zeros((2, harmonics))
    padded[0, : len(cosines)] = cosines
    padded[1, : len(sines)] = sines
    return padded[0], padded[1]
