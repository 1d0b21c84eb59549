"""What a trial of a search proposes, by its number: Optuna's TPE with randomness of its own.

A number is given once in a study, so that a search that is taken up again, or on several machines
at once, proposes nothing twice. The first trial that comes to an end has the settings that a search
starts with.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, check_distribution_compatibility
from optuna.samplers import BaseSampler, TPESampler
from optuna.study import StudyDirection
from optuna.trial import FixedTrial, FrozenTrial, TrialState, create_trial

from ricochet.models.core.bad_input import BadInput


def refuse_others(
    study: optuna.Study,
    propose: Callable[[Any], Mapping[str, Any]],
    started: Mapping[str, Any],
    where: str,
) -> None:
    """Refuse a study of other values, or with settings that a search does not propose.

    Args:
        propose: Asks a trial for settings.
        started: The settings tried first.
        where: What keeps the study.

    Raises:
        BadInput: It has some.
    """
    first = FixedTrial(dict(started))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they may lie beside what is proposed
        propose(first)
    if study.directions != [StudyDirection.MINIMIZE]:
        found = ", ".join(direction.name.lower() for direction in study.directions[:5])
        raise BadInput(where, f"a study that is to {found}", "to minimize, or another folder")
    for trial in study.get_trials(deepcopy=False):
        ended = trial.state not in (TrialState.RUNNING, TrialState.FAIL)
        if not _is_of_kind(trial, first) or (ended and not _is_proposed(trial, first)):
            found = f"trial {trial.number} with {trial.params}, {trial.values}"[:200]
            raise BadInput(where, found, "settings that this search proposes, or another folder")


def _is_of_kind(trial: FrozenTrial, first: FixedTrial) -> bool:
    """Tell whether a trial's settings, as many as were proposed, are drawn as those of a search."""
    try:
        for name, kind in trial.distributions.items():
            check_distribution_compatibility(first.distributions[name], kind)
    except (KeyError, ValueError):
        return False
    return True


def _is_proposed(trial: FrozenTrial, first: FixedTrial) -> bool:
    """Tell whether a trial is completed, with a number as its value of settings of a search."""
    values = list(trial.values or ())
    if trial.state is not TrialState.COMPLETE or len(values) != 1 or not math.isfinite(values[0]):
        return False
    others = {} if trial.params == first.params else trial.params
    kinds = first.distributions if others else {}
    try:
        create_trial(params=others, distributions=kinds, value=trial.value)
    except (ValueError, TypeError):
        return False
    return True


class ByNumber(BaseSampler):
    """A sampler: trials that run count as bad, so that those of a batch keep apart."""

    def __init__(self, seed: int, started: Mapping[str, Any]) -> None:
        """Take the seed of the study, and the settings that are tried first."""
        self._seed, self._started = seed, started
        self._number, self._own = -1, TPESampler()

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Return what is proposed together; nothing of the first trial."""
        if self._is_first(study, trial):
            return {}
        return self._of(trial).infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Propose settings together."""
        return self._of(trial).sample_relative(study, trial, search_space)

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Propose one setting."""
        if self._is_first(study, trial):
            return self._started[param_name]
        return self._of(trial).sample_independent(study, trial, param_name, param_distribution)

    def _of(self, trial: FrozenTrial) -> TPESampler:
        """Return the sampler of a trial."""
        if trial.number != self._number:
            own = np.random.SeedSequence([self._seed % 2**64, trial.number])
            self._number = trial.number
            self._own = TPESampler(seed=int(own.generate_state(1)[0]), constant_liar=True)
        return self._own

    @staticmethod
    def _is_first(study: optuna.Study, trial: FrozenTrial) -> bool:
        states = (TrialState.COMPLETE, TrialState.RUNNING)
        found = study.get_trials(deepcopy=False, states=states)
        return all(other.number >= trial.number for other in found)
