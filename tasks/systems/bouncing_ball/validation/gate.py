"""The gate before `champion`: every check is re-measured; none is taken from the package.

    package     levels of draws of the exact posterior, computed again from the recordings, in the
                packaged density: share within 50/80/90/95 % inside the exact binomial 99.9 %
                interval; packaged draws: levels and ranks under the exact posterior, distance
                from the diagonal at most 0.08; packaged mean within 0.2 exact standard
                deviations, variances within a factor of 1.3
    family      a package of that kind: its draws of the contact beside those of the family inferred
                again from the recordings, eight quantities; means and standard deviations apart by
                at most `FAMILY_ERRORS` standard errors, that is by the effective draws of the
                answer, and by at most 0.6 of a deviation or a factor of 1.8
    method      sessions simulated at the posterior and inferred anew: rank statistics uniform
                (Kolmogorov, p at least 0.0025 each), product coverage inside the exact binomial
                99.8 % interval at each of 50/80/90/95 %
    predictive  chance of a session at least as unlikely at least 0.005
    simulated   tosses touched and cups predicted, on the same seeds as the champion: refused where
                the exact one-sided test of the discordant pairs (McNemar 1947, without its normal
                law) has p < 0.025, that is, where the difference lies beyond its 95 % interval;
                cups inside the predicted 90 % interval not fewer than chance allows (p < 0.025);
                a first candidate must beat a stationary paddle on the same tosses: p < 0.025
    real        on a real rig no two tosses are the same: refused where the whole 95 % interval of
                the difference of both shares (`models.inference.proportions`) is below zero;
                cups are not tried there, and the check says so; a first candidate must touch a
                greater share of the tosses than a stationary paddle does in simulation (p < 0.025;
                `staying`, measured with the paddle's home of that rig)

Each limit is the chance with which a sound candidate fails that check. Simulated, a sound one is
refused in 2 % of all cases by what is measured and in 2 % by its luck with the tosses and cups. A
variance divided by four is refused by the first line alone: 0.44 instead of 0.90.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.inference.calibration_checks import LEVELS
from ricochet.models.systems.bouncing_ball.calibration.family_agreement import Compared
from ricochet.models.systems.bouncing_ball.calibration.posterior_agreement import Agreement
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import ProductChecks
from ricochet.models.systems.bouncing_ball.problem import PARAMETERS
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems.bouncing_ball.validation.results import TwinResult
from ricochet.tasks.validation.checks import (
    CHANCE,
    covers,
    not_worse,
    not_worse_apart,
    promised,
    uniform,
)
from ricochet.tasks.validation.outcomes import REAL

RANK_CHANCE = 0.0025
COVERAGE_CHANCE = 0.002
PACKAGE_CHANCE = 0.001
PREDICTIVE_CHANCE = 0.005
LARGEST_DISTANCE = 0.08
LARGEST_SHIFT = 0.2
LARGEST_RATIO = 1.3
FAMILY_ERRORS = 6.0
"""The sampler adapts to its own draws, so that answers of two seeds are 1.5 times farther apart
than independent draws would be, root mean square; of 162 comparisons the farthest was at 4.8."""
LARGEST_APART = 0.6
"""Of a mean in standard deviations, of a standard deviation's logarithm: however few the draws."""
FEWEST_TOSSES, FEWEST_POSITIONS = 60, 30
CUP_LEVEL = 0.9
CUPS = "positions inside their 90 % interval"


@dataclass(frozen=True)
class FamilyEvidence:
    """What whole takes say of the contact that a package states.

    Attributes:
        compared: Empty where they say nothing to rely on.
        why: Why they do not.
    """

    compared: tuple[Compared, ...]
    why: str = ""


@dataclass(frozen=True)
class CalibrationEvidence:
    """What was measured again about a candidate.

    Attributes:
        family: Its contact beside that of the recordings' whole takes; None where it states none.
    """

    agreement: Agreement
    product: ProductChecks
    predictive_p_value: float
    family: FamilyEvidence | None = None


def judge_evidence(evidence: CalibrationEvidence) -> tuple[Check, ...]:
    """Return the checks of what was measured again."""
    p_value = evidence.predictive_p_value
    return (
        *_package(evidence.agreement),
        *_family(evidence.family),
        *_method(evidence.product),
        Check(
            "predictive check",
            bool(p_value >= PREDICTIVE_CHANCE),
            f"p-value {p_value:.4f}",
            f"at least {PREDICTIVE_CHANCE}",
        ),
    )


