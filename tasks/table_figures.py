"""Figures of the study of shooting: scores and speeds of each row, and where its shots crossed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from models.core.hockey_table import Table
from models.simulators.air_hockey_outcome import Outcome

_OURS, _PAPERS = "tab:blue", "0.55"


def rows(found: Mapping[str, Mapping[str, Any]], paper: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Draw score against speed at the goal line.

    Args:
        found: Rows of the study by name.
        paper: The paper's rows by name.

    Returns:
        The figure; bars are the 95 % interval of the score and one standard deviation of the speed.
    """
    figure = Figure(figsize=(7.5, 5.0), layout="constrained")
    axes = figure.subplots()
    for name, row in paper.items():
        axes.plot(row["speed_mean"], row["score"], "s", color=_PAPERS, ms=6)
        axes.annotate(name, (row["speed_mean"], row["score"]), (6, -11), color=_PAPERS,
                      textcoords="offset points", fontsize=8)  # fmt: skip
    for name, row in found.items():
        if row["speed_mean"] is None:
            continue
        low, high = (float(end) for end in row["score_interval"])
        score = row["score"]
        reach = [[score - low], [high - score]]
        axes.errorbar(row["speed_mean"], row["score"], yerr=reach, xerr=row["speed_std"] or 0.0,
                      fmt="o", color=_OURS, capsize=3, lw=1, alpha=0.8)  # fmt: skip
        axes.annotate(name, (row["speed_mean"], row["score"]), (6, 5), color=_OURS,
                      textcoords="offset points", fontsize=9)  # fmt: skip
    axes.set_xlabel("speed of goals at the line / (m/s)")
    axes.set_ylabel("share of shots that scored")
    axes.set_ylim(0.0, 1.05)
    axes.set_title("blue: this study; grey squares: Table I of the paper, in its own simulator")
    return figure


def crossings(found: Mapping[str, Sequence[Outcome]]) -> Figure:
    """Draw where the shots of each row crossed the goal line, and how fast.

    Args:
        found: Outcomes by row.

    Returns:
        The figure; the shaded band is a clean passage, colours count banks.
    """
    figure = Figure(figsize=(9.0, 0.9 + 0.55 * len(found)), layout="constrained")
    axes, half = figure.subplots(), Table().clean_half_width
    colours = ("tab:blue", "tab:orange", "tab:red")
    axes.axvspan(-half, half, color="0.9")
    for place, (_name, outcomes) in enumerate(found.items()):
        crossed = [each for each in outcomes if np.isfinite(each.y_at_line)]
        for banks, colour in enumerate(colours):
            y = [each.y_at_line for each in crossed if min(each.banks, 2) == banks]
            label = ("direct", "one bank", "more banks")[banks] if place == 0 else None
            height = place + 0.1 * (banks - 1.0) + 0.0 * np.array(y)
            axes.plot(y, height, "|", ms=9, color=colour, label=label)
        axes.annotate(f"{len(crossed)} of {len(outcomes)} crossed", (0.128, place), fontsize=8)
    axes.set_yticks(range(len(found)), list(found))
    axes.invert_yaxis()
    axes.set_xlim(-0.13, 0.175)
    axes.set_xlabel("place on the goal line / m")
    axes.legend(loc="upper left", frameon=False, ncols=3, bbox_to_anchor=(0.0, 1.12))
    return figure
