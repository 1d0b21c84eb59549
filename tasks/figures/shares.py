"""Shares of cases with their exact 95 % intervals, drawn as points with whiskers."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from scipy import stats


def point(axes: Axes, where: float, outcomes: Sequence[bool], *, colour: str) -> None:
    """Draw the share of outcomes that are true, named by its value."""
    found = stats.binomtest(sum(outcomes), len(outcomes))
    interval, share = found.proportion_ci(0.95), found.statistic
    reach = [[share - interval.low], [interval.high - share]]
    axes.errorbar([where], [share], yerr=reach, fmt="o", capsize=4, color=colour)
    axes.annotate(f"{share:.3g}", (where, share), (7, -3), textcoords="offset points")
