"""Predictions of linear motions: the normal law that an exact smoother gives."""

import numpy as np
import torch

from ricochet.models.inference import motion_predictions, throws
from ricochet.models.inference.limits import Limits
from ricochet.models.inference.shooting_density import Noise
from tests.models.inference.test_shooting_moves import agrees

LIMITS = Limits(torch.full((2,), -20.0).double(), torch.full((2,), 20.0).double())
SIGMA, DELTA = (0.05, 0.08), (0.03, 0.02)


def futures(particles: int, windows: int, sigma: tuple = SIGMA, delta: tuple = DELTA):
    watched = throws.observed(np.random.default_rng(1), windows=2, runs=1, steps=8)
    theta = torch.tensor([throws.TRUTH] * particles).double()
    noise = Noise(*(torch.tensor(each).double().expand(particles, 2) for each in (sigma, delta)))
    generator = np.random.default_rng(3)
    ahead = [watched.simulate] * windows
    found = motion_predictions.predicted(watched, LIMITS, theta, noise, ahead, generator)
    return watched, found


def flow(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The state some steps later: F state + g."""
    time = steps * throws.STEP
    pull, wind = throws.TRUTH
    return np.array([[1.0, time], [0.0, 1.0]]), np.array(
        [wind * time + 0.5 * pull * time**2, pull * time]
    )


def smoothed(watched, windows: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the state after some windows, by Kalman's filter step by step."""
    scale = watched.scale.numpy()
    seen, error, jump = watched.observed[0].numpy(), np.diag((SIGMA * scale) ** 2), DELTA * scale
    mean, covariance = seen[0], error
    for step in range(1, len(seen)):
        one, moved = flow(1)
        mean, covariance = one @ mean + moved, one @ covariance @ one.T
        gain = covariance @ np.linalg.inv(covariance + error)
        mean, covariance = mean + gain @ (seen[step] - mean), covariance - gain @ covariance
        if step == watched.steps:
            covariance = covariance + np.diag(jump**2)
    for _ in range(windows):
        covariance = covariance + np.diag(jump**2)
        whole, moved = flow(watched.steps)
        mean, covariance = whole @ mean + moved, whole @ covariance @ whole.T
    return mean, covariance


def test_ends_have_the_law_of_an_exact_smoother() -> None:
    watched, found = futures(4000, 3)
    assert found.shape == (4000, 1, 12, 2)
    for windows in (1, 3):
        ends = found[:, 0, windows * watched.steps - 1].numpy()
        agrees(ends, *smoothed(watched, windows))


def test_without_defects_the_motion_goes_on_as_its_equations_have_it() -> None:
    _, found = futures(5, 2, delta=(1e-7, 1e-7))
    one, moved = flow(1)
    steps = found[:, 0].numpy()
    np.testing.assert_allclose(steps[:, 1:], steps[:, :-1] @ one.T + moved, atol=1e-5)
    assert np.ptp(steps[:, -1, 0]) > 0.01  # by where it was in the end


def test_nothing_seen_is_not_known() -> None:
    """Observations that err a hundred times as much: futures a hundred times as wide."""
    narrow, wide = (
        futures(2000, 1, tuple(size * each for each in SIGMA), (1e-6, 1e-6))[1][:, 0, -1].std(0)
        for size in (1.0, 100.0)
    )
    np.testing.assert_allclose(wide / narrow, 100.0, rtol=5.0 / np.sqrt(2000))
