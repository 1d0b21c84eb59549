"""Figures of a calibration, from arrays; drawn without a display and without global state.

Every function returns a Matplotlib figure that the caller saves or logs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.ticker import MaxNLocator
from numpy import ndarray

from ricochet.tasks.figures import style
from ricochet.tasks.figures.style import COLOURS, label_axes

RESTITUTION = "restitution"
CONCENTRATION = "log10 concentration"


def posterior(
    samples: Float[ndarray, "sample 2"],
    *,
    title: str,
    truth: Mapping[str, float] | None = None,
    other: Mapping[str, Float[ndarray, "sample 2"]] | None = None,
) -> Figure:
    """Draw draws of restitution and log10 concentration, with both marginals.

    Args:
        other: Draws of other answers by what they are called, as dashed regions.
    """
    figure = Figure(figsize=(6.0, 5.4), layout="constrained")
    axes = figure.subplot_mosaic(
        [["first", "."], ["joint", "second"]], width_ratios=(3, 1), height_ratios=(1, 3)
    )
    joint = axes["joint"]
    joint.plot(*samples.T, ",", color=COLOURS[0], alpha=0.5)
    joint.add_patch(_outline(samples.mean(0), np.cov(samples.T), color=COLOURS[1]))
    for name, draws in (other or {}).items():
        look = {"color": COLOURS[6], "linestyle": "--", "label": name}
        joint.add_patch(_outline(draws.mean(0), np.cov(draws.T), **look))
    axes["first"].hist(samples[:, 0], bins=50, color=COLOURS[0])
    axes["second"].hist(samples[:, 1], bins=50, color=COLOURS[0], orientation="horizontal")
    axes["first"].sharex(joint)
    axes["second"].sharey(joint)
    for side in (axes["first"], axes["second"]):
        side.set_axis_off()
    if truth is not None:
        place = (truth[RESTITUTION], truth["log10_concentration"])
        joint.plot(*place, "+", color=COLOURS[6], markersize=14, label="truth")
    if truth is not None or other:
        joint.legend(frameon=False)
    joint.xaxis.set_major_locator(MaxNLocator(5))
    label_axes(joint, RESTITUTION, CONCENTRATION)
    figure.suptitle(f"{title}: posterior, 90 % region")
    return figure


def comparison(posteriors: Mapping[str, Float[ndarray, "sample 2"]]) -> Figure:
    """Draw the posteriors of several pairs, draws by name, on one plot."""
    figure = Figure(figsize=(8.0, 6.4), layout="constrained")
    above, below = np.ravel(np.asarray(figure.subfigures(2, 1, height_ratios=(1.25, 1.0))))
    axes, close = above.subplots(), below.subplots(1, len(posteriors), squeeze=False)[0]
    for number, (name, samples) in enumerate(sorted(posteriors.items())):
        colour, mean = COLOURS[number % len(COLOURS)], samples.mean(0)
        axes.plot(*mean, "o", color=colour)
        axes.annotate(name, tuple(mean), (8, 6), textcoords="offset points", color=colour)
        for place in (axes, close[number]):
            place.plot(*samples[::4].T, ",", color=colour, alpha=0.4)
            place.add_patch(_outline(mean, np.cov(samples.T), color=colour, label=name))
        close[number].set_title(name, fontsize=9, color=colour)
        close[number].xaxis.set_major_locator(MaxNLocator(2))
        label_axes(close[number], RESTITUTION, CONCENTRATION if number == 0 else "")
    axes.margins(0.16)
    label_axes(axes, RESTITUTION, CONCENTRATION)
    figure.suptitle("Posterior of each pair; below, each on its own scale (90 % regions)")
    return figure


def narrowing(
    drops: Sequence[int], means: Float[ndarray, "step 2"], deviations: Float[ndarray, "step 2"]
) -> Figure:
    """Draw how the posterior narrows as drops accumulate.

    The dashed lines fall as one over the square root of the number of drops.
    """
    figure = Figure(figsize=(8.0, 5.4), layout="constrained")
    above, below = figure.subplots(2, 2, sharex=True)
    number = np.asarray(drops, dtype=float)
    for column, name in enumerate((RESTITUTION, CONCENTRATION)):
        mean, deviation = means[:, column], deviations[:, column]
        above[column].fill_between(
            number, mean - 1.645 * deviation, mean + 1.645 * deviation, color=COLOURS[5], alpha=0.5
        )
        above[column].plot(number, mean, "o-", color=COLOURS[0])
        label_axes(above[column], "", f"{name}, 90 %")
        below[column].loglog(number, deviation, "o-", color=COLOURS[0])
        below[column].loglog(
            number, deviation[-1] * np.sqrt(number[-1] / number), "--", color=COLOURS[6]
        )
        label_axes(below[column], "drops", "standard deviation")
    figure.suptitle("The posterior of three bounces as drops accumulate")
    return figure


def waveform(
    samples: Float[ndarray, "channel frame"],
    sample_rate: float,
    times: Float[ndarray, " bounce"],
    *,
    title: str,
) -> Figure:
    """Draw a take, one row a channel, with the times, s, of the bounces detected in it."""
    figure = Figure(figsize=(9.0, 1.2 + 1.3 * len(samples)), layout="constrained")
    rows = figure.subplots(len(samples), 1, sharex=True, squeeze=False)[:, 0]
    clock = np.arange(samples.shape[1]) / sample_rate
    for number, (axes, channel) in enumerate(zip(rows, samples, strict=True)):
        low, high, at = _envelope(clock, channel)
        axes.fill_between(at, low, high, color=COLOURS[0], linewidth=0.4)
        for time in times:
            axes.axvline(time, color=COLOURS[1], linewidth=0.9)
        label_axes(axes, "", f"channel {number}")
    rows[-1].set_xlabel("time, s")
    figure.suptitle(f"{title}: {len(times)} bounces")
    return figure


def localisation_map(
    microphones: Float[ndarray, "channel 3"],
    positions: Float[ndarray, "bounce 2"],
    covariances: Float[ndarray, "bounce 2 2"],
    outliers: ndarray,
) -> Figure:
    """Draw where the bounces were located, m, with 90 % ellipses (covariances in m^2)."""
    figure = Figure(figsize=(6.0, 5.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(*microphones[:, :2].T, "^", color=COLOURS[6], markersize=9, label="microphone")
    kept = ~np.asarray(outliers, dtype=bool)
    axes.plot(*positions[kept].T, ".", color=COLOURS[0], label="bounce")
    axes.plot(*positions[~kept].T, "x", color=COLOURS[1], label="set aside")
    for place, covariance in zip(positions[kept], covariances[kept], strict=True):
        axes.add_patch(_outline(place, covariance, color=COLOURS[5]))
    axes.set_aspect("equal")
    axes.legend(frameon=False)
    label_axes(axes, "x, m", "y, m")
    figure.suptitle("Where the bounces were located")
    return figure


def ratio_by_bounce(
    ratios: Sequence[Float[ndarray, " interval"]],
    *,
    title: str,
    interval: tuple[float, float] | None = None,
) -> Figure:
    """Draw the ratio of successive intervals along each chain.

    In a vacuum it is the restitution; air takes about k u^2 / (2 g) of it (`air`), so that fast
    bounces lie below. A trend beyond that is what a constant restitution cannot explain.
    """
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    if interval is not None:
        axes.axhspan(*interval, color=COLOURS[5], alpha=0.5, label="restitution, 90 %")
        axes.legend(frameon=False)
    for number, chain in enumerate(ratios):
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(np.arange(2, len(chain) + 2), chain, ".-", color=colour, linewidth=0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    label_axes(axes, "bounce", "ratio of successive intervals")
    figure.suptitle(f"{title}: ratio by bounce")
    return figure


def _outline(mean: ndarray, covariance: ndarray, **look: Any) -> Ellipse:
    return style.region(mean, covariance, fill=False, linewidth=1.6, **look)


def _envelope(
    clock: Float[ndarray, " frame"], channel: Float[ndarray, " frame"], points: int = 2000
) -> tuple[ndarray, ndarray, ndarray]:
    step = max(1, len(channel) // points)
    whole = len(channel) // step * step
    blocks = channel[:whole].reshape(-1, step)
    return blocks.min(1), blocks.max(1), clock[:whole:step]
