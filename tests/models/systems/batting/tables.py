"""Tables of simulated impacts for the tests."""

from dataclasses import replace

import numpy as np

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import recorded
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.models.systems.batting.shapes import seven_shapes

LAW = Law(0.8, 0.5, 0.4, 0.0, 0.03, 0.05)
TRUTH = np.array((0.8, 0.5, 0.4, 0.03, 0.05))


def table(seed: int, count: int = 300, law: Law = LAW, *, noise: bool = True) -> Impacts:
    draw = np.random.default_rng(seed)
    return recorded.simulate(law, seven_shapes(), count, draw, noise=noise)


def law_of(theta: np.ndarray) -> Law:
    e, e_t, friction, normal, tangential = map(float, theta)
    return Law(e, e_t, friction, 0.0, normal, tangential)


def turned(impacts: Impacts, angle: float) -> Impacts:
    """Turn the world."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array(((c, s), (-s, c)))

    def whole(motion: np.ndarray) -> np.ndarray:
        return np.hstack([motion[:, :2] @ turn, motion[:, 2:]])

    return replace(
        impacts,
        contact=impacts.contact @ turn,
        normal=impacts.normal @ turn,
        surface=impacts.surface @ turn,
        before=whole(impacts.before),
        after=whole(impacts.after),
    )


def mirrored(impacts: Impacts) -> Impacts:
    """Mirror x of the world, so that bodies spin the other way."""
    flip, motion = np.array((-1.0, 1.0)), np.array((-1.0, 1.0, -1.0))
    return replace(
        impacts,
        contact=impacts.contact * flip,
        normal=impacts.normal * flip,
        surface=impacts.surface * flip,
        before=impacts.before * motion,
        after=impacts.after * motion,
    )
