"""The gate before `champion` for a batting controller; every check is measured again.

    posterior   inferred again from the same rows: means within 0.5 deviations of each other,
                deviations alike within a factor of 1.3. Runs of 4000 draws agree within 0.15
                deviations and a factor of 1.1; a posterior that was sharpened does not
    impacts     share of held-out rows in the 90 % regions of the law that is simulated with, as it
                is: refused where the exact interval of that share, of a stated chance, is all below
                0.9 or above 0.95. The law's width comes of the rows learnt from, so that with as
                many of them a sound one is refused about 2.5 times as often as stated
    filter      share of flights on the board after which the centre of mass is in the 90 % ellipse,
                by the same rule, and at most a third of them lost (`LOST`)
    row B       more passes than row B of Table I of Fu et al., planned by the same package from the
                same starts: permutation of signs, p < 0.05
    champion    not fewer passes than the champion from the same starts, p at least 0.025

Regions that are too wide say less than is known: a share that is surely above 0.95 is refused too.
"""

from dataclasses import dataclass

import numpy as np

from ricochet.models.inference import sign_flips
from ricochet.models.systems.batting.belief.flights import LOST
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems.batting.studies.rows import DELTA
from ricochet.tasks.systems.batting.validation.results import REFERENCE, BattingResult
from ricochet.tasks.validation.checks import CHANCE, share_interval

NOMINAL, TOO_WIDE = 0.9, 0.95
FARTHEST, WIDEST = 0.5, 1.3
"""Deviations between means, and ratio of deviations."""
MOST_LOST = 1.0 / 3.0
BETTER = 0.05
FEWEST = 8
"""Trials: fewer can show nothing."""


@dataclass(frozen=True)
class Share:
    """How many of some cases were in their regions."""

    held: int
    cases: int

    @property
    def value(self) -> float:
        """The share."""
        return self.held / self.cases


@dataclass(frozen=True)
class BattingEvidence:
    """What was measured again.

    Attributes:
        apart: Largest distance of means from those inferred again, in deviations.
        ratio: Largest ratio of deviations, either way.
        impacts: Held-out impacts in their regions.
        filter: Flights that end inside the filter's region.
        errors: Of the filter's mean position, m, a number each flight.
        chance: With which sound coverage is refused.
    """

    apart: float
    ratio: float
    impacts: Share
    filter: Share
    errors: tuple[float, ...]
    chance: float

    @property
    def lost(self) -> float:
        """Share of the flights that were lost."""
        return float((np.array(self.errors) > LOST).mean())


def judge_evidence(evidence: BattingEvidence) -> tuple[Check, ...]:
    """Return the checks of what was measured again."""
    return (
        Check(
            "posterior",
            bool(evidence.apart <= FARTHEST and evidence.ratio <= WIDEST),
            f"means {evidence.apart:.2f} deviations apart, deviations by a factor of"
            f" {evidence.ratio:.2f}",
            f"at most {FARTHEST} and {WIDEST} from what is inferred again",
        ),
        _covered("impacts", evidence.impacts, evidence.chance, "held-out impacts"),
        _covered("filter", evidence.filter, evidence.chance, "flights"),
        Check(
            "lost",
            bool(evidence.lost <= MOST_LOST),
            f"{evidence.lost:.2f} of the flights off by more than {LOST:g} m",
            f"at most {MOST_LOST:.2f}",
        ),
    )


def judge_trials(result: BattingResult, evidence: BattingEvidence) -> tuple[Check, ...]:
    """Return the checks of the trials."""
    ours, count = result.passes(CANDIDATE), len(result.trials[CANDIDATE])
    other = result.passes(REFERENCE)
    p = sign_flips.p_value(ours - other)
    found = f"{ours.sum():.0f} passes at {DELTA} m, row B {other.sum():.0f} (p {p:.4f})"
    return (
        Check("trials", count >= FEWEST, str(count), f"at least {FEWEST}"),
        Check("row B", p < BETTER, found, f"more, p below {BETTER}"),
        _against_champion(result),
    )


def _against_champion(result: BattingResult) -> Check:
    if result.champion is None:
        found = f"{result.passes(CANDIDATE).sum():.0f} passes"
        return Check("passes against champion", True, found, "no champion to beat")
    ours, theirs = result.passes(CANDIDATE), result.passes(CHAMPION)
    p = sign_flips.p_value(theirs - ours)
    return Check(
        "passes against champion",
        p >= CHANCE,
        f"{ours.sum():.0f} passes, champion {theirs.sum():.0f} (p {p:.4f})",
        f"not fewer: p at least {CHANCE}",
    )


def _covered(name: str, share: Share, chance: float, of: str) -> Check:
    low, high = share_interval(share.held, share.cases, chance=2.0 * chance)
    return Check(
        f"{name} at {100 * NOMINAL:g} %",
        high >= NOMINAL and low <= TOO_WIDE,
        f"{share.value:.3f} of {share.cases} {of} ({low:.3f} to {high:.3f})",
        f"an interval that is not all below {NOMINAL} or above {TOO_WIDE}",
    )
