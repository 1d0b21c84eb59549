"""The four drawers: their strokes, rails, bodies and places. Each is made once, from its own seed.

x points out of the cabinet along the opening, y to the right, z up; the origin is the middle of the
closed front. Per session a drawer holds something else: its modes move together, and everything
that rubs does so with another load.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.drawers.generator import bodies, rails
from ricochet.hardware.twins.drawers.generator.bodies import Modes
from ricochet.hardware.twins.drawers.generator.rails import Rail, Surface


@dataclass(frozen=True)
class Drawer:
    """A drawer.

    Attributes:
        seed: Of all that was drawn when it was made.
        stroke: From limit to limit, m.
        width: Of the front, m.
        rail: Of both its rails.
        band: Lowest and highest mode of drawer and cabinet, Hz.
        decay: Of modes at 1 kHz, s.
        closing, opening: Force of an impact at 1 m/s with each limit, of the rails' unit.
        hand: Of a touch, of the same.
        closing_time, opening_time: Length of such an impact, s.
    """

    seed: int
    stroke: float
    width: float
    rail: Rail = field(default_factory=Rail)
    band: tuple[float, float] = (140.0, 6500.0)
    decay: float = 0.006
    closing: float = 120.0
    opening: float = 60.0
    hand: float = 8.0
    closing_time: float = 1.4e-3
    opening_time: float = 0.6e-3


DRAWERS: dict[str, Drawer] = {
    "kitchen-small": Drawer(
        1, 0.28, 0.40, Rail(roughness=0.6, hurst=0.45, waviness=1.2, radius=0.003, joints=2)
    ),
    "kitchen-large": Drawer(
        2,
        0.45,
        0.80,
        Rail(roughness=0.8, hurst=0.5, waviness=2.0, radius=0.009, joints=4, bump=6.0),
        band=(90.0, 5500.0),
        decay=0.009,
        closing=200.0,
    ),
    "cabinet-top": Drawer(
        3,
        0.33,
        0.45,
        Rail(roughness=1.4, hurst=0.55, patch=1.5e-5, joints=1, slip=2.5, slip_speed=0.15),
        decay=0.005,
        opening=110.0,
        opening_time=1.0e-3,
    ),
    "cabinet-bottom": Drawer(
        4,
        0.38,
        0.45,
        Rail(roughness=1.0, hurst=0.6, patch=1.2e-5, waviness=0.6, joints=5, slip=1.2),
        band=(110.0, 6000.0),
        decay=0.008,
        closing=160.0,
    ),
}


@dataclass(frozen=True)
class Made:
    """A drawer as it was made.

    Attributes:
        surface: Heights of its rails.
        box, cabinet: Modes of what moves and of what stays.
    """

    drawer: Drawer
    surface: Surface
    box: Modes
    cabinet: Modes

    @property
    def cabinet_gain(self) -> float:
        """What makes both equally loud under white forces: modes radiate gain^2 decay, each."""
        box, cabinet = (
            np.sum(body.gains[:, 0] ** 2 * body.decays) for body in (self.box, self.cabinet)
        )
        return float(np.sqrt(box / cabinet))


@cache
def made(name: str) -> Made:
    """Return a drawer by its name, always the same."""
    drawer = DRAWERS[name]
    draw = np.random.default_rng([drawer.seed, 15])
    low, high = drawer.band
    return Made(
        drawer,
        rails.surface(drawer.rail, drawer.stroke, draw),
        bodies.modes(14, (low, high), drawer.decay, draw, shift=0.08),
        bodies.modes(12, (0.8 * low, 0.7 * high), 1.3 * drawer.decay, draw),
    )


def front(drawer: Drawer, opening: Float[ndarray, " place"]) -> Float[ndarray, "place 3"]:
    """Return where the middle of the front is at each opening, m."""
    places = np.zeros((len(opening), 3))
    places[:, 0] = opening
    return places


def rail_places(drawer: Drawer) -> Float[ndarray, "rail 3"]:
    """Return the points at which both rails, in the cabinet, sound, m."""
    half = 0.5 * drawer.width - 0.02
    return np.array([[-0.12, -half, -0.05], [-0.12, half, -0.05]])
