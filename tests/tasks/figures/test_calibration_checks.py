import numpy as np
import pytest
from matplotlib.figure import Figure

from ricochet.tasks.figures import calibration_checks, style

DRAW = np.random.default_rng(3)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: calibration_checks.rank_histogram({"restitution": DRAW.uniform(size=200)}),
        lambda: calibration_checks.coverage([0.5, 0.9], {"product": [0.48, 0.91]}, cases=100),
    ],
)
def test_every_figure_is_drawn_and_has_named_axes(draw):
    figure = draw()
    assert style.to_png(figure).startswith(b"\x89PNG")
    assert any(axes.get_xlabel() for axes in figure.axes)
    assert any(axes.get_ylabel() for axes in figure.axes)


def band(figure: Figure) -> float:
    """Upper end of the grey band of the first axes."""
    return float(figure.axes[0].patches[0].get_bbox().y1)


def test_the_band_of_ranks_narrows_with_the_number_of_cases():
    """20 bars of 100 expected cases: 100 + 2.576 sqrt(100 * 0.95) = 125.1; less than of 10."""
    many = calibration_checks.rank_histogram({"a": DRAW.uniform(size=2000)})
    few = calibration_checks.rank_histogram({"a": DRAW.uniform(size=200)})
    assert band(many) == pytest.approx(125.1, abs=0.1)
    assert band(many) / 100.0 < band(few) / 10.0
