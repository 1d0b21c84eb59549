"""The five regressions of speed on sound of Baum et al. (Sec. III-A, Fig. 6), each to be fitted.

Loudness, pitch, both, a polynomial of third degree of both, and principal components of the
spectrum (Eq. 1): 50 components of its 512 amplitudes. On log amplitudes the last is another row.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import component_regression
from ricochet.models.sound import spectra
from ricochet.models.systems.drawers.labels import SAMPLE_RATE

COMPONENTS = 50
DEGREE = 3

Predictor = Callable[[Float[ndarray, "frame bin"]], Float[ndarray, " frame"]]
"""From powers of frames to speeds, m/s."""
Features = Callable[[Float[ndarray, "frame bin"]], Float[ndarray, "frame feature"]]


def loud(power: Float[ndarray, "frame bin"]) -> Float[ndarray, "frame feature"]:
    """Return loudness."""
    return spectra.loudness(power)[:, None]


def pitched(power: Float[ndarray, "frame bin"]) -> Float[ndarray, "frame feature"]:
    """Return pitch, kHz."""
    return 1e-3 * spectra.pitch(power, SAMPLE_RATE)[:, None]


def both(power: Float[ndarray, "frame bin"]) -> Float[ndarray, "frame feature"]:
    """Return loudness and pitch."""
    return np.hstack([loud(power), pitched(power)])


def cubic(power: Float[ndarray, "frame bin"]) -> Float[ndarray, "frame feature"]:
    """Return all products of up to three of loudness and pitch."""
    one = both(power)
    products = [
        one[:, list(chosen)].prod(1)
        for degree in range(1, DEGREE + 1)
        for chosen in combinations_with_replacement(range(2), degree)
    ]
    return np.stack(products, axis=1)


def fit_linear(
    features: Features, power: Float[ndarray, "frame bin"], speed: Float[ndarray, " frame"]
) -> Predictor:
    """Fit speed linearly to features, by least squares."""
    found = features(power)
    centre, scale = found.mean(0), np.maximum(found.std(0), 1e-12)
    design = np.hstack([(found - centre) / scale, np.ones((len(found), 1))])
    weights, *_ = np.linalg.lstsq(design, speed, rcond=None)

    def predict(other: Float[ndarray, "frame bin"]) -> Float[ndarray, " frame"]:
        scaled = (features(other) - centre) / scale
        return np.asarray(scaled @ weights[:-1] + weights[-1])

    return predict


def fit_components(
    power: Float[ndarray, "frame bin"], speed: Float[ndarray, " frame"], *, log: bool = False
) -> Predictor:
    """Fit speed to the largest components of amplitudes, or of their logarithms (Eq. 1)."""

    def inputs(of: Float[ndarray, "frame bin"]) -> Float[ndarray, "frame bin"]:
        return 0.5 * np.log(of + spectra.QUIETEST) if log else np.sqrt(of)

    fitted = component_regression.fit(inputs(power), speed, COMPONENTS)
    return lambda other: component_regression.predict(fitted, inputs(other))
