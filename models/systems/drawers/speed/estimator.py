"""Speed of a drawer from its sound, with intervals that hold: ours.

What a frame sounds like depends on the speed, and on what sounded just before: a room goes on for a
third of a second, an impact for longer than a frame. So a small network sees the bands of this
frame and of the two before it, and eight steps of loudness within each, which tell an impact from a
glide. It answers with a mean m and a deviation s.

Intervals are m -+ w s, cut at 0. The widening w is the quantile of |v - m| / s over sessions that
the network was not trained on, apart for each class of m: most frames rest, and would speak for the
few that do not (Vovk 2012, conditional conformal prediction).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import network_training, small_networks
from ricochet.models.inference.network_training import Training
from ricochet.models.inference.small_networks import Network
from ricochet.models.sound import spectra
from ricochet.models.systems.drawers.labels import FRAME, SAMPLE_RATE

BANDS, STEPS, PAST = 48, 8, 2
CLASSES = (0.03, 0.1, 0.3)  # m/s of the mean, between classes of widening
LEVEL = 0.9
FEWEST = 30  # frames of a class, for a widening of its own


@dataclass(frozen=True)
class SpeedEstimator:
    """A trained network, and the widening of each class of its mean."""

    network: Network
    widening: Float[ndarray, " class"]


@dataclass(frozen=True)
class Speeds:
    """Of consecutive frames, m/s: the mean, and both ends of the interval of LEVEL."""

    mean: Float[ndarray, " frame"]
    low: Float[ndarray, " frame"]
    high: Float[ndarray, " frame"]


def features(samples: Float[ndarray, "channel sample"]) -> Float[ndarray, "frame feature"]:
    """Return what the network sees of each frame; before the first there were others like it.

    Args:
        samples: At SAMPLE_RATE, full scale 1.
    """
    return with_past(frame_features(samples), PAST)


def frame_features(samples: Float[ndarray, "channel sample"]) -> Float[ndarray, "frame feature"]:
    """Return bands and steps of loudness of each frame by itself, dB."""
    bands = spectra.mel_decibels(spectra.powers(samples, FRAME), SAMPLE_RATE, BANDS)
    count = len(bands)
    parts = samples[:, : count * FRAME].reshape(len(samples), count, STEPS, FRAME // STEPS)
    steps = 10.0 * np.log10((parts.astype(float) ** 2).mean((0, 3)) + spectra.QUIETEST)
    return np.hstack([bands, steps])


def with_past(frames: Float[ndarray, "frame feature"], past: int) -> Float[ndarray, "frame longer"]:
    """Return the features of each frame and of so many before it.

    >>> with_past(np.array([[1.0], [2.0], [3.0]]), 1)
    array([[1., 1.],
           [2., 1.],
           [3., 2.]])
    """
    places = np.arange(len(frames))
    return np.hstack([frames[np.maximum(places - back, 0)] for back in range(past + 1)])


def fit(
    sessions: Sequence[tuple[Float[ndarray, "frame feature"], Float[ndarray, " frame"]]],
    draw: torch.Generator,
    *,
    training: Training | None = None,
    progress: Progress = no_progress,
) -> SpeedEstimator:
    """Train on sessions, two at least; each is left out once for the widening.

    Args:
        sessions: Features and mean speeds, m/s, of the frames of each.
        draw: Of the training.
        training: Its size.
    """
    training, scores, classes = training or Training(), [], []
    for out, (inputs, speed) in enumerate(sessions):
        others = [each for place, each in enumerate(sessions) if place != out]
        network = network_training.fit_together(others, training, draw)
        mean, deviation = small_networks.predict(network, inputs)
        scores.append(np.abs(speed - np.maximum(mean, 0.0)) / deviation)
        classes.append(_class(mean))
        progress(out + 1, len(sessions) + 1)
    network = network_training.fit_together(sessions, training, draw)
    progress(len(sessions) + 1, len(sessions) + 1)
    return SpeedEstimator(network, _widening(np.concatenate(scores), np.concatenate(classes)))


def predict(estimator: SpeedEstimator, inputs: Float[ndarray, "frame feature"]) -> Speeds:
    """Return the speed of each frame with its interval."""
    mean, deviation = small_networks.predict(estimator.network, inputs)
    wide = estimator.widening[_class(mean)] * deviation
    mean = np.maximum(mean, 0.0)
    return Speeds(mean, np.maximum(mean - wide, 0.0), mean + wide)


def _class(mean: Float[ndarray, " frame"]) -> ndarray:
    return np.searchsorted(np.array(CLASSES), mean)


def _widening(scores: Float[ndarray, " frame"], classes: ndarray) -> Float[ndarray, " class"]:
    """Return the quantile of the scores of each class; of all, where a class has few."""
    together = float(np.quantile(scores, LEVEL))
    return np.array(
        [
            float(np.quantile(scores[classes == each], LEVEL))
            if (classes == each).sum() >= FEWEST
            else together
            for each in range(len(CLASSES) + 1)
        ]
    )
