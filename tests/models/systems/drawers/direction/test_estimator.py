"""Direction from sound: odds that are as often right as they say, and none where none is heard."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import cross_fitting
from ricochet.models.inference.network_training import Training
from ricochet.models.systems.drawers.direction import estimator
from ricochet.models.systems.drawers.labels import Labels

SMALL = Training(hidden=16, members=2, epochs=40)


def session(seed: int, size: float, count: int = 500) -> tuple[np.ndarray, Labels]:
    """A session in which one feature is the direction, in noise; half of the frames rest."""
    draw = np.random.default_rng(seed)
    sign = draw.choice([-1.0, 1.0], count)
    speed = np.where(draw.random(count) < 0.5, 0.0, 0.2)
    inputs = draw.standard_normal((count, 3))
    inputs[:, 0] += size * sign * (speed > 0.0)
    return inputs, Labels(speed, speed * sign, np.full(count, 0.2))


def fitted(size: float, seed: int = 0) -> estimator.DirectionEstimator:
    draw = torch.Generator().manual_seed(seed)
    sessions = [session(seed + n, size) for n in range(6)]
    fitted = cross_fitting.fit([estimator.cases(*each) for each in sessions], SMALL, draw)
    return estimator.calibrated(fitted, [labels for _, labels in sessions])


@pytest.mark.proof
def test_odds_are_those_of_the_law() -> None:
    """A feature N(+-1, 1) has log odds of twice itself."""
    made = fitted(1.0)
    inputs, labels = session(100, 1.0, 4000)
    odds = estimator.predict(made, inputs)[labels.moving]
    true = 2.0 * inputs[labels.moving, 0]
    usual = np.abs(true) < 2.0
    # 1500 frames of training, of which noise is a half, know a slope to 0.05 and some curvature.
    assert np.polyfit(true[usual], odds[usual], 1)[0] == pytest.approx(1.0, abs=0.25)
    right = np.sign(labels.velocity)[labels.moving]
    said = 1.0 / (1.0 + np.exp(-np.abs(odds)))
    # 2000 frames: a share of 0.84 is known to 0.008.
    assert np.mean(np.sign(odds) == right) == pytest.approx(said.mean(), abs=0.04)


@pytest.mark.proof
def test_the_mirror_image_has_the_other_sign() -> None:
    made = fitted(1.5)
    inputs, _ = session(200, 1.5)
    odds, mirrored = (estimator.predict(made, sign * inputs) for sign in (1.0, -1.0))
    assert np.corrcoef(odds, mirrored)[0, 1] < -0.9


@pytest.mark.proof
def test_where_no_direction_is_heard_none_is_said() -> None:
    made = fitted(0.0, seed=20)
    inputs, _ = session(300, 0.0)
    assert np.abs(estimator.predict(made, inputs)).mean() < 0.2
