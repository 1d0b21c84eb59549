"""Figures of the law of impact: draws of its coefficients in pairs, and held-out impacts."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ricochet.models.systems.batting.impacts.inference import ImpactPosterior, Predicted
from ricochet.tasks.figures import style

LABELS = (
    "restitution",
    "tangential\nrestitution",
    "friction",
    "noise, normal /\nnormal impulse",
    "noise, tangential /\nnormal impulse",
)
CHANGES = ("change of vx / m/s", "change of vy / m/s", "radius of gyration\nx change of spin / m/s")
_DOTS = 800


def posterior(found: ImpactPosterior) -> Figure:
    """Draw the law of each coefficient, and draws of each two of them."""
    count = len(LABELS)
    figure = Figure(figsize=(9.5, 9.0), layout="constrained")
    table = figure.subplots(count, count, sharex="col")
    theta = found.theta
    few = theta[:: max(1, len(theta) // _DOTS)]
    for row in range(count):
        for column in range(count):
            axes = table[row, column]
            if column > row:
                axes.set_visible(False)
            elif column == row:
                _marginal(axes, theta[:, row])
            else:
                axes.plot(few[:, column], few[:, row], ".", ms=2, color=style.COLOURS[0])
            below = LABELS[column] if row == count - 1 else ""
            style.label_axes(axes, below, LABELS[row] if column == 0 and row else "")
            axes.tick_params(labelsize=7)
            axes.locator_params(nbins=4)
    figure.suptitle("The law of impact: draws; vertical lines hold 90 % between them")
    return figure


def held_out(predicted: Predicted) -> Figure:
    """Draw predictions of held-out impacts beside what was measured."""
    figure = Figure(figsize=(11.0, 4.0), layout="constrained")
    for place, axes in enumerate(figure.subplots(1, 3)):
        mean, seen = predicted.mean[:, place], predicted.observed[:, place]
        for chosen, colour, words in (
            (predicted.inside, style.COLOURS[0], "in the 90 % region"),
            (~predicted.inside, style.COLOURS[1], "outside"),
        ):
            axes.errorbar(
                seen[chosen],
                mean[chosen],
                1.645 * predicted.deviation[chosen, place],
                fmt="o",
                ms=3,
                lw=0.8,
                alpha=0.6,
                color=colour,
                label=f"{words}: {chosen.sum()}",
            )
        ends = np.array([min(seen.min(), mean.min()), max(seen.max(), mean.max())])
        axes.plot(ends, ends, color="0.5", lw=1, zorder=0)
        style.label_axes(axes, f"measured {CHANGES[place]}", "predicted" if place == 0 else "")
        if place == 0:
            axes.legend(frameon=False, fontsize=8)
    figure.suptitle("Held-out impacts; bars are 1.645 deviations of a prediction")
    return figure


def _marginal(axes: Axes, values: np.ndarray) -> None:
    axes.hist(values, bins=40, color=style.COLOURS[5])
    for end in np.quantile(values, (0.05, 0.95)):
        axes.axvline(end, color="0.3", lw=0.8)
    axes.set_yticks([])
