"""The figure of a validation: candidate and champion, what they believe and how they fared."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.tasks.figures import shares, style
from ricochet.tasks.registry.aliases import CANDIDATE, CHAMPION
from ricochet.tasks.systems.bouncing_ball.figures.calibration import CONCENTRATION, RESTITUTION
from ricochet.tasks.systems.bouncing_ball.validation.results import TwinResult
from ricochet.tasks.validation.outcomes import in_words
from ricochet.tasks.validation.report import ROLE_COLOURS


def comparison(samples: Mapping[str, Float[ndarray, "sample 2"]], result: TwinResult) -> Figure:
    """Draw both posteriors on one plot, and their success side by side.

    Regions hold 90 %, bars are exact 95 % intervals.
    """
    figure = Figure(figsize=(8.6, 4.3), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.4, 1.0))
    for role, theta in samples.items():
        left.plot(*theta[::2].T, ",", color=ROLE_COLOURS[role], alpha=0.4)
        look = {"fill": False, "color": ROLE_COLOURS[role], "label": role}
        left.add_patch(style.region(theta.mean(0), np.cov(theta.T), **look))
    left.set(xlabel=RESTITUTION, ylabel=CONCENTRATION)
    left.legend(frameon=False)
    left.set_title("posteriors, 90 % regions")
    rows = {"tosses touched": result.success, "cups predicted": result.inside_90}
    for place, paired in enumerate(rows.values()):
        sides = ((CANDIDATE, paired.candidate, -0.2), (CHAMPION, paired.champion, 0.2))
        for role, outcomes, aside in sides:
            if outcomes:
                shares.point(right, place + aside, outcomes, colour=ROLE_COLOURS[role])
    right.set_xticks(range(len(rows)), list(rows))
    right.set_xlim(-0.5, len(rows) - 0.3)  # room for the last label
    right.set_ylim(0.0, 1.03)  # a share of one is seen whole
    right.set_title(f"{len(result.seeds)} tosses, {len(result.positions)} cup positions")
    figure.suptitle(in_words(result))
    return figure
