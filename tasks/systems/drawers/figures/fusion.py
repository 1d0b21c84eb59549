"""A drawer before and after the light goes off: camera, the paper's fusion and ours (Fig. 8).

`python -m ricochet.tasks.systems.drawers.figures.fusion FOLDER` learns from seven simulated
sessions and follows an eighth: two minutes.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.tracking.follower import Estimates
from ricochet.tasks.figures import style
from ricochet.tasks.systems.drawers import trials
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.trials import Trial

DRAWER, SESSIONS = "cabinet-top", 8
BEFORE, AFTER = 15.0, 45.0
"""s about the moment when the light goes off, that are drawn."""
PANELS = {
    "coast": "camera alone, on with the last velocity",
    "paper": "camera and sound as in the paper",
    "ours": "camera and sound, ours, with intervals of 90 %",
}


def make(folder: Path, setting: Setting | None = None, sessions: int = SESSIONS) -> None:
    """Write the picture into a folder."""
    setting = setting or Setting(DRAWER)
    *learnt_from, last = (recorded.session(setting, seed) for seed in range(sessions))
    draw = torch.Generator().manual_seed(0)
    learnt = trials.learn([each.frames for each in learnt_from], draw)
    trial = recorded.trial(last, setting, sessions - 1)
    _, ours = trials.follow(learnt, trial)
    found = trials.positions(learnt, trial, ours)
    style.write(folder, {"fusion": _drawn(trial, found, ours)})


def _drawn(trial: Trial, found: dict[str, Float[ndarray, " frame"]], ours: Estimates) -> Figure:
    figure = Figure(figsize=(9.0, 6.4), layout="constrained")
    times = PERIOD * np.arange(1, len(trial.dark) + 1)
    light_off = float(times[~trial.dark][-1])
    shown = (times >= light_off - BEFORE) & (times <= light_off + AFTER)
    for axes, (way, title) in zip(
        figure.subplots(len(PANELS), sharex=True, sharey=True), PANELS.items(), strict=True
    ):
        axes.axvspan(times[shown][0], light_off, color="#F0E442", alpha=0.25, lw=0)
        if way == "ours":
            low, high = ours.low[shown], ours.high[shown]
            axes.fill_between(times[shown], low, high, color=style.COLOURS[0], alpha=0.25, lw=0)
        _lines(axes, times[shown], found[way][shown], trial.frames.labels.position[shown])
        off = (found[way] - trial.frames.labels.position)[shown & trial.dark]
        axes.set_title(f"{title}: in the dark off by {np.sqrt(np.mean(off**2)):.3f} m", fontsize=10)
        axes.margins(x=0.0, y=0.25)
        style.label_axes(axes, "time / s" if way == "ours" else "", "opening / m")
    return figure


def _lines(
    axes: Axes,
    times: Float[ndarray, " frame"],
    believed: Float[ndarray, " frame"],
    truth: Float[ndarray, " frame"],
) -> None:
    axes.plot(times, truth, color="k", lw=1.0, label="measured")
    axes.plot(times, believed, color=style.COLOURS[0], lw=1.5, label="believed")
    axes.legend(frameon=False, ncols=2, fontsize=8, loc="upper left")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
