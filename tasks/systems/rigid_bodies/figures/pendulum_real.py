"""Figures of the study of the filmed pendulum."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ricochet.tasks.figures import style
from ricochet.tasks.systems.rigid_bodies.studies import filmed_pendulum, likelihood_free
from ricochet.tasks.systems.rigid_bodies.studies.filmed_pendulum import RATE, STEPS, Film
from ricochet.tasks.systems.rigid_bodies.studies.real_rows import Found

_METRICS = {
    "kl_real_sim": "KL(real|sim) / nats",
    "kl_sim_real": "KL(sim|real) / nats",
    "mmd2": "squared discrepancy",
    "energy_score": "energy score / deviations",
    "fit_rmse": "best fit / deviations",
}
_ANGLES = ("angle 1", "angle 2")
_ACROSS = 4


def motions(film: Film, particles: Mapping[str, Found]) -> dict[str, Figure]:
    """Draw where the particles of each row go from the first test (Figs. 5, 8, 9; 10)."""
    learnt = {row: each for row, each in particles.items() if row in likelihood_free.NAMES}
    others = {row: each for row, each in particles.items() if row not in learnt}
    return {"motions": _motions(film, others), "motions_learnt": _motions(film, learnt)}


def _motions(film: Film, particles: Mapping[str, Found]) -> Figure:
    down = math.ceil(len(particles) / _ACROSS)
    figure = Figure(figsize=(2.7 * _ACROSS, 2.1 * down + 0.6), layout="constrained")
    table = np.atleast_1d(figure.subplots(down, _ACROSS, sharex=True, sharey=True)).ravel()
    for axes, (row, found) in zip(table, particles.items(), strict=False):
        _motion(axes, film, found)
        axes.set_title(row, fontsize=9)
    for axes in table[len(particles) :]:
        axes.set_visible(False)
    shown = figure.legend(
        *table[0].get_legend_handles_labels(), loc="outside upper center", ncols=4
    )
    for handle in shown.legend_handles:
        if handle is not None:
            handle.set(alpha=1.0, linewidth=1.6)
    figure.supxlabel("time / s", fontsize=9)
    figure.supylabel("angle / rad", fontsize=9)
    return figure


def _motion(axes: Axes, film: Film, found: Found) -> None:
    came = film.tests[0, 1:]
    states = filmed_pendulum.rolled(found.parameters, film.tests[:1, 0], found.departures)[:, 0]
    time = np.arange(1, STEPS + 1) / RATE
    for place, name in enumerate(_ANGLES):
        colour = style.COLOURS[place]
        lines = axes.plot(time, states[..., place].T, color=colour, lw=0.5, alpha=0.25)
        lines[0].set_label(f"{name}, particles")
        axes.plot(time, came[:, place], color="white", lw=3.2)
        axes.plot(time, came[:, place], "-" if place == 0 else "--", color="black", lw=1.4,
                  label=f"{name}, filmed")  # fmt: skip
    middle, reach = came[:, :2].mean(), np.ptp(came[:, :2])
    axes.set_ylim(middle - reach, middle + reach)


def metrics(numbers: Mapping[str, Sequence[Mapping[str, float | None]]]) -> Figure:
    """Draw the metrics of all rows, a dot a seed; rows that are infinite have no dot."""
    figure = Figure(figsize=(12.0, 0.24 * len(numbers) + 1.0), layout="constrained")
    panels = figure.subplots(1, len(_METRICS), sharey=True)
    for axes, (metric, label) in zip(panels, _METRICS.items(), strict=True):
        for place, each in enumerate(numbers.values()):
            values = [one[metric] for one in each if one[metric] is not None]
            axes.plot(values, [place] * len(values), "o", color=style.COLOURS[0], ms=4, alpha=0.7)
        style.label_axes(axes, label, "")
        axes.grid(axis="y", color="0.9")
    panels[0].set_yticks(range(len(numbers)), list(numbers), fontsize=8)
    panels[0].invert_yaxis()
    return figure
