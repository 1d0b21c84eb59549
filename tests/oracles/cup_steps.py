"""The ball into the cup in small steps of time: slow, and with none of the closed forms.

All balls step together. A ball's centre flies; where it comes within a radius of the incline it is
put back, its exit velocity (given, one a contact) is taken, and the touched point must lie on
the incline. It is in the cup when it falls through the rim's height near enough to the axis.
"""

import math

import numpy as np

from ricochet.models.systems.bouncing_ball.prediction.cup_geometry import Scene

STEP = 1e-4  # s


def enters(drop, exits, *, ball_radius: float, drop_height: float, scene: Scene) -> np.ndarray:
    """Follow balls let go at rest over `drop` (ball 2), `exits` (ball bounce 3) used in turn."""
    normal = np.array([math.sin(scene.tilt), 0.0, math.cos(scene.tilt)])
    downhill = np.array([math.cos(scene.tilt), 0.0, -math.sin(scene.tilt)])
    count, bounces = exits.shape[:2]
    position = np.zeros((count, 3))
    position[:, :2] = drop
    lowest = (ball_radius - drop[:, 0] * normal[0]) / normal[2]
    position[:, 2] = lowest + drop_height
    velocity = np.zeros((count, 3))
    used = np.zeros(count, int)
    inside, out = np.zeros(count, bool), np.zeros(count, bool)
    while not (inside | out).all():
        before = position[:, 2].copy()
        position += velocity * STEP
        position[:, 2] -= 0.5 * scene.gravity * STEP**2
        velocity[:, 2] -= scene.gravity * STEP
        live = ~(inside | out)
        away = np.hypot(position[:, 0] - scene.cup_distance, position[:, 1])
        passed = (before - scene.rim_height) * (position[:, 2] - scene.rim_height) <= 0.0
        falling = position[:, 2] < before
        inside |= live & passed & falling & (away <= scene.rim_radius - ball_radius)
        out |= live & passed & ~falling & (away < scene.rim_radius + ball_radius)
        out |= live & (position[:, 2] < 0.0)
        gap = position @ normal - ball_radius
        touched = position - (gap + ball_radius)[:, None] * normal
        below = touched @ downhill
        on = (below <= 0.0) & (below >= -scene.length) & (np.abs(touched[:, 1]) <= scene.width / 2)
        hits = live & (gap <= 0.0) & (velocity @ normal < 0.0)
        # off the incline there is nothing to touch but, in time, the floor
        at_side = hits & ~on & (touched[:, 0] <= 0.0)
        out |= at_side | (hits & on & (used >= bounces))
        bounce = np.flatnonzero(hits & on & ~out)
        position[bounce] -= gap[bounce, None] * normal
        velocity[bounce] = exits[bounce, used[bounce]]
        used[bounce] += 1
    return inside
