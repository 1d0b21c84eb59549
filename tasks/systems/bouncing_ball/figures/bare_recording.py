"""Figures of a calibration from times alone: the sound with its bounces, restitution by speed.

Every function returns a Matplotlib figure that the caller saves or logs.
"""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.calibration.times_only import BareCalibration
from ricochet.tasks.figures.style import COLOURS, label_axes

_POINTS = 1600  # of an envelope
_DEEPEST = -70.0  # dB


def overview(
    found: BareCalibration, samples: Float[ndarray, " frame"], sample_rate: float, *, title: str
) -> Figure:
    """Draw a recording's envelope with the bounces that were used, and below it what they say."""
    figure = Figure(figsize=(9.0, 8.0), layout="constrained")
    above, middle, below = figure.subplots(3, 1, height_ratios=(1.2, 1.0, 1.0))
    _sound(above, found, samples, sample_rate)
    for number, ratios in enumerate(found.ratios):
        middle.plot(np.arange(1, len(ratios) + 1), ratios, ".-", color=_colour(number), lw=0.6)
    middle.xaxis.set_major_locator(MaxNLocator(integer=True))
    label_axes(middle, "bounce", "ratio of intervals")
    _by_speed(below, found)
    names = ", ".join(finding.name for finding in found.findings) or "no finding"
    figure.suptitle(f"{title}: {sum(len(drop.times) for drop in found.drops)} bounces, {names}")
    return figure


def restitution_by_speed(found: BareCalibration, *, title: str) -> Figure:
    """Draw restitution over the impact speeds that were met, with its 90 % band."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    _by_speed(figure.subplots(), found)
    figure.suptitle(f"{title}: restitution by impact speed")
    return figure


def _sound(
    axes: Axes, found: BareCalibration, samples: Float[ndarray, " frame"], sample_rate: float
) -> None:
    step = max(1, len(samples) // _POINTS)
    whole = len(samples) // step * step
    peaks = np.abs(samples[:whole]).reshape(-1, step).max(axis=1)
    level = 20.0 * np.log10(np.maximum(peaks / peaks.max(), 10.0 ** (_DEEPEST / 20.0)))
    clock = np.arange(len(level)) * step / sample_rate
    axes.fill_between(clock, _DEEPEST, level, color=COLOURS[6], alpha=0.5, linewidth=0.0)
    for number, drop in enumerate(found.drops):
        axes.vlines(drop.times, _DEEPEST, 2.0, color=_colour(number), linewidth=0.8)
        label = f"drop {number + 1}: {len(drop.times)} bounces"
        axes.annotate(label, (float(drop.times[0]), 3.0), color=_colour(number), fontsize=9)
    axes.set_xlim(0.0, len(samples) / sample_rate)
    axes.set_ylim(_DEEPEST, 12.0)
    label_axes(axes, "time, s", "peak, dB")


def _by_speed(axes: Axes, found: BareCalibration) -> None:
    speed = [each.speed for each in found.band]
    low, high = np.array([each.region_90 for each in found.band]).T
    axes.fill_between(speed, low, high, color=COLOURS[5], alpha=0.5, label="restitution, 90 %")
    axes.plot(speed, [each.mean for each in found.band], color=COLOURS[0], label="mean")
    for number, drop in enumerate(found.drops):
        gaps = np.diff(drop.times)
        at = [n for n in range(1, len(gaps)) if not {n - 1, n} & set(drop.missing)]
        ratios = [gaps[n] / gaps[n - 1] for n in at]
        label = "ratio of intervals, air not taken out" if number == 0 else None
        met = [0.5 * GRAVITY * gaps[n - 1] for n in at]
        axes.plot(met, ratios, ".", color=_colour(number), markersize=4, label=label)
    axes.errorbar(
        found.at_first_bounce.speed,
        found.at_first_bounce.mean,
        np.abs(np.array([found.at_first_bounce.region_90]).T - found.at_first_bounce.mean),
        fmt="o",
        color=COLOURS[1],
        label="first bounce",
    )
    reach = max(0.01, 3.0 * float(np.median(high - low)))
    axes.set_ylim(min(low) - reach, max(high) + reach)
    axes.legend(frameon=False, fontsize=8)
    label_axes(axes, "impact speed, m/s", "restitution")


def _colour(number: int) -> str:
    return COLOURS[(0, 1, 2, 3, 4)[number % 5]]
