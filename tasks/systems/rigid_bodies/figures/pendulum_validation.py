"""The figure of a pendulum's validation: ranks, predictions of held-out pieces, and crossings."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ricochet.tasks.figures import shares
from ricochet.tasks.figures.style import COLOURS
from ricochet.tasks.systems.rigid_bodies.validation.gate import TOLD, PendulumEvidence
from ricochet.tasks.systems.rigid_bodies.validation.held_out import AHEAD, Predicted
from ricochet.tasks.systems.rigid_bodies.validation.results import CrossingResult
from ricochet.tasks.validation.outcomes import in_words
from ricochet.tasks.validation.report import ROLE_COLOURS


def comparison(evidence: PendulumEvidence, result: CrossingResult) -> Figure:
    """Draw what was measured again, and the passes of both roles with exact 95 % intervals."""
    figure = Figure(figsize=(13.0, 4.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.2, 1.5, 1.0))
    _ranks(left, evidence)
    _predictions(middle, evidence.predicted)
    for place, (role, moments) in enumerate(result.moments.items()):
        free = [each.passes and not each.touched for each in moments]
        shares.point(right, place, free, colour=ROLE_COLOURS[role])
    right.set_xticks(range(len(result.moments)), list(result.moments))
    right.set_xlim(-0.5, len(result.moments) - 0.4)  # room for the last label
    right.set_ylim(0.0, 1.03)  # a share of one is seen whole
    right.set_title("passes without contact, share")
    figure.suptitle(in_words(result))
    return figure


def _ranks(axes: Axes, evidence: PendulumEvidence) -> None:
    """Draw the ranks of simulated truths: even where the posterior is right."""
    below = (np.arange(len(evidence.places)) + 0.5) / len(evidence.places)
    for name, ranks in zip(TOLD, evidence.ranks.T, strict=True):
        axes.step(np.sort(ranks), below, where="mid", linewidth=1.0, alpha=0.7, label=name)
    axes.step(np.sort(evidence.levels), below, where="mid", color="black", label="all, by region")
    axes.plot((0.0, 1.0), (0.0, 1.0), color="grey", linestyle=":")
    axes.legend(frameon=False, fontsize="x-small")
    axes.set(xlabel="rank of the simulated truth", ylabel="share of motions", title="simulated")


def _predictions(axes: Axes, predicted: Predicted) -> None:
    """Draw errors of held-out pieces over the half widths of their intervals."""
    most = 0.0
    for number, ahead in enumerate(AHEAD):
        half = np.degrees(predicted.half[:, number].ravel())
        error = np.degrees(np.abs(predicted.error[:, number]).ravel())
        share, _ = predicted.held(number)
        label = f"{ahead:g} s ahead: {share:.2f} within"
        axes.plot(half, error, ".", color=COLOURS[number], alpha=0.6, label=label)
        most = max(most, float(half.max()))
    reach = np.array((0.1, most))
    axes.plot(reach, reach, color="grey", linestyle=":")
    axes.set(xscale="log", yscale="log", ylim=(0.01, None), title="held-out pieces")
    axes.set(xlabel="half of the 90 % interval / degrees", ylabel="error / degrees")
    axes.legend(frameon=False, fontsize="small")
