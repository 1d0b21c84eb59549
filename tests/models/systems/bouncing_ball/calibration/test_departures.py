"""A restitution that rises with speed is said, and the slopes that balls have are not."""

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.calibration import departures

LEVEL = 0.85 + 3e-3 * np.random.default_rng(0).standard_normal(500)


@pytest.mark.parametrize(
    ("rise", "sd", "said"),
    [
        (0.006, 0.001, True),  # four deviations and more
        (0.006, 0.002, False),
        (0.0015, 1e-5, False),  # sure, and too small to matter
        (0.0, 0.0, False),  # a law without a slope
        (-0.02, 0.001, False),  # restitution falls, as that of balls does
    ],
)
def test_a_restitution_that_rises_with_speed_is_said(rise, sd, said):
    spread = np.random.default_rng(1).standard_normal(len(LEVEL))
    found = departures._rising(LEVEL, LEVEL + rise + sd * spread)
    assert [each.name for each in found] == ["speed"] * said
    assert all(f"rises by {rise:.3f}" in each.sentence[:29] for each in found)
