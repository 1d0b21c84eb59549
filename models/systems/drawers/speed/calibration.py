"""How far the intervals of a speed are widened, from sessions that were left out of training.

The widening of a class of means is the quantile of |v - m| / s over frames of such sessions: most
frames rest, and would speak for the few that do not (Vovk 2012, conditional conformal prediction).
All classes are widened by one factor more, for the next session (`session_widening`).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.inference import session_widening
from ricochet.models.inference.small_networks import CrossFit
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.level import LEVEL
from ricochet.models.systems.drawers.speed.estimator import CLASSES, SpeedEstimator, class_of

FEWEST = 30  # frames of a class, for a widening of its own


def calibrated(fitted: CrossFit, sessions: Sequence[Labels]) -> SpeedEstimator:
    """Return the network with the widening that its answers to sessions left out ask for.

    Args:
        fitted: Trained on the `cases` of sessions.
        sessions: Labels of the frames of each.
    """
    pairs = zip(sessions, fitted.left_out, strict=True)
    scores = [np.abs(of.speed - np.maximum(by.mean, 0.0)) / by.deviation for of, by in pairs]
    classes = [class_of(each.mean) for each in fitted.left_out]
    widening = _widening(np.concatenate(scores), np.concatenate(classes))
    needed = [
        np.quantile(score / widening[of], LEVEL) for score, of in zip(scores, classes, strict=True)
    ]
    factor = session_widening.factor(np.array(needed), LEVEL)
    return SpeedEstimator(fitted.network, factor * widening)


def _widening(
    scores: Float[ndarray, " frame"], classes: Int[ndarray, " frame"]
) -> Float[ndarray, " class"]:
    """Return the quantile of the scores of each class; of all, where a class has few."""
    chosen = [scores[classes == each] for each in range(len(CLASSES) + 1)]
    enough = [each if len(each) >= FEWEST else scores for each in chosen]
    return np.array([float(np.quantile(each, LEVEL)) for each in enough])
