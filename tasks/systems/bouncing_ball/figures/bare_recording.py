"""Figures of a calibration from times alone: the sound with its bounces, restitution by speed.

Every function returns a Matplotlib figure that the caller saves or logs.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop, exit_speed, impact
from ricochet.models.systems.bouncing_ball.calibration.times_only import (
    BareCalibration,
    Restitution,
)
from ricochet.tasks.figures.style import COLOURS, label_axes

_POINTS = 1600  # of an envelope
_DEEPEST = -70.0  # dB


def overview(
    found: BareCalibration, samples: Float[ndarray, " frame"], sample_rate: float, *, title: str
) -> Figure:
    """Draw a recording's envelope with the bounces that were used, and below it what they say.

    The title may have further lines, which stand below the bounces' number.
    """
    figure = Figure(figsize=(9.0, 8.0), layout="constrained")
    above, middle, below = figure.subplots(3, 1, height_ratios=(1.2, 1.0, 1.0))
    _sound(above, found, samples, sample_rate)
    for number, ratios in enumerate(found.ratios):
        middle.plot(np.arange(2, len(ratios) + 2), ratios, ".-", color=_colour(number), lw=0.6)
    middle.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    label_axes(middle, "bounce", "ratio of intervals")
    _by_speed(below, found)
    names = ", ".join(finding.name for finding in found.findings) or "no finding"
    count = sum(len(drop.times) for drop in found.drops)
    figure.suptitle(_headed(title, f"{count} bounces, {names}"))
    return figure


def restitution_by_speed(found: BareCalibration, *, title: str) -> Figure:
    """Draw restitution over the impact speeds that were met, with its 90 % band."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    _by_speed(figure.subplots(), found)
    figure.suptitle(_headed(title, "restitution by impact speed"))
    return figure


def _headed(title: str, words: str) -> str:
    """Put the words behind the first line of the title."""
    first, *further = title.splitlines()
    return "\n".join([f"{first}: {words}", *further])


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
        axes.vlines(drop.times, 1.5, 5.5, color=_colour(number), linewidth=0.8)  # above each click
        label = f"drop {number + 1}: {len(drop.times)} bounces"
        axes.annotate(label, (float(drop.times[0]), 6.5), color=_colour(number), fontsize=9)
    axes.set_xlim(0.0, len(samples) / sample_rate)
    axes.set_ylim(_DEEPEST, 14.0)
    label_axes(axes, "time, s", "peak, dB")


def _by_speed(axes: Axes, found: BareCalibration) -> None:
    """Draw the band, lighter and dashed beyond the speeds met, and the ratios that made it."""
    low, high = _band(axes, found.band, alpha=0.5, label="restitution, 90 %")
    if found.beyond:
        _band(axes, found.beyond, alpha=0.2, style="--", label="at speeds that were not met")
    ratios = [_ratios(drop, found.drag or 0.0) for drop in found.drops]
    taken = "not taken out" if found.drag is None else "taken out"
    for number, (speeds, values) in enumerate(ratios):
        label = f"ratio of intervals, air {taken}" if number == 0 else None
        axes.plot(speeds, values, ".", color=_colour(number), markersize=4, label=label)
    _point(axes, found.at_first_bounce, "o", colour=COLOURS[1], label="first bounce")
    reference = found.at_reference
    label = f"reference, {reference.speed:g} m/s"
    _point(axes, reference, "s", colour=COLOURS[2], label=label)
    ends = np.array([each.region_90 for each in (*found.beyond, reference)])
    reach = float(np.clip(3.0 * np.median(high - low), 0.01, 0.1))
    axes.set_ylim(min(low.min() - reach, ends.min()), max(high.max() + reach, ends.max()))
    _mark_outside(axes, *(np.concatenate(part) for part in zip(*ratios, strict=True)))
    axes.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    label_axes(axes, "impact speed, m/s", "restitution")


def _band(
    axes: Axes, band: Sequence[Restitution], *, alpha: float, label: str, style: str = "-"
) -> tuple[Float[ndarray, " speed"], Float[ndarray, " speed"]]:
    """Draw means and 90 % intervals; return the ends of these."""
    speed = [each.speed for each in band]
    low, high = np.array([each.region_90 for each in band]).T
    axes.fill_between(speed, low, high, color=COLOURS[5], alpha=alpha, linewidth=0.0, label=label)
    axes.plot(speed, [each.mean for each in band], style, color=COLOURS[0])
    return low, high


def _point(axes: Axes, at: Restitution, mark: str, *, colour: str, label: str) -> None:
    error = np.abs(np.array([at.region_90]).T - at.mean)
    axes.errorbar(at.speed, at.mean, error, fmt=mark, color=colour, markersize=5, label=label)


def _ratios(drop: Drop, drag: float) -> tuple[Float[ndarray, " ratio"], Float[ndarray, " ratio"]]:
    """Return impact speeds and what the intervals say of restitution there, none across a gap.

    Without drag, 1/m, these are the ratios of the intervals.
    """
    gaps = np.diff(drop.times)
    at = [n for n in range(1, len(gaps)) if not {n - 1, n} & set(drop.missing)]
    away = np.array([exit_speed(float(gap), np.array(drag)) for gap in gaps])
    met = impact(away[[n - 1 for n in at]], np.array(drag))
    return met, away[at] / met


def _mark_outside(
    axes: Axes, speeds: Float[ndarray, " ratio"], ratios: Float[ndarray, " ratio"]
) -> None:
    """Mark ratios that the axes do not hold at the edge, with their number in the legend."""
    low, high = axes.get_ylim()
    for outside, edge, mark, side in (
        (ratios < low, low, "v", "below"),
        (ratios > high, high, "^", "above"),
    ):
        number = int(outside.sum())
        if number:
            label = f"{number} ratio{'s' * (number > 1)} {side} the axes"
            axes.plot(
                speeds[outside], np.full(number, edge), mark, color=COLOURS[3], clip_on=False,
                label=label,
            )  # fmt: skip


def _colour(number: int) -> str:
    return COLOURS[(0, 1, 2, 3, 4)[number % 5]]