def judge_trials(result: TwinResult) -> tuple[Check, ...]:
    """Return the checks of the trials."""
    tosses = _enough("tosses", len(result.seeds), FEWEST_TOSSES)
    if result.rig == REAL:
        cup = Check("cup", True, "not tried on a real rig", "a count on the simulated one")
        return (tosses, _tracking(result), cup)
    return (
        tosses,
        _tracking(result),
        _enough("cup positions", len(result.positions), FEWEST_POSITIONS),
        promised("cup predictions", result.inside_90.candidate, CUP_LEVEL, of=CUPS),
        not_worse("cup", result.inside_90),
    )


def _tracking(result: TwinResult) -> Check:
    """Compare the tosses touched with the champion's or, without one, a stationary paddle's."""
    if result.champion is not None:
        compare = not_worse_apart if result.rig == REAL else not_worse
        return compare("tracking", result.success)
    touched = result.success.candidate
    if result.rig == REAL:
        share = 1.0 if result.staying is None else result.staying  # 1 cannot be beaten
        what = "not measured" if result.staying is None else f"{share:.2f}"
        return _beats(sum(touched), len(touched), share, f"tosses, staying {what}")
    pairs = list(zip(touched, result.stay or (), strict=False))
    won, lost = pairs.count((True, False)), pairs.count((False, True))
    return _beats(won, won + lost, 0.5, "pairs that differ")


def _beats(won: int, of: int, share: float, what: str) -> Check:
    """Ask for more than a stationary paddle's share, beyond chance."""
    chance = 1.0
    if of:
        chance = float(stats.binomtest(won, of, share, alternative="greater").pvalue)
    return Check(
        "tracking against a stationary paddle",
        chance < CHANCE,
        f"{won} of {of} {what}, p {chance:.4f}",
        f"more than that: p below {CHANCE}",
    )


def _package(agreement: Agreement) -> list[Check]:
    held = [
        covers("package's regions", agreement.levels, level, chance=PACKAGE_CHANCE)
        for level in LEVELS
    ]
    columns = {"levels": agreement.sample_levels}
    columns |= dict(zip(PARAMETERS, agreement.sample_ranks.T, strict=True))
    return [
        *held,
        *(_close(name, values) for name, values in columns.items()),
        *_moments(agreement),
    ]


def _close(name: str, values: Float[ndarray, " sample"]) -> Check:
    distance = float(stats.kstest(values, "uniform").statistic)
    return Check(
        f"package's draws, {name}",
        distance <= LARGEST_DISTANCE,
        f"distance {distance:.3f} from uniform",
        f"at most {LARGEST_DISTANCE}",
    )


def _moments(agreement: Agreement) -> list[Check]:
    low, high = agreement.variance_ratios
    shift = agreement.mean_distance
    return [
        Check(
            "package's mean",
            shift <= LARGEST_SHIFT,
            f"{shift:.3f} standard deviations from the recordings' own",
            f"at most {LARGEST_SHIFT}",
        ),
        Check(
            "package's covariance",
            low >= 1.0 / LARGEST_RATIO and high <= LARGEST_RATIO,
            f"{low:.3f} to {high:.3f} of the recordings' own",
            f"{1.0 / LARGEST_RATIO:.2f} to {LARGEST_RATIO}",
        ),
    ]


def _family(evidence: FamilyEvidence | None) -> list[Check]:
    if evidence is None:
        return []
    if not evidence.compared:
        found, expected = evidence.why, "an answer, as the package states one"
        return [Check("package's contact", False, found, expected)]
    return [_alike(each) for each in evidence.compared]


def _alike(compared: Compared) -> Check:
    shift, log_ratio = (
        min(LARGEST_APART, FAMILY_ERRORS * error)
        for error in (compared.shift_sd, compared.log_ratio_sd)
    )
    ratio = float(np.exp(log_ratio))
    return Check(
        f"package's contact, {compared.name}",
        bool(abs(compared.shift) <= shift and abs(compared.log_ratio) <= log_ratio),
        f"mean {compared.shift:+.2f} standard deviations from the recordings' own, "
        f"standard deviation {np.exp(compared.log_ratio):.2f} of it",
        f"at most {shift:.2f}, {1.0 / ratio:.2f} to {ratio:.2f}",
    )


def _method(product: ProductChecks) -> list[Check]:
    columns = {"levels": product.levels}
    columns |= dict(zip(PARAMETERS, product.ranks.T, strict=True))
    even = [
        uniform(
            f"rank statistics, {name}",
            np.clip(values, 0.0, 1.0),
            chance=RANK_CHANCE,
            of="simulated sessions",
        )
        for name, values in columns.items()
    ]
    return even + [
        covers("product coverage", product.levels, level, chance=COVERAGE_CHANCE)
        for level in LEVELS
    ]


def _enough(name: str, count: int, fewest: int) -> Check:
    return Check(f"number of {name}", count >= fewest, str(count), f"at least {fewest}")
