"""Figures of the study of synthetic pendulums."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter
from numpy import ndarray

from ricochet.tasks.figures import style
from ricochet.tasks.systems.rigid_bodies.studies.synthetic_pictures import Landscape

_FROM, _TO = 0.5, 3.5
_STATES = ("angle 1 / rad", "angle 2 / rad", "rate 1 / (rad/s)", "rate 2 / (rad/s)")
_METRICS = {
    "kl_real_sim": "KL(real|sim) / nats",
    "kl_sim_real": "KL(sim|real) / nats",
    "mmd2": "squared discrepancy",
    "log_p_obs": "log density of the data / nats",
}


def posteriors(
    particles: Mapping[str, Float[ndarray, "particle 2"]],
    law: tuple[Float[ndarray, " 2"], Float[ndarray, "2 2"]],
    seen: Float[ndarray, "trajectory 2"],
) -> Figure:
    """Draw the particles of each row, the region of the law and the pendulums seen (Fig. 3)."""
    across = min(6, len(particles))
    down = math.ceil(len(particles) / across)
    figure = Figure(figsize=(2.1 * across, 2.1 * down + 0.5), layout="constrained")
    table = np.atleast_1d(figure.subplots(down, across, sharex=True, sharey=True)).ravel()
    for axes, (row, theta) in zip(table, particles.items(), strict=False):
        axes.add_patch(style.region(*law, fill=False, edgecolor=style.COLOURS[1], lw=1.5))
        axes.plot(*seen.T, "x", color="0.3", ms=5)
        axes.plot(*theta.T, ".", color=style.COLOURS[0], ms=4, alpha=0.6)
        axes.set_title(row, fontsize=9)
        axes.set_xlim(_FROM, _TO)
        axes.set_ylim(_FROM, _TO)
    for axes in table[len(particles) :]:
        axes.set_visible(False)
    figure.supxlabel("length of link 1 / m", fontsize=9)
    figure.supylabel("length of link 2 / m", fontsize=9)
    figure.suptitle(
        "blue: a hundred particles; red: 90 % of the law; crosses: the pendulums seen", fontsize=10
    )
    return figure


def on_the_way(
    numbers: Mapping[str, Sequence[Mapping[str, float | None]]],
    bounds: Mapping[str, Mapping[str, float | None]],
) -> Figure:
    """Draw the metrics of each method by the processor time that it had (Fig. 4)."""
    figure = Figure(figsize=(10.0, 6.4), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    names = sorted({row.rsplit("-", 1)[0] for row in numbers})
    for axes, (metric, label) in zip(panels, _METRICS.items(), strict=True):
        for row, steps in numbers.items():
            name, kind = row.rsplit("-", 1)
            time = [step["cpu_s"] for step in steps]
            values = [np.nan if step[metric] is None else step[metric] for step in steps]
            look = "-o" if kind == "ss" else "--s"
            colour = style.COLOURS[names.index(name)]
            axes.plot(time, values, look, color=colour, ms=4, label=row)
        for row, line in bounds.items():
            if line[metric] is not None:
                axes.axhline(line[metric], color="0.6", lw=1.0)
                axes.annotate(row, (0.99, line[metric]), xycoords=("axes fraction", "data"),
                              ha="right", va="bottom", fontsize=7, color="0.4")  # fmt: skip
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        if metric == "log_p_obs":
            axes.set_yscale("symlog", linthresh=100.0)
        style.label_axes(axes, "processor time / s", label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure


def landscapes(found: Mapping[str, Landscape], titles: Mapping[str, str]) -> Figure:
    """Draw densities over both lengths; particles where there are some."""
    figure = Figure(figsize=(5.2 * len(found), 4.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(found), sharey=True))
    for axes, (name, each) in zip(panels, found.items(), strict=True):
        _landscape(axes, each)
        axes.set_title(titles[name], fontsize=10)
        style.label_axes(axes, "length of link 1 / m", "length of link 2 / m")
    return figure


def _landscape(axes: Axes, found: Landscape) -> None:
    below = found.log_density.max() - found.log_density
    shown = np.log10(np.clip(below, 0.1, None))
    grid = axes.pcolormesh(found.axis, found.axis, shown.T, cmap="viridis_r", rasterized=True)
    if found.particles is not None:
        axes.plot(*found.particles.T, ".", color="white", mec="black", mew=0.4, ms=6)
    axes.plot(*found.points.T, "*", color=style.COLOURS[1], mec="white", ms=13)
    bar = axes.figure.colorbar(grid, ax=axes)
    bar.set_label("nats below the best, log10")


def inputs(found: Mapping[str, Float[ndarray, " input"]]) -> Figure:
    """Draw what likelihood-free methods see of a trajectory (Fig. 11)."""
    figure = Figure(figsize=(10.0, 6.0), layout="constrained")
    for axes, (name, values) in zip(figure.subplots(2, 2).ravel(), found.items(), strict=True):
        axes.bar(range(len(values)), values, color=style.COLOURS[0])
        axes.set_title(f"{name}, {len(values)} numbers", fontsize=10)
        style.label_axes(axes, "number", "value, states over their deviations")
    return figure


def motions(
    found: Mapping[str, Float[ndarray, "particle step 4"]],
    tests: Float[ndarray, "test step 4"],
    duration: float,
) -> Figure:
    """Draw how the particles of some rows move, over the pendulums to be predicted (Fig. 12b)."""
    figure = Figure(figsize=(10.0, 1.9 * len(found) + 0.4), layout="constrained")
    table = figure.subplots(len(found), len(_STATES), sharex=True, sharey="col")
    time = duration * np.arange(1, tests.shape[1] + 1)
    for line, (row, states) in zip(np.atleast_2d(table), found.items(), strict=True):
        for place, axes in enumerate(line):
            axes.plot(time, tests[..., place].T, color=style.COLOURS[1], lw=0.5, alpha=0.4)
            axes.plot(time, states[::4, :, place].T, color=style.COLOURS[0], lw=0.5, alpha=0.5)
            axes.set_title(_STATES[place] if row == next(iter(found)) else "", fontsize=9)
        line[0].set_ylabel(row)
    figure.supxlabel("time / s (red: pendulums to be predicted, blue: particles)", fontsize=9)
    return figure


TITLES: Mapping[str, Any] = {
    "ss": "single shooting",
    "ms": "multiple shooting, 10 windows",
    "product": "densities of two trajectories multiplied (Eq. 10)",
    "sum": "densities of two trajectories added (Eq. 9)",
}
