"""Figures 13 and 14: every part of a bar carries its own exact interval, at its own end."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from scipy import stats

from ricochet.models.systems.bouncing_ball.tracking import outcomes as ball_tracking
from ricochet.models.systems.bouncing_ball.tracking.outcomes import KINDS, Outcome
from ricochet.tasks.systems.bouncing_ball.figures import tracking

COUNTS = {"success": 20, "outliers": 9, "missed": 0, "boundaries": 11}


def row(counts: dict[str, int]) -> dict:
    """Tosses that ended so; of those that failed at outliers the first is the first of three."""
    outcomes = [
        Outcome(kind, 0.1, 0.2, (1 + number % 3,))
        for kind in KINDS
        for number in range(counts[kind])
    ]
    return ball_tracking.row(outcomes)


def whiskers(axes: Axes) -> list[np.ndarray]:
    """Low and high end of each, part by part, shape (bar, 2)."""
    drawn = [np.array(lines.get_segments()) for lines in axes.collections]
    return [segments[:, :, 1] for segments in drawn]


@pytest.mark.parametrize(
    "draw, parts",
    [
        (tracking.all_tosses, (20, 9, 0, 11)),
        (tracking.outliers_by_bounce, (3, 3, 3)),
    ],
)
def test_each_part_has_the_exact_interval_of_its_count_at_its_end(draw, parts) -> None:
    figure = draw({"tennis": {"intercept": row(COUNTS), "belief": row(COUNTS)}})
    found = whiskers(figure.axes[0])
    assert len(found) == len(parts)
    bottom = 0
    for part, ends in zip(parts, found, strict=True):
        exact = stats.binomtest(part, 40).proportion_ci(0.95, method="exact")
        for low, high in ends:
            assert low == pytest.approx(bottom + 40 * exact.low, abs=1e-9)
            assert high == pytest.approx(bottom + 40 * exact.high, abs=1e-9)
        bottom += part
