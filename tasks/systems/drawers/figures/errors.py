"""Pictures of the study: errors of speed and of position, as Figs. 6 and 9, and the sweep."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ricochet.tasks.figures import style

PHASES = {"light_on": "light on", "light_off": "light off", "total": "total"}
WAYS = ("vision", "coast", "mid_stroke", "paper", "ours")
SPEEDS = {
    "mean": "no sound: the mean",
    "loudness": "loudness",
    "pitch": "pitch",
    "both": "both",
    "cubic": "both, cubic",
    "pcr": "components",
    "pcr_log": "components of log amplitudes",
    "ours": "ours",
}
SETTINGS = {
    "moving_share": "{:g} of the sound moves",
    "snr": "{:.0f} dB over the noise",
    "reverberation_time": "rooms of {} s",
    "texture": "rails without texture",
    "impacts": "limits without a sound",
    "person": "a {} person",
}


def speeds(drawers: Mapping[str, Any]) -> Figure:
    """Draw errors of speed of each way, by drawer (Fig. 6)."""
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axes = figure.subplots()
    known = next(iter(drawers.values()))["speed_rmse"]
    ways = [way for way in SPEEDS if way in known]
    _bars(axes, drawers, ways, lambda found, way: found["speed_rmse"][way])
    style.label_axes(axes, "", "error of speed / (m/s)")
    axes.legend(frameon=False, ncols=4, fontsize=8, loc="upper left")
    axes.margins(y=0.35)
    return figure


def positions(drawers: Mapping[str, Any]) -> Figure:
    """Draw errors of position of each way, by phase and drawer (Fig. 9)."""
    figure = Figure(figsize=(11.0, 3.2), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (phase, title) in zip(panels, PHASES.items(), strict=True):
        _bars(
            axes,
            drawers,
            WAYS,
            lambda found, way, phase=phase: found["position_rmse"][phase][way],
        )
        axes.set_title(title, fontsize=10)
        style.label_axes(axes, "", "error of position / m" if phase == "light_on" else "")
        axes.tick_params(axis="x", labelsize=7)
    panels[0].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def sweep(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the error in the dark over that of the middle of the stroke, by setting."""
    figure = Figure(figsize=(7.0, 0.6 + 0.28 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        found = row["ours_over_mid_stroke"]
        axes.plot(
            found["interval"] or [found["value"]] * 2, [place, place], color=style.COLOURS[0], lw=2
        )
        axes.plot([found["value"]], [place], "o", color=style.COLOURS[0], ms=5)
    axes.axvline(1.0, color="0.6", lw=1)
    axes.set_yticks(range(len(rows)), [_named(row["setting"]) for row in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(left=0.0)
    style.label_axes(axes, "error in the dark, ours over the middle of the stroke", "")
    return figure


def _bars(axes: Axes, drawers: Mapping[str, Any], ways: Sequence[str], value: Any) -> None:
    """Draw a group of bars with their intervals for each drawer."""
    width = 0.8 / len(ways)
    for number, (way, colour) in enumerate(zip(ways, _colours(len(ways)), strict=True)):
        found = [value(each, way) for each in drawers.values()]
        heights = np.array([each["value"] for each in found])
        ends = np.array([each["interval"] or [each["value"]] * 2 for each in found]).T
        places = np.arange(len(drawers)) + (number + 0.5) * width - 0.4
        errors = np.abs(ends - heights)
        axes.bar(places, heights, width, color=colour, label=SPEEDS.get(way, way.replace("_", " ")))
        axes.errorbar(places, heights, errors, fmt="none", ecolor="0.25", elinewidth=0.8)
    axes.set_xticks(range(len(drawers)), list(drawers), fontsize=8)


def _colours(count: int) -> list[str]:
    """Return a colour a way; ours, the last, is always the same."""
    return [*[*style.COLOURS[1:], "0.6"][: count - 1], style.COLOURS[0]]


def _named(setting: Mapping[str, Any]) -> str:
    """Say a setting of the sweep in words."""
    if not setting:
        return "as usual"
    if "array" in setting:
        return f"ring of {setting['array'].removeprefix('ring-')}, {setting['place']}"
    return ", ".join(SETTINGS[name].format(value) for name, value in setting.items())
