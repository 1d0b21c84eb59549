"""A shooting policy measured again, on pucks that neither its training nor its own check saw."""

from ricochet.tasks.console.progress import Progress, no_progress
from ricochet.tasks.systems.air_hockey.policies import regret
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies
from ricochet.tasks.systems.air_hockey.validation.gate import PolicyEvidence

STREAM = 101
"""Of randomness; that of the policy's own check is another."""


def audit(
    shooter: Shooter, settings: Energies, *, seed: int, progress: Progress = no_progress
) -> PolicyEvidence:
    """Measure a policy; `BadInput` if no puck has a shot that keeps the chance constraint."""
    found = regret.check(shooter, settings, seed=seed, stream=STREAM, progress=progress)
    return PolicyEvidence(
        regret=found.regret,
        regret_error=found.regret_error,
        best=found.best,
        agreement=found.agreement,
        states=found.states,
        beta=shooter.setting.least_goal,
    )
