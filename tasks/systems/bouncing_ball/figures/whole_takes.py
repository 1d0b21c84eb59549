"""The figure of a calibration by whole takes: restitution by speed, the paper's beside it."""

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.models.systems.bouncing_ball.calibration.whole_chains import ChainAnswer
from ricochet.models.systems.bouncing_ball.chains.family import Family
from ricochet.tasks.figures.style import COLOURS, label_axes
from ricochet.tasks.systems.bouncing_ball.figures import member_weights

_SPEEDS = 25


def restitution_by_speed(
    answer: ChainAnswer, constant: Float[ndarray, " 2"], *, title: str
) -> Figure:
    """Draw restitution over the impact speeds that were met, with its 90 % band.

    Args:
        constant: Central 90 % interval of the paper's one restitution, from three bounces.
    """
    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axes = figure.subplots()
    slow, fast, first = answer.speeds
    speeds = np.linspace(slow, fast, _SPEEDS)
    low, middle, high = _band(answer.family, speeds)
    axes.fill_between(speeds, low, high, color=COLOURS[5], alpha=0.5, label="whole takes, 90 %")
    axes.plot(speeds, middle, color=COLOURS[0], label="median")
    below, above = (float(value) for value in constant)
    axes.axhspan(below, above, color=COLOURS[1], alpha=0.3, label="one number, three bounces, 90 %")
    axes.axvline(first, color=COLOURS[6], linestyle=":", linewidth=0.9, label="first bounce")
    axes.legend(frameon=False, fontsize=8)
    label_axes(axes, "impact speed, m/s", "restitution")
    shares = member_weights.listed(answer.family.weights)
    lines = (f"{title}: restitution by impact speed", f"weights: {shares}")
    figure.suptitle("\n".join(lines), fontsize=11)
    return figure


def _band(family: Family, speeds: Float[ndarray, " speed"]) -> Float[ndarray, "3 speed"]:
    """Return the 5, 50 and 95 % points of restitution at each speed."""
    draws = [family.restitution(float(speed)) for speed in speeds]
    return np.quantile(draws, [0.05, 0.5, 0.95], axis=1)
