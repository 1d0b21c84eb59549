"""The gate before `champion` for a pendulum's posterior; every check is re-measured.

    again        the posterior inferred again from the same recordings with another seed: means,
                 deviations and all widths together of the eight functions that a motion tells
                 differ by no more than the errors of both sets of particles
                 (`models.inference.chain_agreement`, Student's law)
    simulated    motions simulated at its draws and inferred at reduced size: ranks of the truths
                 and levels of their regions are uniform (Kolmogorov), regions of 90 % hold so many
                 (exact binomial)
    held out     pieces of the recordings that were not learnt from: 90 % intervals of the angles
                 0.25 and 0.5 s ahead hold so many, outcomes that hang together counted as the
                 fewer that they are worth (`models.inference.dependent_outcomes`)
    free passes  at those moments, and before the twin that plays the candidate's draws: so few
                 passes without contact that their chance under the promised share is below 0.025
                 are refused
    crossings    against the champion, at the same moments: passes without contact, by the exact
                 one-sided test of the discordant pairs (`tasks.validation.checks`)

The first three together refuse a right posterior with a chance of `pendulum_gate.chance` at most,
shared out evenly over all that is tested.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ricochet.models.inference.chain_agreement import Agreement, Difference
from ricochet.models.inference.chain_regions import Place
from ricochet.models.systems.rigid_bodies.disc_crossing import TOLERATED
from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems.rigid_bodies.validation.held_out import AHEAD, Predicted
from ricochet.tasks.systems.rigid_bodies.validation.results import CrossingResult
from ricochet.tasks.validation.checks import (
    covers,
    not_worse,
    promised,
    share_interval,
    uniform,
)

TOLD = ("b/a", "u/a", "v/a", "p/a", "q/a", "length", "d1/a", "d2/a")
"""What a motion tells (`pendulum_parameters`)."""
NOMINAL = 0.9
TESTED = 2 * len(TOLD) + 1 + len(TOLD) + 2 + len(AHEAD)
"""How many things are tested with the chance in all."""


@dataclass(frozen=True)
class PendulumEvidence:
    """What was measured again about a posterior.

    Attributes:
        agreement: With the posterior that was inferred again.
        places: Of the truths of simulated motions.
        predicted: Of the pieces that were not learnt from.
        chance: With which a right posterior is refused by these, at most.
    """

    agreement: Agreement
    places: tuple[Place, ...]
    predicted: Predicted
    chance: float

    @property
    def each(self) -> float:
        """The chance of each thing that is tested."""
        return self.chance / TESTED

    @property
    def levels(self) -> np.ndarray:
        """Masses of the regions that just hold the truths."""
        return np.array([each.level for each in self.places])

    @property
    def ranks(self) -> np.ndarray:
        """Ranks of the truths, a column a quantity."""
        return np.array([each.rank for each in self.places])


def judge_evidence(evidence: PendulumEvidence) -> tuple[Check, ...]:
    """Return the checks of what was measured again."""
    return (
        *_agreement(evidence),
        *_coverage(evidence),
        *(_held(evidence, number) for number in range(len(AHEAD))),
        promised("held out, free", evidence.predicted.free, 1.0 - TOLERATED, of="passes free"),
    )


def judge_crossings(result: CrossingResult, _: PendulumEvidence) -> tuple[Check, ...]:
    """Return the checks of the crossings."""
    own = result.free(CANDIDATE)
    return (
        promised("twin, free", own, 1.0 - TOLERATED, of="passes free"),
        not_worse("crossings", result.passed),
    )


def _agreement(evidence: PendulumEvidence) -> tuple[Check, ...]:
    found = evidence.agreement
    return (
        _within("again, means", found.mean, evidence.each, TOLD),
        _ratio("again, widths", found.width, evidence.each, TOLD),
        _ratio("again, all widths", found.together, evidence.each, ("of all",)),
    )


def _within(name: str, found: Difference, chance: float, names: tuple[str, ...]) -> Check:
    """Ask whether differences are within their bounds; the worst is named."""
    bound, worst = found.bound(chance), _worst(found)
    return Check(
        name,
        bool((np.abs(found.value) <= bound).all()),
        f"{names[worst]} off by {found.value[worst]:+.2f} deviations",
        f"at most {bound[worst]:.2f}, the error of both",
    )


def _ratio(name: str, found: Difference, chance: float, names: tuple[str, ...]) -> Check:
    """The same of widths, stated over inferred again."""
    bound, worst = found.bound(chance), _worst(found)
    return Check(
        name,
        bool((np.abs(found.value) <= bound).all()),
        f"{names[worst]} {np.exp(found.value[worst]):.2f} times as wide",
        f"{np.exp(-bound[worst]):.2f} to {np.exp(bound[worst]):.2f}, the error of both",
    )


def _worst(found: Difference) -> int:
    return int(np.argmax(np.abs(found.value) / found.error))


def _coverage(evidence: PendulumEvidence) -> tuple[Check, ...]:
    levels, ranks, of = evidence.levels, evidence.ranks, "simulated motions"
    chances = [float(stats.kstest(column, "uniform").pvalue) for column in ranks.T]
    worst = int(np.argmin(chances))
    return (
        uniform(f"simulated, ranks ({TOLD[worst]})", ranks[:, worst], chance=evidence.each, of=of),
        uniform("simulated, regions", levels, chance=evidence.each, of=of),
        covers("simulated, region", levels, NOMINAL, chance=evidence.each),
    )


def _held(evidence: PendulumEvidence, ahead: int) -> Check:
    share, count = evidence.predicted.held(ahead)
    off = np.degrees(evidence.predicted.median_error[ahead])
    worth = max(1, round(count))
    low, high = share_interval(round(share * worth), worth, chance=evidence.each)
    return Check(
        f"held out, {AHEAD[ahead]:g} s ahead",
        low <= NOMINAL <= high,
        f"90 % intervals hold {share:.3f}, worth {worth} outcomes ({low:.3f} to {high:.3f});"
        f" median error {off:.1f} degrees",
        f"{NOMINAL:g} inside that interval",
    )
