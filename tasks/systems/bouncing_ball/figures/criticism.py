"""Pictures of what a model explains of a session and what it does not."""

from collections.abc import Collection, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.tasks.figures.style import COLOURS, label_axes


def restitution_by_take(
    names: Sequence[str],
    values: Float[ndarray, " take"],
    errors: Float[ndarray, " take"],
    *,
    interval: tuple[float, float],
    set_aside: Collection[str] = (),
    notes: Sequence[str] = (),
) -> Figure:
    """Draw each take's own restitution against the posterior of all.

    A slope is drift over the session, two levels are two objects. The notes say what the model
    does not explain, a sentence each.
    """
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.axhspan(*interval, color=COLOURS[5], alpha=0.5, label="posterior, 90 %")
    place = np.arange(1, len(names) + 1)
    aside = np.array([name in set_aside for name in names], dtype=bool)
    for chosen, colour, label in ((~aside, COLOURS[0], "used"), (aside, COLOURS[1], "set aside")):
        if chosen.any():
            axes.errorbar(
                place[chosen], values[chosen], 1.645 * errors[chosen],
                fmt="o", color=colour, markersize=4, linewidth=0.8, label=label,
            )  # fmt: skip
    middle, spread = np.median(values), max(float(np.ptp(interval)), float(np.std(values)))
    axes.set_ylim(middle - 5 * spread, middle + 5 * spread)
    axes.locator_params(axis="x", integer=True)
    label_axes(axes, "take", "restitution of the take, 90 %")
    axes.legend(frameon=False)
    figure.suptitle("\n".join(["Restitution by take", *notes]), fontsize=10)
    return figure
