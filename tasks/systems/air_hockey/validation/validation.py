"""How shooting policies are validated: regret on fresh states, then shots from the same starts."""

from dataclasses import asdict
from functools import partial
from pathlib import Path

from ricochet.models.core.progress import Progress, no_progress
from ricochet.tasks.console.progress import bar
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.kinds import POLICY
from ricochet.tasks.systems.air_hockey.policies import agents, packages, regret
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.validation import gate, report, results, trials
from ricochet.tasks.systems.air_hockey.validation.gate import PolicyEvidence
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult
from ricochet.tasks.validation.contenders import Contenders
from ricochet.tasks.validation.judge import Candidate, RigRequest, RunTrials, Validation
from ricochet.tasks.validation.outcomes import SIMULATED

STREAM = 101
"""Of the randomness of fresh states; that of the policy's own check is another."""


def open_table(request: RigRequest) -> RunTrials[ShootingResult]:
    """Return what plays the shots of all contenders on the simulated table."""
    return partial(shoot, request.settings)


def measure(
    candidate: Candidate, settings: Settings, seed: int, progress: Progress
) -> PolicyEvidence:
    """Compare the candidate's search with the exhaustive one on fresh states."""
    shooter = packages.from_package(candidate.package, where=candidate.registered.where)
    return audit(shooter, settings[Energies], seed=seed, progress=progress)


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


def shoot(settings: Settings, contenders: Contenders, seed: int, folder: Path) -> ShootingResult:
    """Let every contender shoot from the same starts; nothing is left in the folder."""
    shooters, shots = _shooters(contenders), {}
    table, aim = settings[Hockey], settings[Energies].aim_sd
    disturbance = disturbance_of(table)
    for role, shooter in shooters.items():
        with bar(f"{contenders.name} {role}") as progress:
            played = trials.play_all(
                partial(agents.make, shooter, noise=table.position_noise, aim=aim),
                trials.starts(table.shots, seed=seed),
                disturbance,
                progress=progress,
            )
            shots[role] = tuple(each.shot for each in played)
    return ShootingResult(
        name=contenders.name,
        candidate=contenders.candidate,
        champion=contenders.champion,
        seed=seed,
        disturbance=asdict(disturbance),
        shots=shots,
    )


def _shooters(contenders: Contenders) -> dict[str, Shooter]:
    return {
        role: packages.from_package(package, where=contenders.where(role))
        for role, package in contenders.packages.items()
    }


VALIDATION = Validation(
    kind=POLICY,
    refuse=POLICY.refuse,
    rigs={SIMULATED: open_table},
    measure=measure,
    judge_evidence=gate.judge_evidence,
    judge_result=gate.judge_shots,
    report=report.report,
    read=results.from_json,
    line=report.line,
)
"""Of `shooting-<setting>`."""
