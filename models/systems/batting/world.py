"""What is simulated: shapes, table, law of impact and a store of random numbers."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.shapes import Shapes, seven_shapes
from ricochet.models.systems.batting.table import Table

QUIET = np.zeros((1, 2))  # noise of a world without any


class World(NamedTuple):
    """All that the motion of an object depends on beside the bat.

    Attributes:
        noise: Standard normal numbers, one row an impact. An object takes them in turn from a place
            of its own, so that the same place gives the same noise: common random numbers.
    """

    shapes: Shapes
    table: Table
    law: Law
    noise: Float[ndarray, "row 2"]


def paper_world(draw: np.random.Generator, rows: int = 2**18, law: Law | None = None) -> World:
    """Return the world of Sec. VI of Fu et al. with fresh noise, or with another law."""
    noise = draw.standard_normal((rows, 2))
    return World(seven_shapes(), Table(), Law() if law is None else law, noise)


def without_noise(world: World) -> World:
    """Return a world in which impacts follow the law exactly."""
    law = world.law._replace(impulse_noise=0.0, normal_share=0.0, tangential_share=0.0)
    return world._replace(law=law, noise=QUIET)
