"""What a drawer sounds like, learnt from sessions: speed, place, direction, and their weights.

Every estimator is trained on all sessions, and once without each group of them; what the latter
say of the sessions left out sets intervals, slopes, odds and the weights of the joint belief.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import cross_fitting
from ricochet.models.inference.network_training import Training
from ricochet.models.systems.drawers import labels
from ricochet.models.systems.drawers.belief import weighing
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar, Heard
from ricochet.models.systems.drawers.direction import estimator as direction_estimator
from ricochet.models.systems.drawers.features import Features
from ricochet.models.systems.drawers.hearing import Hearing, Said
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.place import estimator as place_estimator
from ricochet.models.systems.drawers.speed import calibration as speed_calibration
from ricochet.models.systems.drawers.speed import estimator as speed_estimator
from ricochet.models.systems.drawers.tracking import follower, pace, rehearsal
from ricochet.models.systems.drawers.tracking.pace import Seen

SPEED = Training()
PLACE = Training(epochs=30, decay=0.05, jitter=0.3)
DIRECTION = Training(epochs=20, decay=0.05, jitter=0.3)
_WAYS: dict[str, Any] = {
    "speed": (speed_estimator, speed_calibration.calibrated),
    "place": (place_estimator, place_estimator.calibrated),
    "direction": (direction_estimator, direction_estimator.calibrated),
}
SEEN = 1e-3  # m, as well as a camera sees
LIT = 1.0 / 3.0
"""Of a session, in which its pace is seen before the belief's weights count: as it will be used."""


@dataclass(frozen=True)
class Size:
    """Of the trainings.

    Attributes:
        folds: In how many parts sessions are left out; None: one by one.
    """

    speed: Training = SPEED
    place: Training = PLACE
    direction: Training = DIRECTION
    folds: int | None = None


def fit(
    sessions: Sequence[tuple[Features, Labels]],
    draw: torch.Generator,
    *,
    groups: Sequence[int] | None = None,
    size: Size | None = None,
    progress: Progress = no_progress,
) -> Hearing:
    """Learn what a drawer sounds like from sessions of it, of two groups at least.

    Args:
        sessions: Features and labels of the frames of each.
        draw: Of the trainings.
        groups: Of each, from 0 on: what shares one is of one recording, and is left out together;
            None: each is its own.
        size: Of the trainings.

    Raises:
        ValueError: If fewer than two groups are given.
    """
    groups = range(len(sessions)) if groups is None else groups
    size, truths = size or Size(), [truth for _, truth in sessions]
    of_groups = [
        labels.together([truth for truth, one in zip(truths, groups, strict=True) if one == group])
        for group in sorted(set(groups))
    ]
    found: dict[str, Any] = {}
    left_out: dict[str, Any] = {}
    for done, (name, (module, calibrated)) in enumerate(_WAYS.items()):
        learnt = [module.cases(getattr(seen, name), truth) for seen, truth in sessions]
        training = getattr(size, name)
        fitted = cross_fitting.fit(learnt, training, draw, folds=size.folds, groups=groups)
        found[name] = calibrated(cross_fitting.together(fitted, groups), of_groups)
        left_out[name] = [module.read(found[name], answer) for answer in fitted.left_out]
        progress(done + 1, len(_WAYS) + 1)
    said = [Said(*each).heard() for each in zip(*left_out.values(), strict=True)]
    weighed = [_dark(*pair) for pair in zip(said, truths, strict=True)]
    grammar = weighing.fit(weighed, groups)
    grammar = _with_level(grammar, list(zip(said, truths, groups, strict=True)))
    progress(len(_WAYS) + 1, len(_WAYS) + 1)
    return Hearing(**found, grammar=grammar)


def _dark(heard: list[Heard], truth: Labels) -> weighing.Session:
    """Return a session as it is heard after a while in which it was seen."""
    cut = int(LIT * len(heard))
    gain = pace.paced(heard[:cut], _seen(truth, cut)).gain
    return weighing.Session([pace.scaled(each, gain) for each in heard[cut:]], _after(truth, cut))


def _with_level(grammar: Grammar, sessions: list[tuple[list[Heard], Labels, int]]) -> Grammar:
    """Return the grammar with the level that intervals need as sound is taken in use.

    Sessions whose sound is taken for nothing show nothing of it.
    """
    used = [(_used(heard, truth, grammar), group) for heard, truth, group in sessions]
    taken = [(session, group) for session, group in used if session is not None]
    if not taken:
        return grammar
    return replace(grammar, level=weighing.level(grammar, *zip(*taken, strict=True)))


def _used(heard: list[Heard], truth: Labels, grammar: Grammar) -> weighing.Session | None:
    """Return a session as it is taken after it was seen for a while; None: for nothing."""
    cut, one = int(LIT * len(heard)), follower.begin(grammar)
    for frame, seen in zip(heard[:cut], _seen(truth, cut), strict=True):
        one = follower.step(one, frame, seen, grammar)
    if (way := one.rehearsal.way) == rehearsal.NOTHING:
        return None
    rest = [rehearsal.taken(pace.scaled(each, one.pace.gain), way) for each in heard[cut:]]
    return weighing.Session(rest, _after(truth, cut))


def _seen(truth: Labels, cut: int) -> list[Seen]:
    return [Seen(place, SEEN) for place in truth.position[:cut].tolist()]


def _after(truth: Labels, cut: int) -> Labels:
    return Labels(**{name: values[cut:] for name, values in vars(truth).items()})
