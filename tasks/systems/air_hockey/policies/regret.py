"""What a policy's search loses against trying everything.

Pucks are drawn anew; for each, many angles are rolled out with the contacts and strokes of the
package, and so is the angle that Algorithm 1 finds on its energy.
"""

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.air_hockey.shots import objective, regret
from ricochet.models.systems.air_hockey.shots.regret import Check
from ricochet.tasks.systems.air_hockey.policies import labelling
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.settings import Energies

ANGLES = 400
"""Tried for each puck: one in 0.4 degrees."""
STREAM = 100
"""Of randomness: pucks that no training saw."""


def check(
    shooter: Shooter,
    settings: Energies,
    *,
    seed: int,
    stream: int = STREAM,
    progress: Progress = no_progress,
) -> Check:
    """Compare a policy's shots with the best; `BadInput` if no puck has one that may be taken."""
    draw = np.random.default_rng([seed, stream])
    conditions = shooter.conditions(aim=settings.aim_sd)
    airflow = shooter.modes.airflow_sd
    states = objective.draw_states(settings.held_out, airflow_sd=airflow, draw=draw)
    angles = objective.draw_angles(settings.held_out, ANGLES, draw=draw)
    candidates = labelling.exhaustive(conditions, states, angles, progress)
    try:
        return regret.check(
            shooter.energy, shooter.setting, conditions, states, candidates, draw=draw
        )
    except ValueError as error:
        found = f"{settings.held_out} ({error})"
        raise BadInput("energy.held_out", found, "pucks that can be shot among so many") from error
