import pytest
from matplotlib.figure import Figure

from ricochet.tasks.figures import shares


def test_a_point_stands_at_the_share_with_the_exact_interval():
    """7 of 10: Clopper and Pearson give [0.3475, 0.9333]."""
    axes = Figure().subplots()
    shares.point(axes, 2.0, [True] * 7 + [False] * 3, colour="k")
    (line, *_), (bar,) = axes.containers[0].lines[0:1], axes.containers[0].lines[2]
    assert list(line.get_xydata()[0]) == pytest.approx([2.0, 0.7])
    low, high = bar.get_segments()[0][:, 1]
    assert (low, high) == pytest.approx((0.3475, 0.9333), abs=1e-4)
    assert [text.get_text() for text in axes.texts] == ["0.7"]
