"""Place from sound: a shrunk answer is a measurement; an array that hears nothing says nothing."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import cross_fitting
from ricochet.models.inference.network_training import Training
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.level import NORMAL
from ricochet.models.systems.drawers.place import estimator

SMALL = Training(hidden=24, members=2, epochs=60)


def session(seed: int, size: float = 1.0, count: int = 500) -> tuple[np.ndarray, Labels]:
    """A session in which one feature says where the drawer is, in noise; half of it rests."""
    draw = np.random.default_rng(seed)
    place = 0.15 + 0.1 * np.sin(np.arange(count) / 7.0 + draw.uniform(0.0, 6.0))
    speed = np.where(draw.random(count) < 0.5, 0.0, 0.2)
    inputs = draw.standard_normal((count, 3))
    inputs[:, 0] += size * (place - 0.15) / 0.07
    inputs[speed == 0.0, 0] = draw.standard_normal((speed == 0.0).sum())
    return inputs, Labels(speed, speed, place)


def fitted(size: float, seed: int = 0) -> estimator.PlaceEstimator:
    draw = torch.Generator().manual_seed(seed)
    sessions = [session(seed + n, size) for n in range(6)]
    fitted = cross_fitting.fit([estimator.cases(*each) for each in sessions], SMALL, draw)
    return estimator.calibrated(fitted, [labels for _, labels in sessions])


@pytest.mark.proof
def test_measurements_are_unbiased_and_as_wide_as_they_err() -> None:
    """The answer of least squares is half of the truth here: signal and noise are alike."""
    made = fitted(1.0)
    assert 0.3 < made.slope < 0.7
    errors, scores = [], []
    for seed in range(100, 110):
        inputs, labels = session(seed)
        moving = labels.speed > 0.0
        found = estimator.predict(made, inputs[moving])
        errors.append(np.polyfit(labels.position[moving], found.mean, 1)[0])
        scores.append(np.abs(found.mean - labels.position[moving]) / found.deviation)
    # A slope of 250 frames whose noise is as large as the signal is known to 0.06, of ten to 0.02;
    # that of six sessions, by which the answer is read, to 0.03.
    assert np.mean(errors) == pytest.approx(1.0, abs=0.12)
    # 2500 frames: 0.9 to within 0.006, the widening by 1500 others to within 0.008.
    assert np.mean(np.concatenate(scores) < NORMAL) == pytest.approx(0.9, abs=0.03)


@pytest.mark.proof
def test_where_nothing_is_heard_of_the_place_nothing_is_said() -> None:
    made = fitted(0.0, seed=20)
    inputs, _ = session(200, 0.0)
    assert not made.hears
    assert np.isinf(estimator.predict(made, inputs).deviation).all()
