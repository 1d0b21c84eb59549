"""Picture of the study: passes of each row by distance, ours beside the paper's Table I."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ricochet.models.systems.batting.table import DISTANCES
from ricochet.tasks.figures import style

SHOWN = ("ours", "A", "B", "C", "D", "E")


def passes(result: Mapping[str, Any]) -> Figure:
    """Draw passes by distance: with the filter, with the state known, and as printed."""
    figure = Figure(figsize=(10.0, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3, sharey=True)
    printed = {
        row: {"passes": dict(zip(_keys(), counts, strict=True))}
        for row, counts in result["paper"].items()
    }
    for axes, rows, title in (
        (left, result["rows"], "seen by the camera"),
        (middle, result["known_state"], "state known"),
        (right, printed, "Table I of the paper"),
    ):
        _panel(axes, rows)
        axes.set_title(title, fontsize=10)
        below = "passes in ten trials of 200 s" if axes is left else ""
        style.label_axes(axes, "distance of a pass / m", below)
    left.set_yscale("symlog", linthresh=10.0)
    left.legend(loc="upper left", frameon=False, ncols=2, fontsize=8)
    return figure


def _panel(axes: Axes, rows: Mapping[str, Any]) -> None:
    for row, colour in zip(SHOWN, style.COLOURS, strict=False):
        if row not in rows:
            continue
        counts = [rows[row]["passes"][key] for key in _keys()]
        axes.plot(DISTANCES, counts, "o-", ms=3, color=colour, label=row)
        if "interval" in rows[row]:
            low, high = np.array([rows[row]["interval"][key] for key in _keys()]).T
            axes.fill_between(DISTANCES, low, high, color=colour, alpha=0.15, lw=0.0)


def _keys() -> list[str]:
    return [f"{distance:.2f}" for distance in DISTANCES]
