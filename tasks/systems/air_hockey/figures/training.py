"""Figures of the learnt shots, and of what the training did.

They follow Figs. 4 and 5 of Jankowski, Maric et al., "Energy-based Contact Planning under
Uncertainty for Robot Air Hockey". Arrays come in the table's frame, m; the goal that is shot at is
at the right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle
from numpy import ndarray

from ricochet.models.systems.air_hockey.puck.prediction_checks import LEVELS, Row
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.figures import style
from ricochet.tasks.figures.style import COLOURS

BANKS = ("direct", "one bank", "two banks or more")


@dataclass(frozen=True)
class Flight:
    """A predicted shot: its places after each period, m, their covariances, m^2, its angle, rad."""

    title: str
    means: Float[ndarray, "time 2"]
    covariances: Float[ndarray, "time 2 2"]
    angle: float


@dataclass(frozen=True)
class Landscape:
    """The energy over ascending angles, rad, for one puck, with the best and the found angle.

    The expert's objective is NaN where the chance constraint forbids an angle.
    """

    title: str
    angles: Float[ndarray, " angle"]
    energy: Float[ndarray, " angle"]
    objective: Float[ndarray, " angle"]
    best: float
    found: float


def flights(shots: Sequence[Flight], table: Table) -> Figure:
    """Draw how the puck's uncertainty grows on its way to the goal, as Fig. 4 of the paper.

    The ellipses hold 90 %.
    """
    figure = Figure(figsize=(7.0, 3.4 * len(shots)), layout="constrained")
    panels = figure.subplots(len(shots), 1, squeeze=False)[:, 0]
    for axes, shot in zip(panels, shots, strict=True):
        _draw_table(axes, table)
        axes.plot(*shot.means.T, "-", color=COLOURS[0], linewidth=1.0)
        for mean, covariance in zip(shot.means[::5], shot.covariances[::5], strict=True):
            axes.add_patch(style.region(mean, covariance, color=COLOURS[0], alpha=0.25))
        behind = table.contact_radius * np.array([np.cos(shot.angle), np.sin(shot.angle)])
        _disc(axes, shot.means[0], table.puck_radius, COLOURS[6])
        _disc(axes, shot.means[0] - behind, table.mallet_radius, COLOURS[1])
        axes.set_title(shot.title)
    return figure


def chosen_shots(
    paths: Mapping[str, Sequence[Float[ndarray, "time 2"]]],
    banks: Mapping[str, Int[ndarray, " shot"]],
    table: Table,
) -> Figure:
    """Draw expected paths, m, of the shots that each setting chooses, as Fig. 5 of the paper."""
    figure = Figure(figsize=(8.4, 3.6 * len(paths)), layout="constrained")
    panels = figure.subplots(len(paths), 1, squeeze=False)[:, 0]
    for axes, (name, rows) in zip(panels, paths.items(), strict=True):
        _draw_table(axes, table)
        kinds = np.minimum(banks[name], len(BANKS) - 1)
        for path, kind in zip(rows, kinds, strict=True):
            axes.plot(*path.T, color=COLOURS[int(kind)], linewidth=0.8, alpha=0.7)
            axes.plot(*path[0], "o", color=COLOURS[6], markersize=3)
        for kind, label in enumerate(BANKS):
            axes.plot([], [], color=COLOURS[kind], label=f"{label}: {int((kinds == kind).sum())}")
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small")
        axes.set_title(name)
    return figure


def landscapes(rows: Mapping[str, Sequence[Landscape]]) -> Figure:
    """Draw energy and objective over the angle, a row a setting, a column a puck.

    Both are scaled to 0 .. 1.
    """
    width = max(len(columns) for columns in rows.values())
    size = (3.4 * width, 2.4 * len(rows) + 0.4)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(rows), width, squeeze=False, sharex=True, sharey=True)
    for line, (name, columns) in zip(grid, rows.items(), strict=True):
        for axes, one in zip(line, columns, strict=True):
            degrees = np.degrees(one.angles)
            axes.plot(degrees, _unit(one.energy), color=COLOURS[0], label="energy")
            axes.plot(degrees, _unit(one.objective), color=COLOURS[2], label="objective")
            axes.axvline(np.degrees(one.best), color=COLOURS[6], linestyle=":", label="expert")
            axes.axvline(np.degrees(one.found), color=COLOURS[1], linestyle="--", label="search")
            axes.set_title(one.title, fontsize="small")
        line[0].set_ylabel(name)
    for axes in grid[-1]:
        axes.set_xlabel("angle / degrees")
    grid[0, 0].legend(frameon=False, fontsize="x-small")
    return figure


def histories(losses: Mapping[str, Sequence[float]], *, candidates: int) -> Figure:
    """Draw the held-out InfoNCE of a training by setting, nats.

    Guessing gives the logarithm of the number of candidates.
    """
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    for colour, (name, values) in zip(COLOURS, losses.items(), strict=False):
        axes.plot(np.arange(1, len(values) + 1), values, color=colour, label=name)
    axes.axhline(np.log(candidates), color="grey", linestyle=":", label="guessing")
    axes.set(xlabel="evaluation on the held-out states", ylabel="InfoNCE / nats")
    axes.legend(frameon=False)
    return figure


def predictions(rows: Sequence[Row]) -> Figure:
    """Draw how well fitted modes predict the puck, compared with a noiseless model.

    Errors are on a logarithmic scale; shares are those inside the 50 and 90 % regions.
    """
    figure = Figure(figsize=(9.6, 0.5 * len(rows) + 1.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(rows))
    for values, colour, label in (
        ([row.error for row in rows], COLOURS[0], "learnt"),
        ([row.baseline for row in rows], COLOURS[1], "noiseless"),
    ):
        left.plot(values, places, "o", color=colour, label=label)
    for level, colour in zip(LEVELS, COLOURS[2:], strict=False):
        held = [row.coverage[LEVELS.index(level)] for row in rows]
        right.plot(held, places, "o", color=colour, label=f"in the {100 * level:g} % region")
        right.axvline(level, color=colour, linestyle=":")
    left.set_yticks(places, [f"{row.mode}, {row.horizon:g} s" for row in rows])
    left.set_xscale("log")
    left.set_xlabel("error: m/s after a period, m after a second")
    right.set_xlabel("share of the predictions")
    right.set_xlim(0.0, 1.03)  # a share of one is seen whole
    for axes in (left, right):
        axes.legend(frameon=False, fontsize="small")
    return figure


def _draw_table(axes: Axes, table: Table) -> None:
    """Draw rims and goals."""
    length, width = 2.0 * table.half_length, 2.0 * table.half_width
    corner = (-table.half_length, -table.half_width)
    axes.add_patch(Rectangle(corner, length, width, fill=False, linewidth=1.5))
    for side in (-1.0, 1.0):
        goal = [-table.goal_half_width, table.goal_half_width]
        axes.plot([side * table.half_length] * 2, goal, color=COLOURS[1], linewidth=4.0)
    axes.set(aspect="equal", xlabel="x / m", ylabel="y / m")


def _disc(axes: Axes, centre: Float[ndarray, " 2"], radius: float, colour: str) -> None:
    """Draw a puck or a mallet."""
    place = (float(centre[0]), float(centre[1]))
    axes.add_patch(Ellipse(place, 2 * radius, 2 * radius, fill=False, color=colour, linewidth=1.5))


def _unit(values: Float[ndarray, " angle"]) -> Float[ndarray, " angle"]:
    """Scale finite values to 0 .. 1; without any, or all equal, return zeros."""
    known = values[np.isfinite(values)]
    if not len(known) or np.ptp(known) == 0.0:
        return np.zeros_like(values)
    return (values - known.min()) / np.ptp(known)
