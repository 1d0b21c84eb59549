"""The paper's regressions of speed recover laws that they can express."""

import numpy as np
import pytest

from ricochet.models.sound import spectra
from ricochet.models.systems.drawers.labels import SAMPLE_RATE
from ricochet.models.systems.drawers.speed import paper_regressions


def frames(count: int = 400, seed: int = 0) -> np.ndarray:
    """Powers of frames with one strong bin on a weak floor."""
    draw = np.random.default_rng(seed)
    power = 1e-4 * draw.uniform(0.5, 1.5, (count, 512))
    power[np.arange(count), draw.integers(5, 400, count)] += draw.uniform(0.5, 2.0, count)
    return power


@pytest.mark.parametrize(
    ("features", "law"),
    [
        (paper_regressions.loud, lambda loud, pitch: 0.3 * loud + 0.1),
        (paper_regressions.pitched, lambda loud, pitch: 1e-4 * pitch),
        (paper_regressions.both, lambda loud, pitch: 0.2 * loud - 1e-4 * pitch + 0.3),
        (paper_regressions.cubic, lambda loud, pitch: loud**2 * 1e-3 * pitch - (1e-3 * pitch) ** 3),
    ],
)
def test_laws_of_loudness_and_pitch_are_recovered(features, law) -> None:
    def speeds(power: np.ndarray) -> np.ndarray:
        return law(spectra.loudness(power), spectra.pitch(power, SAMPLE_RATE))

    predict = paper_regressions.fit_linear(features, frames(), speeds(frames()))
    other = frames(seed=1)
    assert predict(other) == pytest.approx(speeds(other), abs=1e-6)


def test_loudness_does_not_explain_pitch() -> None:
    speed = 1e-4 * spectra.pitch(frames(), SAMPLE_RATE)
    predict = paper_regressions.fit_linear(paper_regressions.loud, frames(), speed)
    assert np.std(predict(frames()) - speed) > 0.9 * speed.std()


@pytest.mark.parametrize("log", [False, True])
def test_components_recover_a_law_of_their_amplitudes(log: bool) -> None:
    draw = np.random.default_rng(2)
    shapes = draw.uniform(0.0, 1.0, (3, 512))
    weights = draw.uniform(1.0, 2.0, (500, 3))
    amplitudes = weights @ shapes
    power = np.exp(2.0 * amplitudes) if log else amplitudes**2
    speed = weights @ np.array([0.2, -0.1, 0.3])
    predict = paper_regressions.fit_components(power[:400], speed[:400], log=log)
    assert predict(power[400:]) == pytest.approx(speed[400:], abs=1e-6)


def test_a_cubic_has_nine_products() -> None:
    assert paper_regressions.cubic(frames()).shape == (400, 9)
