"""A drawer followed through a take: where it is believed to be, and where it was."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.tasks.figures import style
from ricochet.tasks.systems.drawers.calibration import Calibrated, Shown

FILE = "followed.png"
BEFORE, AFTER = 8.0, 40.0
"""s about the moment when the light goes off, that are drawn."""


def write(found: Calibrated, folder: Path) -> None:
    """Write the picture of a calibration, if a take was tried or predicted."""
    if found.shown is not None:
        style.write(folder, {Path(FILE).stem: draw(found.shown)})


def draw(shown: Shown) -> Figure:
    """Draw the belief with its intervals, and the truth where it is known."""
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    axes = figure.subplots()
    ours, grammar = shown.estimates, shown.grammar
    times = PERIOD * np.arange(1, len(ours.place) + 1)
    drawn = (times >= shown.light_off - BEFORE) & (times <= shown.light_off + AFTER)
    axes.axvspan(times[drawn][0], shown.light_off, color="#F0E442", alpha=0.25, lw=0)
    middle = 0.5 * (grammar.low + grammar.high)
    axes.axhline(middle, color="0.6", ls="--", lw=1, label="middle of the stroke")
    axes.fill_between(
        times[drawn],
        ours.low[drawn],
        ours.high[drawn],
        color=style.COLOURS[0],
        alpha=0.25,
        lw=0,
        label="interval of 90 %",
    )
    axes.plot(times[drawn], ours.place[drawn], color=style.COLOURS[0], lw=1.5, label="believed")
    if shown.truth is not None:
        axes.plot(times[drawn], shown.truth[drawn], color="k", lw=1.0, label="measured")
    axes.set_title(f"{shown.name}: seen while there is light, then heard", fontsize=10)
    axes.legend(frameon=False, ncols=4, fontsize=8, loc="upper center")
    axes.margins(x=0.0, y=0.25)
    style.label_axes(axes, "time / s", "opening / m")
    return figure
