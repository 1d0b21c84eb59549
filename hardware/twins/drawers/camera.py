"""A depth camera before a drawer: points of the cabinet and of the front, until the light goes off.

Points have the errors of a camera of structured light, along the ray and across it, are hidden now
and then, a few at a time by an arm before them, and sometimes are points of something else.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal
from scipy.spatial.transform import Rotation

RATE = 30.0  # Hz
ACROSS, ALONG = 1.0e-3, 1.5e-3  # m at 1 m
HIDDEN = 0.1  # share of a point's time
WRONG = 0.005  # share of a point's images that are of something else
FAR_OFF = 0.05  # m, by which these are off
DISTANCE = 1.3  # m from the closed front
FRONT, CABINET = (0.4, 0.18, 0.02), (0.7, 0.58, 0.12)
"""Sizes, m: across, up and along the camera's view."""


@dataclass(frozen=True)
class Images:
    """What a camera sees.

    Attributes:
        times: Of the images, s.
        fixed, moving: Points of the cabinet and of the front in the camera's frame, m; not a number
            where one is not seen.
        axis: The way the drawer opens, in the camera's frame.
    """

    times: Float[ndarray, " image"]
    fixed: Float[ndarray, "image point 3"]
    moving: Float[ndarray, "image point 3"]
    axis: Float[ndarray, " 3"]


def film(
    times: Float[ndarray, " time"],
    positions: Float[ndarray, " time"],
    light_off: float,
    draw: np.random.Generator,
    *,
    points: int = 15,
) -> Images:
    """Return the images of a drawer that moves.

    Args:
        times, positions: Of its motion, s and m.
        light_off: When the light goes off, s.
        points: Of each body.
    """
    at = np.arange(0.0, min(light_off, float(times[-1])), 1.0 / RATE)
    opening = np.interp(at, times, positions)
    towards = Rotation.from_rotvec(0.35 * _unit(draw)).apply([0.0, 0.0, -1.0])
    front = draw.uniform(-0.5, 0.5, (points, 3)) * FRONT + [0.0, 0.0, DISTANCE]
    cabinet = draw.uniform(-0.5, 0.5, (points, 3)) * CABINET + [0.0, 0.0, DISTANCE + 0.05]
    moved = front + opening[:, None, None] * towards
    still = np.broadcast_to(cabinet, moved.shape)
    return Images(at, _seen(still, draw), _seen(moved, draw), towards)


def _seen(places: Float[ndarray, "image point 3"], draw: np.random.Generator) -> ndarray:
    depth = places[..., 2:]
    sizes = np.concatenate([ACROSS * depth, ACROSS * depth, ALONG * depth**2], axis=2)
    found = places + sizes * draw.standard_normal(places.shape)
    wrong = draw.random(places.shape[:2]) < WRONG
    found[wrong] += FAR_OFF * draw.standard_normal((int(wrong.sum()), 3))
    covered = signal.lfilter([1.0], [1.0, -0.95], draw.standard_normal(places.shape[:2]), axis=0)
    found[covered > np.quantile(covered, 1.0 - HIDDEN)] = np.nan
    return found


def _unit(draw: np.random.Generator) -> Float[ndarray, " 3"]:
    way = draw.standard_normal(3)
    return np.asarray(way / np.linalg.norm(way))
