"""Which way a drawer moves, from its sound now and a quarter of a second ago: ours.

A small network is trained on +1 (opening) and -1 (closing) by least squares, on frames that move,
from coherences of all pairs of microphones in bands, of this frame and of one before it.
Its answer m is then near 2 P - 1. What it is worth is found on sessions left out in turn:

    log odds of opening = k log((1 + m) / (1 - m))

with k by maximum likelihood, not below 0. Where nothing is heard of the direction, k is next to
nothing, and so are the odds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.inference import small_networks
from ricochet.models.inference.small_networks import Answer, CrossFit, Network, Session
from ricochet.models.systems.drawers.labels import Labels

SUREST = 0.98  # largest |m| that is read
LARGEST = 5.0  # of k


@dataclass(frozen=True)
class DirectionEstimator:
    """A trained network, and what its answer is worth: k."""

    network: Network
    worth: float


def cases(inputs: Float[ndarray, "frame feature"], labels: Labels) -> Session:
    """Return what is trained on of a session."""
    return Session(inputs, np.sign(labels.velocity), labels.moving)


def calibrated(fitted: CrossFit, sessions: Sequence[Labels]) -> DirectionEstimator:
    """Return the network with what its answers to sessions left out are worth.

    Args:
        fitted: Trained on the `cases` of sessions.
        sessions: Labels of the frames of each.
    """
    pairs = zip(fitted.left_out, sessions, strict=True)
    right = np.concatenate(
        [(_log_odds(answer) * np.sign(labels.velocity))[labels.moving] for answer, labels in pairs]
    )
    from scipy import optimize  # a controller needs none

    found = optimize.minimize_scalar(
        lambda worth: np.logaddexp(0.0, -worth * right).mean(),
        bounds=(0.0, LARGEST),
        method="bounded",
    )
    return DirectionEstimator(fitted.network, float(found.x))


def predict(
    estimator: DirectionEstimator, inputs: Float[ndarray, "frame feature"]
) -> Float[ndarray, " frame"]:
    """Return the log odds that it opens, by each frame alone and if it moves at all."""
    return read(estimator, small_networks.answer(estimator.network, inputs))


def read(estimator: DirectionEstimator, answer: Answer) -> Float[ndarray, " frame"]:
    """Return the log odds that answers of a network mean."""
    return estimator.worth * _log_odds(answer)


def _log_odds(answer: Answer) -> Float[ndarray, " frame"]:
    return 2.0 * np.arctanh(np.clip(answer.mean, -SUREST, SUREST))
