"""The challenge's two other tasks in the study of shooting: defend and prepare.

One agent has the skills of all three; here it is kept to those that a task asks for: who shoots a
puck that was to be prepared has not prepared it. Which policy shoots does not matter. Rows are
played as the challenge does, without airflow and noise, and with those of Table I.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from scipy import stats

from ricochet.models.core.progress import Progress
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.models.systems.air_hockey.strike_choice import Skill
from ricochet.tasks.figures import style
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.air_hockey.figures import episodes
from ricochet.tasks.systems.air_hockey.policies import agents
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies, Hockey
from ricochet.tasks.systems.air_hockey.studies.shot_journal import Player
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.trials import Played
from ricochet.tasks.systems.interface import StudyRequest

SEED = 62_000
SKILLS: Mapping[str, frozenset[Skill]] = {
    "defend": frozenset({Skill.STOP}),
    "prepare": frozenset({Skill.PUSH}),
}
"""What an agent is kept to in each task."""
JOBS = tuple(product(SKILLS, ("calm", "disturbed")))
"""Each task and whether it is disturbed."""
CHALLENGE: Mapping[str, Mapping[str, Any]] = {
    "defend": {"success": 0.43, "shots": 30},
    "prepare": {"success": 0.77, "shots": 30},
}
"""What the challenge's own baseline reaches there, measured on its environment."""


def agent(task: str, shooter: Shooter, settings: Settings) -> ShootingAgent:
    """Make an agent that does what a task asks for, and nothing else."""
    noise, aim = settings[Hockey].position_noise, settings[Energies].aim_sd
    return agents.make(shooter, noise=noise, aim=aim, skills=SKILLS[task])


def run(
    player: Player,
    shooter: Shooter,
    settings: Settings,
    disturbance: Disturbance,
    request: StudyRequest,
    shots: int,
    progress: Iterator[Progress],
) -> dict[str, Any]:
    """Play so many starts of every task, calm and disturbed; draw one of each.

    Args:
        player: Whose journal and mark are used.
    """
    calm = replace(disturbance, airflow=0.0, position_noise=0.0)
    found: dict[str, dict[str, Any]] = {task: {} for task in SKILLS}
    for task, how in JOBS:
        make = partial(agent, task, shooter, settings)
        begun = trials.task_starts(task, shots, seed=SEED + request.seed)
        disturbed = calm if how == "calm" else disturbance
        plays = replace(player, make=make, mark=f"{task} {player.mark}")
        played = plays.play(begun, disturbed, next(progress))
        found[task][how] = count(played)
        if how == "disturbed":
            picture(make(), task, played, disturbed, request.out)
    return found


def count(played: Sequence[Played]) -> dict[str, Any]:
    """Count a row of a task."""
    succeeded = sum(each.succeeded for each in played)
    interval = stats.binomtest(succeeded, len(played)).proportion_ci(0.95)
    return {
        "success": succeeded / len(played),
        "success_interval": list(interval),
        "shots": len(played),
        "constraint_violations": sum(bool(each.outcome.violations) for each in played),
        "never_struck": sum(each.outcome.strikes == 0 for each in played),
        "own_goals": sum(_is_own_goal(each) for each in played),
        "faults": sum(bool(each.faults) for each in played),
    }


def _is_own_goal(played: Played) -> bool:
    """Return whether the puck left the table: in these tasks nobody shoots at the far goal."""
    return played.outcome.ended == "out"


def picture(
    player: ShootingAgent, task: str, played: Sequence[Played], disturbance: Disturbance, out: Path
) -> None:
    """Draw a success of most touches into `episode-<task>.png` and, as a film, `.gif`."""
    succeeded = [each for each in played if each.succeeded]
    if not succeeded:
        return
    start = max(succeeded, key=lambda each: each.outcome.strikes).start
    again, episode = trials.play_one(player, start, disturbance)
    touches, seconds = again.outcome.strikes, PERIOD * len(again.steps)
    title = f"{task}: {seconds:.1f} s, {touches} touch{'es'[: 2 * (touches != 1)]} of the mallet"
    style.write(out, {f"episode-{task}": episodes.strip(episode, title=title)})
    episodes.film(episode, out / f"episode-{task}.gif")
