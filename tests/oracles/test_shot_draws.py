"""Shots drawn one by one: without noise they are the mean's roll-out."""

import numpy as np
import pytest

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions
from tests.oracles import shot_draws
from tests.oracles.hockey_modes import CONDITIONS, speed
from tests.oracles.hockey_modes import MODES as NOISY


def quiet(law: LinearGaussian) -> LinearGaussian:
    return LinearGaussian(law.matrix, law.offset, 0.0 * law.covariance)


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.65, -0.75, 1.0])
def test_without_noise_a_draw_is_the_mean(angle: float):
    """To the rounding of the noise's root, 1e-9 m/s a period."""
    modes = PuckModes(
        quiet(NOISY.floating), quiet(NOISY.wall), quiet(NOISY.mallet), 0.0, delay=NOISY.delay
    )
    still = Conditions(modes, speed, np.zeros((6, 6)))
    state = np.array([-0.5, 0.1, 0.02, -0.03, 0.05, 0.05])
    mean = objective.evaluate(still, state, np.array(angle))
    one = shot_draws.play(still, state, angle, samples=3, draw=np.random.default_rng(0))
    if abs(mean.y) < 0.12:
        np.testing.assert_allclose(one.y, mean.y, atol=1e-5)
        np.testing.assert_allclose(one.speed, mean.speed, rtol=1e-6)
    np.testing.assert_array_equal(one.goal, np.full(3, mean.goal > 0.5))
    np.testing.assert_array_equal(one.banks[one.arrives], mean.banks)


def test_goals_are_among_those_that_arrive():
    state, draw = np.array([-0.5, 0.0, 0.0, 0.0, 0.0, 0.0]), np.random.default_rng(0)
    found = shot_draws.play(CONDITIONS, state, 0.05, samples=500, draw=draw)
    assert found.arrives[found.goal].all()
    assert np.isfinite(found.y[found.arrives]).all()
    assert np.isnan(found.y[~found.arrives]).all()


def test_a_stroke_that_the_arm_cannot_do_is_refused():
    far = np.array([0.5, 0.48, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="no stroke"):
        shot_draws.play(CONDITIONS, far, -1.0, samples=2, draw=np.random.default_rng(0))
