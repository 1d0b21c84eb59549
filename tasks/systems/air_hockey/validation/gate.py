"""The gate before `champion` for a shooting policy; every check is re-measured.

    regret      the policy's search against the exhaustive one on fresh states, both by the rule
                that takes the surest of nearly equal shots
                (`models.systems.air_hockey.shots.regret`): what the objective loses on average at
                most 0.05 of what the best shots reach
    modes       share of those states in which both choose as many banks at least 0.80
    promise     the chance constraint of Eq. 12: refused where so few shots score that their chance
                under the promised share (beta) is below 0.025
    limits      no shot breaks a limit of joints, links or table
    score       against the champion, from the same starts: refused where the exact one-sided test
                of the discordant pairs has p < 0.025 (`tasks.validation.checks`)

The limit of the regret lies between the two that it must tell apart. Of 300 states the mean has a
standard error of 0.004 to 0.008: of sound energies, which lose 0.02 to 0.03, fewer than one in a
hundred is refused by its luck. One that was taught other shots (of another setting, of other
states) or whose weights were shuffled loses 0.1 or more. Half of a sound regret is in one state of
fifty, where the search takes a shot just short of the promised share, which counts nothing.

Eq. 12 is that of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for
Robot Air Hockey".
"""

from dataclasses import dataclass

from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.registry.verdicts import Check
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult
from ricochet.tasks.validation.checks import not_worse, promised

LARGEST_REGRET = 0.05
SMALLEST_AGREEMENT = 0.80
FEWEST_SHOTS = 60


@dataclass(frozen=True)
class PolicyEvidence:
    """What was measured again about a policy.

    Attributes:
        regret: Mean loss of the objective against the exhaustive optimum, in its units.
        best: Mean objective of the exhaustive optimum.
        agreement: Share of states in which both choose as many banks.
        beta: Share of shots that are promised to score.
    """

    regret: float
    regret_error: float
    best: float
    agreement: float
    states: int
    beta: float

    @property
    def share(self) -> float:
        """The regret as a share of the best objective."""
        return self.regret / self.best


def judge_evidence(evidence: PolicyEvidence) -> tuple[Check, ...]:
    """Return the checks of what was measured again."""
    return (
        Check(
            "regret",
            bool(evidence.share <= LARGEST_REGRET),  # a NaN is refused
            f"{evidence.share:.4f} ± {evidence.regret_error / evidence.best:.4f} of the best "
            f"objective on {evidence.states} states",
            f"at most {LARGEST_REGRET}",
        ),
        Check(
            "modes",
            bool(evidence.agreement >= SMALLEST_AGREEMENT),
            f"{evidence.agreement:.3f} of {evidence.states} states with as many banks as the best",
            f"at least {SMALLEST_AGREEMENT}",
        ),
    )


def judge_shots(result: ShootingResult, evidence: PolicyEvidence) -> tuple[Check, ...]:
    """Return the checks of the shots, one of them against the promised share."""
    shots = result.shots[CANDIDATE]
    broken = sum(shot.violations for shot in shots)
    return (
        Check("shots", len(shots) >= FEWEST_SHOTS, str(len(shots)), f"at least {FEWEST_SHOTS}"),
        promised("promise", result.scored.candidate, evidence.beta, of="shots scored"),
        Check("limits", broken == 0, f"{broken} violations", "none"),
        not_worse("score", result.scored),
    )
