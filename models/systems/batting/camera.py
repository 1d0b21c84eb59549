"""The line camera of Fig. 3 of Fu et al.: both ends of the object's projection on the screen line.

With d the object's centre seen from the pinhole and u a unit vector, the tangent with normal u
passes through the pinhole where

    u . d + h(u, in the frame of the body) = 0

The two roots, by Newton's method from those of a disc, are the outermost rays that touch the
object. The slope of the ray is taken from the point of the boundary with normal u, whose slope is
stationary there: an error of u enters squared. A ray of slope s meets the screen at s times the
focal length. Vectors instead of angles leave two calls of trigonometry for an object, those of phi.
"""

import math

from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.support_functions import evaluate_along
from ricochet.models.systems.batting.world import World

ITERATIONS = 1  # from a disc's tangents, to 1e-8 of a slope for the shapes of the study


@compiled
def project(state: Float[ndarray, " state"], kind: int, world: World) -> tuple[float, float]:
    """Return the lower and the upper end of the projection on the screen, m, without noise.

    Args:
        state: x, y and angle of the object, and more.
        kind: Which shape.
        world: Its shapes, and the place of its camera.
    """
    d_x, d_y = state[0] - world.table.camera_x, state[1] - world.table.camera_y
    c_phi, s_phi = math.cos(state[2]), math.sin(state[2])
    body = (kind, c_phi, s_phi)
    lower = tangent_slope(d_x, d_y, body, -1.0, world)
    upper = tangent_slope(d_x, d_y, body, 1.0, world)
    return world.table.focal_length * lower, world.table.focal_length * upper


@compiled
def tangent_slope(
    d_x: float, d_y: float, body: tuple[int, float, float], side: float, world: World
) -> float:
    """Return the slope of the ray that touches an object from above (side 1) or below (-1).

    Args:
        d_x, d_y: The centre seen from the pinhole, m.
        body: Which shape, and cosine and sine of its angle.
        side: From where.
        world: Its shapes.
    """
    kind, c_phi, s_phi = body
    cosines, sines = world.shapes.cosines[kind], world.shapes.sines[kind]
    distance = math.sqrt(d_x * d_x + d_y * d_y)
    sine = min(1.0, cosines[0] / distance)
    cosine = side * math.sqrt(1.0 - sine * sine)
    u_x = -(sine * d_x + cosine * d_y) / distance
    u_y = -(sine * d_y - cosine * d_x) / distance
    for _ in range(ITERATIONS):
        h, slope = evaluate_along(
            cosines, sines, u_x * c_phi + u_y * s_phi, u_y * c_phi - u_x * s_phi
        )
        u_x, u_y = turned(u_x, u_y, -(u_x * d_x + u_y * d_y + h) / (u_x * d_y - u_y * d_x + slope))
    h, slope = evaluate_along(cosines, sines, u_x * c_phi + u_y * s_phi, u_y * c_phi - u_x * s_phi)
    return (d_y + h * u_y + slope * u_x) / (d_x + h * u_x - slope * u_y)


@compiled
def turned(x: float, y: float, angle: float) -> tuple[float, float]:
    """Return a vector turned by a small angle, rad, to within angle^3 / 12."""
    t = 0.5 * angle
    c, s = (1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)
    return c * x - s * y, s * x + c * y
