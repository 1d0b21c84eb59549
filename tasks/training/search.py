"""A search over settings: Optuna proposes, we try, the least value wins.

A batch of trials is proposed at a time and tried side by side, wherever the run was sent; then the
next is. So what is proposed depends on the size of a batch, and on nothing else about machines. A
value that is found is kept at once. The study has a name that holds the digest of all that decides
a value, so that an interrupted search goes on and a finished one adds nothing; where it lies says
`trials`.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import Trial, TrialState

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console import jobs
from ricochet.tasks.console.progress import part
from ricochet.tasks.general_settings import Search
from ricochet.tasks.storage import files
from ricochet.tasks.training import proposals
from ricochet.tasks.training import trials as kept

JOURNAL = kept.JOURNAL

Choice = Mapping[str, Any]
"""Settings by name; whole numbers are of type int."""
ALONE = Search(batch=1, storage="")
BARREN = 10
"""Trials in turn without a value that is a number, after which a search ends."""


@dataclass(frozen=True)
class Space:
    """What is searched.

    Attributes:
        started: The settings tried first.
        propose: Asks a trial for settings.
        value: Tries settings and returns their value, less is better; it must be picklable.
    """

    name: str
    started: Choice
    propose: Callable[[Trial], Choice]
    value: Callable[[Choice, Progress], float]


@dataclass(frozen=True)
class Tried:
    """One completed trial: its number, the settings and their value."""

    number: int
    chosen: Choice
    value: float


def search(
    space: Space,
    folder: Path,
    *,
    trials: int,
    seed: int,
    rules: Search = ALONE,
    progress: Progress = no_progress,
) -> Tried:
    """Try settings until so many trials of the study are completed, and return the best trial.

    At least one is asked for; progress counts hundredths of each. Others may work on the study at
    the same time where it lies in a database; then there may be some trials more.

    Raises:
        BadInput: If the database does not answer, a study has settings of no such search, or none
            of many values is a number.
    """
    with kept.opened(rules.storage, folder) as storage:
        study = _study(space, storage, seed)
        kept.fail_abandoned(study, shared=bool(rules.storage))
        where = rules.storage or files.shown(folder / JOURNAL)
        proposals.refuse_others(study, space.propose, space.started, where)
        barren = 0
        while (done := len(_completed(study))) < trials:
            count = min(rules.batch, trials - done)
            _try(study, space, count, partial(_report, progress, done, trials))
            kept.fail_abandoned(study, shared=bool(rules.storage), others=True)
            barren = barren + count if len(_completed(study)) == done else 0
            if barren >= BARREN:
                raise BadInput(
                    where, f"{barren} trials without a number as value", "a number of some"
                )
        if rules.storage:
            kept.copy(study, folder)
        return min(_completed(study), key=lambda trial: trial.value)


def completed(name: str, folder: Path) -> tuple[Tried, ...]:
    """Return the completed trials of a study in a folder's journal; nothing is tried or written."""
    if not (folder / JOURNAL).exists():
        return ()
    try:
        return _completed(optuna.load_study(study_name=name, storage=kept.journal(folder)))
    except KeyError:  # the journal holds other studies
        return ()


def _study(space: Space, storage: Any, seed: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(
        storage=storage,
        study_name=space.name,
        sampler=proposals.ByNumber(seed, space.started),
        load_if_exists=True,
    )


def _report(progress: Progress, done: int, trials: int, number: int) -> Progress:
    """Return the progress of one trial more, of which so many of this batch came before."""
    return part(progress, done + number, trials)


def _try(study: optuna.Study, space: Space, count: int, within: Callable[[int], Progress]) -> None:
    """Propose a batch, try it, and keep each value as it is found."""
    within(0)(0, 1)
    with _asked(study, count) as asked:
        chosen = [space.propose(trial) for trial in asked]
        if count == 1 and not jobs.is_sent():
            found = iter([(0, space.value(chosen[0], within(0)))])
        else:
            found = jobs.each_done(partial(_alone, space.value), chosen, here=count == 1)
        for number, (place, value) in enumerate(found):
            if math.isfinite(value):
                study.tell(asked[place], value, skip_if_finished=True)
            within(number)(1, 1)


def _alone(value: Callable[[Choice, Progress], float], chosen: Choice) -> float:
    return value(chosen, no_progress)


@contextlib.contextmanager
def _asked(study: optuna.Study, count: int) -> Iterator[list[Trial]]:
    """Begin some trials; those that have no value when the block ends have failed."""
    with contextlib.ExitStack() as alive:
        trials = [_begun(study, alive) for _ in range(count)]
        try:
            yield trials
        finally:
            for trial in trials:
                study.tell(trial, state=TrialState.FAIL, skip_if_finished=True)


def _begun(study: optuna.Study, alive: contextlib.ExitStack) -> Trial:
    trial = kept.ask(study)
    alive.enter_context(kept.alive(study, trial))
    return trial


def _completed(study: optuna.Study) -> tuple[Tried, ...]:
    found = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return tuple(Tried(one.number, dict(one.params), float(one.values[0])) for one in found)
