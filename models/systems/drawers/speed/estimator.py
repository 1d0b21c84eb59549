"""Speed of a drawer from its sound, with intervals that hold: ours.

A small network (`features.py` has what it sees) answers with a mean m and a deviation s. Intervals
are m -+ w s, cut at 0, with a widening w for each class of m (`calibration.py`).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ricochet.models.inference import small_networks
from ricochet.models.inference.small_networks import Answer, Network, Session
from ricochet.models.systems.drawers.labels import Labels

CLASSES = (0.03, 0.1, 0.3)  # m/s of the mean, between classes of widening


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

    def hold(self, speed: Float[ndarray, " frame"]) -> Bool[ndarray, " frame"]:
        """Return in which frames the interval holds a speed."""
        return (speed >= self.low) & (speed <= self.high)


def cases(inputs: Float[ndarray, "frame feature"], labels: Labels) -> Session:
    """Return what is trained on of a session."""
    return Session(inputs, labels.speed, np.ones(len(labels.speed), bool))


def predict(estimator: SpeedEstimator, inputs: Float[ndarray, "frame feature"]) -> Speeds:
    """Return the speed of each frame with its interval."""
    return read(estimator, small_networks.answer(estimator.network, inputs))


def read(estimator: SpeedEstimator, answer: Answer) -> Speeds:
    """Return the speeds that answers of a network mean, with their intervals."""
    wide = estimator.widening[class_of(answer.mean)] * answer.deviation
    mean = np.maximum(answer.mean, 0.0)
    return Speeds(mean, np.maximum(mean - wide, 0.0), mean + wide)


def class_of(mean: Float[ndarray, " frame"]) -> Int[ndarray, " frame"]:
    """Return the class of widening of each mean, m/s."""
    return np.searchsorted(np.array(CLASSES), mean)
