"""Passes of a validation on the board: of each role at every distance."""

import numpy as np
from matplotlib.figure import Figure

from ricochet.models.systems.batting.table import DISTANCES
from ricochet.tasks.figures import style
from ricochet.tasks.systems.batting.validation.results import REFERENCE, BattingResult
from ricochet.tasks.validation.outcomes import in_words
from ricochet.tasks.validation.report import ROLE_COLOURS


def passes(result: BattingResult) -> Figure:
    """Draw passes in 200 s against the distance, a thin line each trial."""
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for role, trials in result.trials.items():
        counts = np.array([each.passes for each in trials]) * 200.0 / result.seconds
        colour = ROLE_COLOURS.get(role, style.COLOURS[2])
        label = "row B, candidate's package" if role == REFERENCE else role
        axes.plot(DISTANCES, counts.T, color=colour, lw=0.5, alpha=0.35)
        axes.plot(DISTANCES, counts.mean(0), color=colour, lw=2.2, marker="o", label=label)
    axes.legend(frameon=False)
    style.label_axes(axes, "distance from the goal / m", "passes in 200 s")
    axes.set_title(in_words(result), fontsize=9)
    axes.set_ylim(bottom=0.0)
    return figure
