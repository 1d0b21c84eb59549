"""The figure of a shooting validation: how often and how fast candidate and champion score."""

import numpy as np
from matplotlib.figure import Figure

from ricochet.tasks.figures import shares
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult
from ricochet.tasks.validation.outcomes import in_words
from ricochet.tasks.validation.report import ROLE_COLOURS


def comparison(result: ShootingResult) -> Figure:
    """Draw scores and speeds of both roles.

    Bars are exact 95 % intervals, steps the share of goals at most so fast.
    """
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.6))
    for place, (role, shots) in enumerate(result.shots.items()):
        shares.point(left, place, [shot.scored for shot in shots], colour=ROLE_COLOURS[role])
        speeds = np.sort([shot.speed for shot in shots if shot.scored])
        if len(speeds):
            below = np.arange(1, len(speeds) + 1) / len(speeds)
            right.step(speeds, below, where="post", color=ROLE_COLOURS[role], label=role)
            right.legend(frameon=False)
    left.set_xticks(range(len(result.shots)), list(result.shots))
    left.set_xlim(-0.5, len(result.shots) - 0.4)  # room for the last label
    left.set_ylim(0.0, 1.03)  # a share of one is seen whole
    left.set_title("shots that scored, share")
    right.set(xlabel="speed at the goal line / (m/s)", ylabel="share of the goals")
    figure.suptitle(in_words(result))
    return figure
