"""What `benchmarks.bouncing_ball.whole_takes_gain` compares, on a small session."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.bouncing_ball import whole_takes_gain
from tests.oracles.simulated_chains import session


@pytest.mark.proof
def test_three_bounces_know_the_concentration_better_from_more_takes() -> None:
    takes = session(replace(whole_takes_gain.CASE, takes=12, bounces=3), 1)
    few, many = (whole_takes_gain.of_three_bounces(takes[:count]) for count in (4, 12))
    for mean, sd in (few, many):
        assert abs(mean - whole_takes_gain.TRUTH[1]) < 4.0 * sd
    # three times as many takes: about sqrt(1 / 3) of the deviation
    assert many[1] < 0.8 * few[1]
    assert np.isfinite(few).all()
