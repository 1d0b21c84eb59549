"""Figures of the study of shooting: scores and speeds of each row, and where its shots crossed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ricochet.models.systems.air_hockey.shot_outcome import Outcome
from ricochet.models.systems.air_hockey.table import Table

_OURS, _PAPERS = "tab:blue", "0.55"
_COLOURS = ("tab:blue", "tab:green", "tab:red", "0.55")
_NUMBERS = ("score", "speed_mean", "banks_mean")


def rows(found: Mapping[str, Mapping[str, Any]], paper: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Draw score, speed and banks of each row, and those of the paper where it has the row.

    Bars are the 95 % interval of the score and one standard deviation of the speed.
    """
    figure = Figure(figsize=(10.0, 1.2 + 0.45 * len(found)), layout="constrained")
    score, speed, banks = figure.subplots(1, 3, sharey=True, width_ratios=(1.0, 1.2, 0.7))
    for place, (name, row) in enumerate(found.items()):
        low, high = (float(end) for end in row["score_interval"])
        reach = [[row["score"] - low], [high - row["score"]]]
        score.errorbar(row["score"], place, xerr=reach, fmt="o", color=_OURS, capsize=3)
        if row["speed_mean"] is not None:
            spread = row["speed_std"] or 0.0
            speed.errorbar(row["speed_mean"], place, xerr=spread, fmt="o", color=_OURS, capsize=3)
            banks.plot(row["banks_mean"], place, "o", color=_OURS)
        for axes, number in zip((score, speed, banks), _NUMBERS, strict=True):
            if name in paper:
                axes.plot(paper[name][number], place + 0.22, "s", color=_PAPERS, ms=5)
    score.set_yticks(range(len(found)), list(found))
    score.invert_yaxis()
    score.set_xlim(0.0, 1.03)
    score.set_xlabel("share of shots that scored")
    speed.set_xlabel("speed at the goal line / (m/s)")
    banks.set_xlabel("banks of a goal")
    figure.suptitle("blue: this study; grey squares: Table I of the paper, in its own simulator")
    return figure


def moving(
    found: Mapping[str, Mapping[str, Mapping[str, Any]]],
    challenge: Mapping[str, Mapping[str, Any]],
) -> Figure:
    """Draw the scores of moving pucks, by set and row, and those of the challenge's baseline.

    Bars are 95 % intervals.
    """
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    axes = figure.subplots()
    for place, (name, rows_found) in enumerate(found.items()):
        entries = [*rows_found.items(), ("the challenge's baseline", challenge.get(name))]
        for number, (row, each) in enumerate(entries):
            if each is None or each["score"] is None:
                continue
            low, high = each["score_interval"]
            error = [[each["score"] - low], [high - each["score"]]]
            at, colour = place + 0.16 * (number - 1.5), _COLOURS[number]
            label = row if place == 0 else None
            axes.errorbar(at, each["score"], error, fmt="o", capsize=3, color=colour, label=label)
    axes.set_xticks(range(len(found)), list(found))
    axes.set_ylim(0.0, 1.03)
    axes.set_ylabel("share of shots that scored")
    axes.legend(loc="lower left", frameon=False, fontsize=8)
    return figure


def crossings(found: Mapping[str, Sequence[Outcome]]) -> Figure:
    """Draw where the shots of each row crossed the goal line.

    The shaded band is a clean passage, colours count banks.
    """
    figure = Figure(figsize=(9.0, 0.9 + 0.55 * len(found)), layout="constrained")
    axes, half = figure.subplots(), Table().clean_half_width
    colours = ("tab:blue", "tab:orange", "tab:red")
    axes.axvspan(-half, half, color="0.9")
    for place, outcomes in enumerate(found.values()):
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
