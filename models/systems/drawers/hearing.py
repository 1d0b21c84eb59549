"""What a drawer sounds like, learnt from sessions: speed, place, direction, and their weights.

Every estimator is trained on all sessions, and once without each of them; what the latter say of
the session left out sets intervals, slopes, odds and the weights of the joint belief.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import cross_fitting
from ricochet.models.inference.network_training import Training
from ricochet.models.sound import coherences
from ricochet.models.systems.drawers.belief import weighing
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar, Heard
from ricochet.models.systems.drawers.direction import estimator as direction_estimator
from ricochet.models.systems.drawers.direction.estimator import DirectionEstimator
from ricochet.models.systems.drawers.labels import FRAME, PERIOD, SAMPLE_RATE, Labels
from ricochet.models.systems.drawers.place import estimator as place_estimator
from ricochet.models.systems.drawers.place.estimator import PlaceEstimator, Places
from ricochet.models.systems.drawers.speed import estimator as speed_estimator
from ricochet.models.systems.drawers.speed.estimator import SpeedEstimator, Speeds

AUDIBLE = 0.04  # m/s of the speed's mean, above which a frame says something of the place
LEAST_DEVIATION = 1e-3  # m/s, of a speed
NORMAL = 1.645  # deviations of the normal law in half an interval of 0.9


@dataclass(frozen=True)
class Features:
    """What the networks see of each frame."""

    speed: Float[ndarray, "frame speed_feature"]
    place: Float[ndarray, "frame place_feature"]
    direction: Float[ndarray, "frame direction_feature"]


@dataclass(frozen=True)
class Hearing:
    """A drawer's estimators, and the grammar of the joint belief."""

    speed: SpeedEstimator
    place: PlaceEstimator
    direction: DirectionEstimator
    grammar: Grammar


@dataclass(frozen=True)
class Said:
    """What the sound of each frame says by itself.

    Attributes:
        odds: Log odds that the drawer opens, if it moves.
    """

    speeds: Speeds
    places: Places
    odds: Float[ndarray, " frame"]

    def heard(self) -> list[Heard]:
        """Return the frames as the belief takes them."""
        half = 0.5 * (self.speeds.high - self.speeds.low) / NORMAL
        deviation = np.where(self.speeds.mean > AUDIBLE, self.places.deviation, np.inf)
        columns = (
            self.speeds.mean,
            np.maximum(half, LEAST_DEVIATION),
            self.places.mean,
            deviation,
            np.full(len(half), PERIOD),
            self.odds,
        )
        return [Heard(*row) for row in np.stack(columns, axis=1).tolist()]


@dataclass(frozen=True)
class Size:
    """Of the trainings.

    Attributes:
        folds: In how many parts sessions are left out; None: one by one.
    """

    speed: Training = speed_estimator.TRAINING
    place: Training = place_estimator.TRAINING
    direction: Training = direction_estimator.TRAINING
    folds: int | None = None


def features(samples: Float[ndarray, "channel sample"]) -> Features:
    """Return what the networks see of a recording; before the first frame were others like it.

    Args:
        samples: At SAMPLE_RATE, full scale 1; two channels at least.
    """
    alike = coherences.band_coherences(samples.astype(float), FRAME, SAMPLE_RATE)
    loud = speed_estimator.frame_features(samples)
    return Features(
        speed=speed_estimator.with_past(loud, speed_estimator.PAST),
        place=speed_estimator.with_past(np.hstack([alike, loud]), 1),
        direction=direction_estimator.with_earlier(alike),
    )


def fit(
    sessions: Sequence[tuple[Features, Labels]],
    draw: torch.Generator,
    *,
    size: Size | None = None,
    progress: Progress = no_progress,
) -> Hearing:
    """Learn what a drawer sounds like from sessions of it, two at least.

    Args:
        sessions: Features and labels of the frames of each.
        draw: Of the trainings.
        size: Of the trainings.

    Raises:
        ValueError: If fewer than two sessions are given.
    """
    size, truths = size or Size(), [labels for _, labels in sessions]
    found, left_out = {}, {}
    for done, (name, module) in enumerate(_MODULES.items()):
        learnt = [module.cases(getattr(seen, name), labels) for seen, labels in sessions]
        training = getattr(size, name)
        fitted = cross_fitting.fit(learnt, training, draw, folds=size.folds)
        found[name] = module.calibrated(fitted, truths)
        left_out[name] = [module.read(found[name], answer) for answer in fitted.left_out]
        progress(done + 1, len(_MODULES) + 1)
    said = [Said(*each).heard() for each in zip(*left_out.values(), strict=True)]
    weighed = [weighing.Session(*pair) for pair in zip(said, truths, strict=True)]
    grammar = weighing.fit(weighed)
    progress(len(_MODULES) + 1, len(_MODULES) + 1)
    return Hearing(**found, grammar=grammar)


def listen(hearing: Hearing, seen: Features) -> Said:
    """Return what the sound of each frame says by itself."""
    return Said(
        speed_estimator.predict(hearing.speed, seen.speed),
        place_estimator.predict(hearing.place, seen.place),
        direction_estimator.predict(hearing.direction, seen.direction),
    )


_MODULES = {"speed": speed_estimator, "place": place_estimator, "direction": direction_estimator}
