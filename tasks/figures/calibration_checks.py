"""Figures that tell whether posteriors are honest, whatever they are about."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.tasks.figures.style import COLOURS, label_axes


def rank_histogram(ranks: Mapping[str, Float[ndarray, " case"]], *, bins: int = 20) -> Figure:
    """Draw the ranks of the truth in its posterior, flat when the posterior is honest.

    99 % of the bars of an honest posterior lie in the grey band.

    Args:
        ranks: Normalised ranks in [0, 1] by name of the parameter.
    """
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    places = figure.subplots(1, len(ranks), squeeze=False)[0]
    for axes, (name, values) in zip(places, ranks.items(), strict=True):
        expected = len(values) / bins
        spread = 2.576 * np.sqrt(expected * (1.0 - 1.0 / bins))
        axes.axhspan(expected - spread, expected + spread, color="0.85")
        axes.hist(values, bins=bins, range=(0.0, 1.0), color=COLOURS[0])
        label_axes(axes, f"rank of {name}", "cases")
    figure.suptitle("Rank of the truth")
    return figure


def coverage(
    levels: Sequence[float], found: Mapping[str, Sequence[float]], *, cases: int
) -> Figure:
    """Draw the share of regions that hold the truth against their stated level.

    An honest posterior lies on the diagonal, within the grey band of 99 %.

    Args:
        found: Measured shares by name of the posterior.
        cases: Number of cases behind each share.
    """
    figure = Figure(figsize=(4.8, 4.6), layout="constrained")
    axes = figure.subplots()
    line = np.linspace(0.0, 1.0, 101)
    spread = 2.576 * np.sqrt(line * (1.0 - line) / max(cases, 1))
    axes.fill_between(line, line - spread, line + spread, color="0.85")
    axes.plot(line, line, "-", color=COLOURS[6], linewidth=0.8)
    for colour, (name, shares) in zip(COLOURS, found.items(), strict=False):
        axes.plot(levels, shares, "o-", color=colour, label=name)
    axes.legend(frameon=False)
    label_axes(axes, "stated level", "share that holds the truth")
    figure.suptitle("Coverage")
    return figure
