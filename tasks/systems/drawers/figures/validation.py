"""Takes of a validation: how far off each role is in the dark, and where the hand was."""

import numpy as np
from matplotlib.figure import Figure

from ricochet.tasks.figures import style
from ricochet.tasks.registry.aliases import CANDIDATE
from ricochet.tasks.systems.drawers.validation.results import DrawerResult
from ricochet.tasks.validation.outcomes import in_words
from ricochet.tasks.validation.report import ROLE_COLOURS

PANELS = (
    ("dark_error", "middle_error", "error in the dark / m"),
    ("near", "middle_near", "hand where it should be, share"),
)


def takes(result: DrawerResult) -> Figure:
    """Draw a point for each take and role, beside the middle of the stroke."""
    figure = Figure(figsize=(8.4, 3.4), layout="constrained")
    places = np.arange(len(result.trials[CANDIDATE]))
    for axes, (name, middle, label) in zip(figure.subplots(1, 2), PANELS, strict=True):
        axes.plot(places, result.column(CANDIDATE, middle), "_", color="0.5", ms=14, mew=2,
                  label="middle of the stroke")  # fmt: skip
        for role in result.trials:
            axes.plot(places, result.column(role, name), "o", color=ROLE_COLOURS[role], label=role)
        axes.set_ylim(bottom=0.0)
        axes.set_xticks(places)
        style.label_axes(axes, "take", label)
    figure.axes[0].legend(frameon=False, fontsize=8)
    figure.suptitle(in_words(result), fontsize=9)
    return figure
