"""How each controller fared with tossed balls: figures 7, 13 and 14 of Matl et al."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ricochet.models.systems.bouncing_ball.tracking import outcomes
from ricochet.tasks.figures.style import COLOURS

Balls = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Ball, controller, row of `models.systems.bouncing_ball.tracking.outcomes.row`."""

KINDS = {
    "success": ("touched", COLOURS[2]),
    "outliers": ("outliers", COLOURS[1]),
    "missed": ("missed otherwise", COLOURS[4]),
    "boundaries": ("outside the boundaries", "#BBBBBB"),
}
SHORT = {
    "stay": "stay",
    "intercept": "Alg. 1",
    "intercept_frictionless": "Alg. 1b",
    "cautious_intercept": "Alg. 2",
    "belief": "belief",
}


def shares(balls: Balls) -> Figure:
    """Draw success and failures within the boundaries, and energies (Fig. 7)."""
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    _stack(left, balls, ("success", "outliers", "missed"), of=lambda row, kind: row[kind])
    _whiskers(left, balls)
    left.set_ylabel("share of tosses within the boundaries")
    _energies(right, balls)
    return figure


def all_tosses(balls: Balls) -> Figure:
    """Draw how every toss ended, those outside the boundaries too (Fig. 13).

    A line from each part's end is the 95 % interval of that part alone.
    """
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    axes = figure.subplots()
    parts = [[row["counts"][kind] for row in _rows(balls)] for kind in KINDS]
    _stack(axes, balls, tuple(KINDS), of=lambda row, kind: row["counts"][kind])
    _part_whiskers(axes, balls, parts)
    axes.set_ylabel("tosses")
    return figure


def outliers_by_bounce(balls: Balls) -> Figure:
    """Draw failures due to outliers by the bounce that was mislocated first (Fig. 14).

    A line from each part's end is the 95 % interval of that part alone.
    """
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    axes = figure.subplots()
    places = _places(balls)
    bottom, parts = np.zeros(len(places)), []
    for colour, when in zip(COLOURS, ("first", "second", "later"), strict=False):
        heights = [row["outliers_by_bounce"][when] for row in _rows(balls)]
        label = f"{when} bounce" if when != "later" else "a later bounce"
        axes.bar(places, heights, bottom=bottom, color=colour, width=0.8, label=label)
        bottom += heights
        parts.append(heights)
    _part_whiskers(axes, balls, parts)
    _name(axes, balls)
    axes.set_ylabel("failures due to outliers, tosses")
    axes.legend(frameon=False)
    return figure


def _rows(balls: Balls) -> list[Mapping[str, Any]]:
    return [row for rows in balls.values() for row in rows.values()]


def _places(balls: Balls) -> np.ndarray:
    """Bars stand in groups, a ball each."""
    places, start = [], 0.0
    for rows in balls.values():
        places += [start + index for index in range(len(rows))]
        start += len(rows) + 0.8
    return np.array(places)


def _stack(axes: Axes, balls: Balls, kinds: tuple[str, ...], *, of: Any) -> None:
    places = _places(balls)
    bottom = np.zeros(len(places))
    for kind in kinds:
        heights = np.array([of(row, kind) for row in _rows(balls)])
        label, colour = KINDS[kind]
        axes.bar(places, heights, bottom=bottom, color=colour, width=0.8, label=label)
        bottom += heights
    _name(axes, balls)
    axes.legend(
        frameon=False, ncols=min(3, len(kinds)), loc="lower left", bbox_to_anchor=(0.0, 1.0)
    )


def _whiskers(axes: Axes, balls: Balls) -> None:
    rows = _rows(balls)
    share = np.array([row["success"] for row in rows])
    ends = np.array([row["success_interval"] for row in rows])
    length = np.abs(ends.T - share)
    axes.errorbar(_places(balls), share, length, fmt="none", ecolor="black", capsize=3)


def _part_whiskers(axes: Axes, balls: Balls, parts: Sequence[Sequence[int]]) -> None:
    """Draw the exact 95 % interval of each part of stacked counts at its end, side by side."""
    cases = [row["tosses"] for row in _rows(balls)]
    ends = np.cumsum(parts, axis=0)
    shifts = 0.2 * (np.arange(len(parts)) - 0.5 * (len(parts) - 1))
    for counts, end, shift in zip(parts, ends, shifts, strict=True):
        shares = [outcomes.interval(*pair) for pair in zip(counts, cases, strict=True)]
        bounds = np.array(shares).T * cases
        length = np.abs(bounds - np.array(counts))
        look: dict[str, Any] = {"fmt": "none", "ecolor": "black", "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(_places(balls) + shift, end, length, **look)


def _energies(axes: Axes, balls: Balls) -> None:
    places = _places(balls)
    kinds = (
        ("energy", "all tosses", COLOURS[0], -0.2),
        ("energy_successes", "touched", COLOURS[5], 0.2),
    )
    for key, label, colour, shift in kinds:
        means = np.array([row[key] for row in _rows(balls)], dtype=float)  # no toss: no bar
        errors = np.array([1.96 * (row[f"{key}_error"] or 0.0) for row in _rows(balls)])
        axes.bar(places + shift, means, 0.4, yerr=errors, color=colour, label=label, capsize=2)
    _name(axes, balls)
    axes.set_ylabel("energy over mass, m$^2$/s")
    axes.legend(frameon=False)


def _name(axes: Axes, balls: Balls) -> None:
    """Name each bar below it, and each group below its bars."""
    places = _places(balls)
    labels = [SHORT.get(name, name) for rows in balls.values() for name in rows]
    axes.set_xticks(places, labels, rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
    first = 0
    for ball, rows in balls.items():
        middle = places[first : first + len(rows)].mean()
        axes.text(middle, -0.22, ball, transform=axes.get_xaxis_transform(), ha="center", va="top")
        first += len(rows)
    axes.spines[["top", "right"]].set_visible(False)
