"""Histograms of many ranks side by side: flat where a posterior is right."""

import math
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.tasks.figures.style import COLOURS, label_axes

_COLUMNS, _MOST = 4, 24
_PER_BIN, _MOST_BINS = 8, 20


def draw(ranks: Mapping[str, Float[ndarray, " case"]]) -> Figure:
    """Draw the first two dozen; 99 % of the bars of uniform ranks lie in the grey band."""
    shown = dict(list(ranks.items())[:_MOST])
    columns = min(_COLUMNS, len(shown))
    rows = math.ceil(len(shown) / columns)
    figure = Figure(figsize=(2.7 * columns, 2.3 * rows), layout="constrained")
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in places[len(shown) :]:
        axes.set_visible(False)
    for axes, (name, values) in zip(places, shown.items(), strict=False):
        bins = min(_MOST_BINS, max(4, len(values) // _PER_BIN))
        expected = len(values) / bins
        spread = 2.576 * np.sqrt(expected * (1.0 - 1.0 / bins))
        axes.axhspan(max(expected - spread, 0.0), expected + spread, color="0.85")
        axes.hist(values, bins=bins, range=(0.0, 1.0), color=COLOURS[0])
        label_axes(axes, name, "cases")
    figure.suptitle("Rank of the truth: flat where the posterior is right")
    return figure
