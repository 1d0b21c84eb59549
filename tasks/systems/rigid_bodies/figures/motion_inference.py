"""Figures of what was inferred from motion: parameters within their limits, and how it fits."""

import numpy as np
from matplotlib.figure import Figure

from ricochet.models.inference.limits import Shares
from ricochet.tasks.figures import style
from ricochet.tasks.systems.rigid_bodies.motion_inference import Inferred


def posterior(inferred: Inferred) -> Figure:
    """Draw what is known of each parameter: half and 90 % of the draws, from limit to limit."""
    shares = Shares(inferred.limits).of(inferred.theta).numpy()
    names, units = inferred.problem.names, inferred.problem.units
    figure = Figure(figsize=(8.0, 0.9 + 0.34 * len(names)), layout="constrained")
    axes = figure.subplots()
    mean, deviation = inferred.theta.mean(0).numpy(), inferred.theta.std(0).numpy()
    for place, unit in enumerate(units):
        low, one, three, high = np.quantile(shares[:, place], (0.05, 0.25, 0.75, 0.95))
        axes.plot((0.0, 1.0), (place, place), color="0.88", lw=8, solid_capstyle="butt", zorder=0)
        axes.plot((low, high), (place, place), color=style.COLOURS[0], lw=2)
        axes.plot((one, three), (place, place), color=style.COLOURS[0], lw=6)
        axes.plot(shares[:, place].mean(), place, "o", color="white", mec=style.COLOURS[0], ms=5)
        text = f"{mean[place]:.3g} ± {deviation[place]:.2g} {unit.replace('^2', '²')}"
        axes.annotate(text, (1.02, place), va="center", fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(-0.02, 1.32)
    axes.set_xticks((0.0, 0.5, 1.0), ("low limit", "middle", "high limit"))
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.set_title("bars: 90 % and half of the draws within the limits", fontsize=10)
    return figure


def fit(inferred: Inferred) -> Figure:
    """Draw the first recording and how the particles move through it, and what they miss."""
    shooting = inferred.shooting
    shot = shooting.at(inferred.posterior.theta[-1], inferred.posterior.starts)
    own = shooting.scale[: shooting.observable]
    missed = (shot.residuals * own)[:, 0].flatten(1, 2).numpy()
    seen = shooting.observed[0, 1:].numpy()
    time = np.arange(1, len(seen) + 1) / inferred.rate
    states = inferred.problem.states[: shooting.observable]
    figure = Figure(figsize=(1.0 + 2.0 * len(states), 5.6), layout="constrained")
    above, below = figure.subplots(2, len(states), sharex=True, squeeze=False)
    for place, (top, bottom) in enumerate(zip(above, below, strict=True)):
        low, high = np.quantile(missed[..., place], (0.05, 0.95), axis=0)
        top.plot(time, seen[:, place] - missed[:, :, place].mean(0), color=style.COLOURS[0], lw=1)
        top.plot(time, seen[:, place], ".", color="0.3", ms=1.5)
        bottom.fill_between(time, low, high, color=style.COLOURS[0], alpha=0.5, lw=0)
        bottom.plot(time, missed[..., place].mean(0), color=style.COLOURS[0], lw=0.7)
        bottom.axhline(0.0, color="0.6", lw=0.8)
        top.set_title(states[place], fontsize=9)
        for axes in (top, bottom):
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(labelsize=8)
    above[0].set_ylabel("dots: seen; line: mean particle", fontsize=8)
    below[0].set_ylabel("seen less particles, 90 %", fontsize=8)
    figure.supxlabel("time / s", fontsize=9)
    return figure
