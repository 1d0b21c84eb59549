"""What tests of air hockey share: a small table of strokes."""

import numpy as np
import pytest

from ricochet.models.systems.air_hockey.arm import stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_table import Strokes


@pytest.fixture(scope="session")
def arm() -> Strokes:
    """Strokes in front of the robot within half a radian, two seconds' work."""
    ends = ((0.82, 1.05), (-0.15, 0.15), (-0.5, 0.5))
    draw = np.random.default_rng(0)
    return stroke_table.build(counts=(3, 3, 3), ends=ends, steps=(150, 30), draw=draw)
