"""The gate's statistical checks for anybody's posterior, and what they would have caught.

    ranks        of each parameter's truth among its draws: uniform (Kolmogorov)
    joint        rank of the truth's distance among that of its draws: uniform; and the regions of
                 50, 80, 90 and 95 % hold the truth so often (exact binomial interval)
    predictive   rank of new data at the truth among new data at the draws, each value: uniform
    fit          rank of how well new data fit the data that were given, where these are stored

(`models.inference.exchangeable_ranks`). All checks together refuse a right posterior with a chance
of at most `CHANCE`, shared out evenly. The table of power draws posteriors that are normal in all
parameters, stating 1/c of the variance or a mean that is off, and judges them by the checks that
need no simulator: a posterior as wrong as that is refused at least about so often.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import stats

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import calibration_checks, exchangeable_ranks
from ricochet.models.inference.calibration_checks import LEVELS
from ricochet.tasks.registry.verdicts import Check, Verdict
from ricochet.tasks.validation.checks import covers, share_interval, uniform
from ricochet.tasks.validation.posterior_samples import Samples

SCHEMA = "ricochet.judgement/1"
CHANCE = 0.02
"""With which a right posterior is refused, at most."""
JOINT, FIT = "joint", "fit"
DIVISORS = (1.0, 1.25, 1.5, 2.0, 4.0)
SHIFTS = (0.25, 0.5)
_TRIED = 500
_NUMBERS = 2**20  # drawn at a time

Levels = dict[str, Float[ndarray, " case"]]


@dataclass(frozen=True)
class Power:
    """How often posteriors that are wrong in one way are refused.

    Attributes:
        divisor: Of the variance that is stated; 1 is right.
        shift: Of the mean that is stated, in true deviations.
    """

    divisor: float
    shift: float
    refused: float

    @property
    def what(self) -> str:
        """The way in words."""
        if self.shift:
            return f"mean off by {self.shift:g} deviations"
        if self.divisor == 1.0:
            return "right"
        return f"variance divided by {self.divisor:g} (deviation by {self.divisor**0.5:.2f})"


@dataclass(frozen=True)
class Judgement:
    """What was found of a posterior.

    Attributes:
        levels: Ranks by name of the quantity, those of new data as `value 0`, `value 1` ...
    """

    levels: Levels
    verdict: Verdict
    power: tuple[Power, ...]
    cases: int
    draws: int
    replicates: int

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        coverage = calibration_checks.coverage(self.levels[JOINT])
        return {
            "schema": SCHEMA,
            "cases": self.cases,
            "draws": self.draws,
            "replicates": self.replicates,
            **self.verdict.to_json(),
            "coverage": [asdict(row) for row in coverage],
            "power": [asdict(row) for row in self.power],
        }


def judge(
    samples: Samples,
    new_data: tuple[Float[ndarray, "case replicate value"], Float[ndarray, "case value"]],
    *,
    draw: np.random.Generator,
    progress: Progress = no_progress,
) -> Judgement:
    """Judge a posterior by its samples and new data at its draws and at the truths."""
    parameters = _parameter_levels(samples, draw)
    simulated = _simulated_levels(samples, new_data, draw)
    count = len(parameters) + len(simulated) + len(LEVELS)
    checks = checked(parameters | simulated, chance=CHANCE / count)
    cases, draws, size = samples.draws.shape
    found = power(cases, size, chance=CHANCE / count, draw=draw, progress=progress)
    replicates = new_data[0].shape[1]
    return Judgement(parameters | simulated, Verdict(checks), found, cases, draws, replicates)


def checked(levels: Mapping[str, Float[ndarray, " case"]], *, chance: float) -> tuple[Check, ...]:
    """Return the checks of ranks, and of the regions that those of the joint distance are."""
    even = [uniform(name, values, chance=chance) for name, values in levels.items()]
    held = [covers("region", levels[JOINT], level, chance=chance) for level in LEVELS]
    return (*even, *held)


def power(
    cases: int,
    parameters: int,
    *,
    chance: float,
    draw: np.random.Generator,
    progress: Progress = no_progress,
) -> tuple[Power, ...]:
    """Return how often wrong posteriors are refused by the checks that need no simulator."""
    together = max(1, _NUMBERS // (cases * parameters))
    kinds = [(divisor, 0.0) for divisor in DIVISORS] + [(1.0, shift) for shift in SHIFTS]
    rows = []
    for number, (divisor, shift) in enumerate(kinds):
        refused = 0
        for first in range(0, _TRIED, together):
            trials = min(together, _TRIED - first)
            away = draw.standard_normal((trials, cases, parameters)) + shift
            refused += int(_refused(away * divisor**0.5, chance).sum())
            progress(number * _TRIED + first + trials, len(kinds) * _TRIED)
        rows.append(Power(divisor, shift, refused / _TRIED))
    return tuple(rows)


def _refused(
    away: Float[ndarray, "trial case parameter"], chance: float
) -> Bool[ndarray, " trial"]:
    """Mark trials whose checks fail, of truths as far away as stated."""
    joint = stats.chi2.cdf((away**2).sum(2), away.shape[2])
    ranks = np.concatenate((stats.norm.cdf(away), joint[..., None]), 2)
    return uneven(ranks, chance) | uncovered(joint, chance)


def uneven(ranks: Float[ndarray, "trial case rank"], chance: float) -> Bool[ndarray, " trial"]:
    """Mark trials of which some rank fails `uniform`, by Kolmogorov's distance."""
    ordered, cases = np.sort(ranks, axis=1), ranks.shape[1]
    steps = np.arange(cases + 1)[:, None] / cases
    distance = np.maximum(steps[1:] - ordered, ordered - steps[:-1]).max((1, 2))
    return np.asarray(distance > stats.kstwo.isf(chance, cases))


def uncovered(levels: Float[ndarray, "trial case"], chance: float) -> Bool[ndarray, " trial"]:
    """Mark trials of which some region fails `covers`."""
    cases = levels.shape[1]
    refused = np.zeros(len(levels), dtype=bool)
    for nominal in LEVELS:
        held, trial = np.unique((levels < nominal).sum(1), return_inverse=True)
        ends = [share_interval(int(count), cases, chance=chance) for count in held]
        outside = np.array([not low <= nominal <= high for low, high in ends])
        refused |= outside[trial]
    return refused


def _parameter_levels(samples: Samples, draw: np.random.Generator) -> Levels:
    ranks = exchangeable_ranks.ranks(samples.draws, samples.truth, draw=draw)
    joint = exchangeable_ranks.joint_distance(samples.draws, samples.truth)
    found: Levels = {f"rank of {n}": v for n, v in zip(samples.names, ranks.T, strict=True)}
    return found | {JOINT: exchangeable_ranks.ranks(*joint, draw=draw)}


def _simulated_levels(
    samples: Samples,
    new_data: tuple[Float[ndarray, "case replicate value"], Float[ndarray, "case value"]],
    draw: np.random.Generator,
) -> Levels:
    ranks = exchangeable_ranks.ranks(*new_data, draw=draw)
    found: Levels = {f"new data, value {n}": values for n, values in enumerate(ranks.T)}
    if samples.data is not None:
        fit = exchangeable_ranks.misfit(*new_data, samples.data)
        found[FIT] = exchangeable_ranks.ranks(*fit, draw=draw)
    return found
