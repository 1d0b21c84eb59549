"""Speed of a drawer from its sound, with intervals that hold: ours.

A small network (`features.py` has what it sees) answers with a mean m and a deviation s. Intervals
are m -+ w s, cut at 0. The widening w is the quantile of |v - m| / s over sessions that the network
was not trained on, apart for each class of m: most frames rest, and would speak for the few that do
not (Vovk 2012, conditional conformal prediction).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.inference import small_networks
from ricochet.models.inference.small_networks import Answer, CrossFit, Network, Session
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.level import LEVEL

CLASSES = (0.03, 0.1, 0.3)  # m/s of the mean, between classes of widening
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


def cases(inputs: Float[ndarray, "frame feature"], labels: Labels) -> Session:
    """Return what is trained on of a session."""
    return Session(inputs, labels.speed, np.ones(len(labels.speed), bool))


def calibrated(fitted: CrossFit, sessions: Sequence[Labels]) -> SpeedEstimator:
    """Return the network with the widening that its answers to sessions left out ask for.

    Args:
        fitted: Trained on the `cases` of sessions.
        sessions: Labels of the frames of each.
    """
    speeds = np.concatenate([labels.speed for labels in sessions])
    means = np.concatenate([each.mean for each in fitted.left_out])
    deviations = np.concatenate([each.deviation for each in fitted.left_out])
    scores = np.abs(speeds - np.maximum(means, 0.0)) / deviations
    return SpeedEstimator(fitted.network, _widening(scores, _class(means)))


def predict(estimator: SpeedEstimator, inputs: Float[ndarray, "frame feature"]) -> Speeds:
    """Return the speed of each frame with its interval."""
    return read(estimator, small_networks.answer(estimator.network, inputs))


def read(estimator: SpeedEstimator, answer: Answer) -> Speeds:
    """Return the speeds that answers of a network mean, with their intervals."""
    wide = estimator.widening[_class(answer.mean)] * answer.deviation
    mean = np.maximum(answer.mean, 0.0)
    return Speeds(mean, np.maximum(mean - wide, 0.0), mean + wide)


def _class(mean: Float[ndarray, " frame"]) -> Int[ndarray, " frame"]:
    return np.searchsorted(np.array(CLASSES), mean)


def _widening(
    scores: Float[ndarray, " frame"], classes: Int[ndarray, " frame"]
) -> Float[ndarray, " class"]:
    """Return the quantile of the scores of each class; of all, where a class has few."""
    chosen = [scores[classes == each] for each in range(len(CLASSES) + 1)]
    enough = [each if len(each) >= FEWEST else scores for each in chosen]
    return np.array([float(np.quantile(each, LEVEL)) for each in enough])
