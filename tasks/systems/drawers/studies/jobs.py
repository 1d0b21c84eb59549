"""What a study of drawers does many times: learn from sessions of a drawer, and try on another."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch

from ricochet.hardware.twins.drawers.generator.strokes import CALM, Person
from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.systems.drawers.learning import Size
from ricochet.tasks.systems.drawers import trials
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.trials import Measured

FOLDS = 4
"""Parts in which sessions that are learnt from are left out in turn."""


@dataclass(frozen=True)
class Job:
    """One drawer, learnt from all sessions but one and tried on that.

    Attributes:
        setting: Fields of the generator's `Setting` that are not as usual; `person` is a name.
        out: The session that is left out, of so many.
        code: Digest of what does it: an edit makes other jobs, which a journal does not hold.
    """

    drawer: str
    out: int
    sessions: int
    seconds: float
    light_off: float
    seed: int
    setting: dict[str, Any] = field(default_factory=dict)
    code: str = ""


def do(job: Job) -> Measured:
    """Learn, and try."""
    settings = [_setting(job, number) for number in range(job.sessions)]
    seeds = [1000 * job.seed + number for number in range(job.sessions)]
    every = [recorded.session(*pair) for pair in zip(settings, seeds, strict=True)]
    learnt = [each.frames for number, each in enumerate(every) if number != job.out]
    draw = torch.Generator().manual_seed(seeds[job.out])
    found = trials.learn(learnt, draw, size=Size(folds=FOLDS))
    trial = recorded.trial(every[job.out], settings[job.out], seeds[job.out])
    return trials.attempt(found, trial)


def encode(done: Measured) -> dict[str, Any]:
    """Return what a journal can hold."""
    return asdict(done)


def decode(held: dict[str, Any]) -> Measured:
    """Return what a journal held."""
    return Measured(**held)


def _setting(job: Job, number: int) -> Setting:
    """Return what is recorded; another person moves the drawer that is tried, where so set."""
    given = dict(job.setting)
    other = given.pop("person", "")
    person = CALM if other and number == job.out else Person()
    usual = Setting(job.drawer, seconds=job.seconds, light_off=job.light_off, person=person)
    return replace(usual, **given)
