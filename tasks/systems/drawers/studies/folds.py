"""Errors of speed where frames are left out otherwise than by sessions.

Seven contiguous folds of a drawer's frames, as Baum et al. have it: each session is in two folds at
most, so that a fold has heard the same session. And one drawer left out of four: nothing of it was
heard before.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.drawers.generator.drawers import DRAWERS
from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.inference import cross_fitting
from ricochet.models.inference.small_networks import Session
from ricochet.models.systems.drawers import labels
from ricochet.models.systems.drawers.features import Features
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.learning import SPEED
from ricochet.tasks.systems.drawers import trials
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.trials import Frames

CONTIGUOUS, DRAWER_OUT = "contiguous", "drawer_out"
PARTS = 7
Errors = dict[str, dict[str, list[float]]]
"""Root of the mean squared error of each session, m/s, by drawer and way."""


@dataclass(frozen=True)
class FoldJob:
    """One way of leaving out; of a drawer, or of all where one is left out.

    Attributes:
        code: Digest of what does it.
    """

    how: str
    drawer: str
    sessions: int
    seconds: float
    light_off: float
    seed: int
    code: str = ""


def planned(sessions: int, seconds: float, light_off: float, seed: int, code: str) -> list[FoldJob]:
    """Return the jobs."""
    asked = (sessions, seconds, light_off, seed, code)
    return [FoldJob(CONTIGUOUS, name, *asked) for name in DRAWERS] + [
        FoldJob(DRAWER_OUT, "", *asked)
    ]


def do(job: FoldJob) -> Errors:
    """Learn from all parts but one, in turn, and return how far off each way is."""
    if job.how == DRAWER_OUT:
        parts = {name: _joined(_recorded(job, name)) for name in DRAWERS}
        found = _left_out(list(parts.values()), job.seed)
        return {name: {way: _roots(e[place], job.sessions) for way, e in found.items()}
                for place, name in enumerate(parts)}  # fmt: skip
    whole = _joined(_recorded(job, job.drawer))
    found = _left_out(_cut(whole, PARTS), job.seed)
    return {
        job.drawer: {
            way: _roots(np.concatenate(errors), job.sessions) for way, errors in found.items()
        }
    }


def encode(done: Errors) -> Errors:
    """Return what a journal can hold."""
    return done


def by_way(done: Sequence[Errors]) -> dict[str, Errors]:
    """Return the errors of both ways of leaving out, from the results in the order of `planned`."""
    contiguous = {name: ways for each in done[:-1] for name, ways in each.items()}
    return {CONTIGUOUS: contiguous, DRAWER_OUT: done[-1]}


def _left_out(parts: Sequence[Frames], seed: int) -> dict[str, list[Float[ndarray, " frame"]]]:
    """Return the errors of each way on each part, learnt from all others."""
    cases = [
        Session(each.features.speed, each.labels.speed, np.ones(len(each.labels.speed), bool))
        for each in parts
    ]
    fitted = cross_fitting.fit(cases, SPEED, torch.Generator().manual_seed(seed))
    errors = {
        "ours": [
            np.maximum(answer.mean, 0.0) - each.labels.speed
            for answer, each in zip(fitted.left_out, parts, strict=True)
        ]
    }
    for out, each in enumerate(parts):
        kept = [part for place, part in enumerate(parts) if place != out]
        for way, predict in trials.papers(kept).items():
            errors.setdefault(way, []).append(predict(each.power) - each.labels.speed)
    return errors


def _recorded(job: FoldJob, drawer: str) -> list[Frames]:
    setting = Setting(drawer, seconds=job.seconds, light_off=job.light_off)
    seeds = [1000 * job.seed + number for number in range(job.sessions)]
    return [recorded.session(setting, seed).frames for seed in seeds]


def _joined(sessions: Sequence[Frames]) -> Frames:
    """Return sessions one behind the other."""
    return Frames(
        Features(*_together([vars(each.features) for each in sessions])),
        np.concatenate([each.power for each in sessions]),
        labels.together([each.labels for each in sessions]),
    )


def _together(rows: Sequence[Mapping[str, ndarray]]) -> list[ndarray]:
    return [np.concatenate([row[name] for row in rows]) for name in rows[0]]


def _cut(whole: Frames, count: int) -> list[Frames]:
    """Return contiguous parts of equal length."""
    bounds = np.linspace(0, len(whole.power), count + 1).astype(int)
    return [
        Frames(
            Features(*(values[low:high] for values in vars(whole.features).values())),
            whole.power[low:high],
            Labels(*(values[low:high] for values in vars(whole.labels).values())),
        )
        for low, high in itertools.pairwise(bounds.tolist())
    ]


def _roots(errors: Float[ndarray, " frame"], sessions: int) -> list[float]:
    """Return the root of the mean square in each of sessions, which are as long."""
    squares = (errors**2).reshape(sessions, -1).mean(1)
    return [round(each, 5) for each in np.sqrt(squares).tolist()]
