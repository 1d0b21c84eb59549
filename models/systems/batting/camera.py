"""The line camera of Fig. 3 of Fu et al.: both ends of the object's projection on the screen line.

With d the object's centre seen from the pinhole and u(alpha) a unit vector, the tangent with normal
alpha passes through the pinhole where

    u(alpha) . d + h(alpha - phi) = 0

The two roots, by Newton's method from those of a disc, are the outermost rays that touch the
object. The slope of the ray is taken from the point of the boundary with normal alpha, whose slope
is stationary there: an error of alpha enters squared. A ray of slope s meets the screen at s times
the focal length.
"""

import math

from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.compiled import compiled
from ricochet.models.systems.batting.support_functions import evaluate
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
    lower = tangent_slope(state, kind, -1.0, world)
    upper = tangent_slope(state, kind, 1.0, world)
    return world.table.focal_length * lower, world.table.focal_length * upper


@compiled
def tangent_slope(state: Float[ndarray, " state"], kind: int, side: float, world: World) -> float:
    """Return the slope of the ray that touches an object from above (side 1) or below (-1)."""
    d_x, d_y = state[0] - world.table.camera_x, state[1] - world.table.camera_y
    cosines, sines, phi = world.shapes.cosines[kind], world.shapes.sines[kind], state[2]
    distance = math.sqrt(d_x * d_x + d_y * d_y)
    middle = math.atan2(d_y, d_x)
    alpha = middle + side * (0.5 * math.pi + math.asin(min(1.0, cosines[0] / distance)))
    for _ in range(ITERATIONS):
        c, s = math.cos(alpha), math.sin(alpha)
        h, slope = evaluate(cosines, sines, alpha - phi)
        alpha -= (c * d_x + s * d_y + h) / (c * d_y - s * d_x + slope)
    c, s = math.cos(alpha), math.sin(alpha)
    h, slope = evaluate(cosines, sines, alpha - phi)
    return (d_y + h * s + slope * c) / (d_x + h * c - slope * s)
