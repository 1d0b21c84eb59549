"""The picture of the success maps."""

import numpy as np

from ricochet.models.systems.bouncing_ball.prediction import cup_success
from ricochet.tasks.figures import style
from ricochet.tasks.systems.bouncing_ball.figures import cup as cup_figures
from ricochet.tasks.systems.bouncing_ball.figures.cup import SuccessMaps


def test_the_maps_of_each_ball_lie_beside_each_other_on_one_scale() -> None:
    places = cup_success.positions(0.02)
    shape = places.shape[:2]
    predicted = np.linspace(0.0, 60.0, places[..., 0].size).reshape(shape)
    inside = np.ones(shape, bool)
    inside[2, 3] = False
    maps = SuccessMaps(
        places, predicted, predicted[::-1], 100.0 * inside, inside, np.array([-0.2, 0.0])
    )
    figure = cup_figures.success_maps({"a": maps, "b": maps})
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert len(panels) == 6
    for axes in panels:
        assert axes.collections[0].get_clim() == (0.0, 60.0)
    np.testing.assert_array_equal(panels[0].collections[0].get_array(), predicted)
    crosses = panels[1].lines[1].get_xydata()
    np.testing.assert_allclose(crosses, places[2, 3][None])
    assert style.to_png(figure).startswith(b"\x89PNG")
