"""Where a drawer is, from how its microphones hear it: a measurement with its own slope and error.

A part of the sound comes from the front, which moves, and the drawer's modes move with the opening.
A small network learns, from sessions in which the position was measured, what each position sounds
like at the array: coherences of all pairs of microphones, bands and steps of loudness, of a frame
and the one before, while the drawer moves.

Least squares shrinks to the middle of what it was trained on. So its answer p is no position but a
measurement of it,

    p = a + b q + e,    e of deviation w s

with a, b and w found from sessions left out in turn, and s the network's deviation. What a frame
says of q is (p - a) / b, to within w s / b.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import small_networks
from ricochet.models.inference.small_networks import Answer, CrossFit, Network, Session
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.level import LEVEL, NORMAL

LEAST_SLOPE = 0.05  # below which a place is not heard


@dataclass(frozen=True)
class PlaceEstimator:
    """A trained network and how it is read.

    Attributes:
        constant, slope: a and b.
        widening: w.
    """

    network: Network
    constant: float
    slope: float
    widening: float

    @property
    def hears(self) -> bool:
        """Whether the answer depends on the place at all."""
        return self.slope > LEAST_SLOPE


@dataclass(frozen=True)
class Places:
    """What frames say of the position, m: a mean and a deviation each, by themselves alone."""

    mean: Float[ndarray, " frame"]
    deviation: Float[ndarray, " frame"]


def cases(inputs: Float[ndarray, "frame feature"], labels: Labels) -> Session:
    """Return what is trained on of a session."""
    return Session(inputs, labels.position, labels.moving)


def calibrated(fitted: CrossFit, sessions: Sequence[Labels]) -> PlaceEstimator:
    """Return the network with slope and error, by weighted least squares of answers on places.

    Args:
        fitted: Trained on the `cases` of sessions.
        sessions: Labels of the frames of each.
    """
    answers, deviations, places = (
        np.concatenate(parts)
        for parts in zip(
            *(
                (each.mean[moving], each.deviation[moving], labels.position[moving])
                for each, labels in zip(fitted.left_out, sessions, strict=True)
                for moving in [labels.moving]
            ),
            strict=True,
        )
    )
    weights = 1.0 / deviations**2
    middle = np.average(places, weights=weights)
    centred = places - middle
    slope = float((weights * centred * answers).sum() / (weights * centred**2).sum())
    constant = float(np.average(answers, weights=weights) - slope * middle)
    left = np.abs(answers - constant - slope * places) / deviations
    return PlaceEstimator(fitted.network, constant, slope, float(np.quantile(left, LEVEL)) / NORMAL)


def predict(estimator: PlaceEstimator, inputs: Float[ndarray, "frame feature"]) -> Places:
    """Return what each frame says of the position; where nothing is heard, no bound at all."""
    return read(estimator, small_networks.answer(estimator.network, inputs))


def read(estimator: PlaceEstimator, answer: Answer) -> Places:
    """Return what answers of a network say of the position."""
    if not estimator.hears:
        return Places(answer.mean, np.full(len(answer.mean), np.inf))
    return Places(
        (answer.mean - estimator.constant) / estimator.slope,
        estimator.widening * answer.deviation / estimator.slope,
    )
