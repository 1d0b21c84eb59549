"""Speed from sound: what is seen of a frame, and intervals that hold in further sessions."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import cross_fitting
from ricochet.models.inference.network_training import Training
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.speed import calibration, estimator

SMALL = Training(hidden=24, members=2, epochs=60)


def session(seed: int, count: int = 600) -> tuple[np.ndarray, Labels]:
    """Features that are the speed, its root and noise; each session is off by a little of its own.

    Half of the frames rest.
    """
    draw = np.random.default_rng(seed)
    speed = np.maximum(draw.uniform(-0.5, 0.5, count), 0.0)
    off = 0.03 * draw.standard_normal()
    noise = 0.05 * draw.standard_normal((count, 2)) + off
    return np.stack([speed, np.sqrt(speed)], axis=1) + noise, Labels(speed, speed, 0.0 * speed)


def fitted(count: int, seed: int) -> estimator.SpeedEstimator:
    sessions, draw = [session(n) for n in range(count)], torch.Generator().manual_seed(seed)
    found = cross_fitting.fit([estimator.cases(*each) for each in sessions], SMALL, draw)
    return calibration.calibrated(found, [labels for _, labels in sessions])


@pytest.mark.proof
def test_speeds_and_intervals_hold_in_further_sessions() -> None:
    made = fitted(6, 0)
    held, errors = [], []
    for seed in range(100, 120):
        inputs, labels = session(seed)
        speed = labels.speed
        found = estimator.predict(made, inputs)
        assert (found.low >= 0.0).all() and (found.low <= found.mean).all()
        held.append(np.mean((speed >= found.low) & (speed <= found.high)))
        errors.append(np.sqrt(np.mean((found.mean - speed) ** 2)))
    # Sessions differ: of 20, shares of 0.9 scatter by some 0.05, their mean by 0.012; six sessions
    # set the widening, whose own error is twice that.
    assert np.mean(held) == pytest.approx(0.9, abs=0.06)
    assert np.mean(errors) < 0.06


@pytest.mark.slow
def test_noise_that_was_not_trained_on_is_in_wider_intervals() -> None:
    """Further from all that was heard, members disagree."""
    made = fitted(4, 1)
    inputs, _ = session(50)
    usual, far = (estimator.predict(made, inputs + shift) for shift in (0.0, 4.0))
    assert np.median(far.high - far.low) > 1.5 * np.median(usual.high - usual.low)
