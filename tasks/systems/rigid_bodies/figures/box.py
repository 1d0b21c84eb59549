"""Where weights in a shaken box are: draws of rows beside the truth, and errors of all rows."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy import ndarray

from ricochet.models.systems.rigid_bodies.box_parameters import WEIGHTS_HIGH
from ricochet.tasks.figures import style

_NUMBERS = {
    "sum_error_mm": "error of the sum / mm",
    "weight_error_mm": "worse weight's error / mm",
    "sd_mm": "deviation / mm",
    "log_p_obs": "log p of a further recording / nats",
}
_ACROSS = 5
_LEAST = {"sd_mm": 0.1}
"""At which less is drawn: chains that stand still have no deviation."""


def places(laws: Mapping[str, ndarray], truth: ndarray) -> Figure:
    """Draw where each row has the weights, x and y of both, in m; stars are the truth."""
    figure = Figure(
        figsize=(2.6 * _ACROSS, 1.9 * math.ceil(len(laws) / _ACROSS) + 0.4), layout="constrained"
    )
    table = figure.subplots(math.ceil(len(laws) / _ACROSS), _ACROSS, squeeze=False).ravel()
    for axes, (name, drawn) in zip(table, laws.items(), strict=False):
        _box(axes)
        for weight, colour in ((0, style.COLOURS[0]), (2, style.COLOURS[1])):
            points = 1e3 * drawn[:, weight : weight + 2]
            axes.plot(*points.T, "o", ms=3, alpha=0.4, color=colour)
        axes.plot(1e3 * truth[::2], 1e3 * truth[1::2], "k*", ms=8, mec="w", mew=0.6)
        axes.set_title(name, fontsize=9)
    for axes in table[len(laws) :]:
        axes.set_visible(False)
    figure.supxlabel("x / mm", fontsize=9)
    figure.supylabel("y / mm", fontsize=9)
    return figure


def errors(each: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]) -> Figure:
    """Draw the numbers of every row and placement, by each motion of the arm."""
    names = list(next(iter(each.values())))
    figure = Figure(figsize=(11.0, 0.24 * len(names) + 1.2), layout="constrained")
    panels = figure.subplots(1, len(_NUMBERS), sharey=True)
    for axes, (metric, label) in zip(panels, _NUMBERS.items(), strict=True):
        for number, (motion, rows) in enumerate(each.items()):
            for place, name in enumerate(names):
                values = [max(one[metric], _LEAST.get(metric, -math.inf)) for one in rows[name]]
                shown = f"motion: {motion}" if place == 0 else None
                height = [place + 0.3 * number - 0.15] * len(values)
                axes.plot(
                    values, height, "o", ms=3, alpha=0.5, color=style.COLOURS[number], label=shown
                )
        axes.set_xscale("symlog", linthresh=10.0) if metric == "log_p_obs" else axes.set_xscale(
            "log"
        )
        style.label_axes(axes, label, "")
        axes.grid(axis="y", color="0.9")
    panels[0].set_yticks(range(len(names)), names, fontsize=8)
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def _box(axes: Axes) -> None:
    x, y = 1e3 * WEIGHTS_HIGH[0], 1e3 * WEIGHTS_HIGH[1]
    axes.add_patch(Rectangle((-x, -y), 2 * x, 2 * y, fill=False, color="0.6"))
    axes.set_xlim(-1.1 * x, 1.1 * x)
    axes.set_ylim(-1.15 * y, 1.15 * y)
    axes.set_aspect("equal")
    axes.tick_params(labelsize=7)
