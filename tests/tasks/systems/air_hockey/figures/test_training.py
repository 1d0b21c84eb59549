"""The pictures of the learnt shots."""

import numpy as np
from matplotlib.patches import Ellipse

from ricochet.models.systems.air_hockey.puck.prediction_checks import Row
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.figures import style
from ricochet.tasks.systems.air_hockey.figures import training
from ricochet.tasks.systems.air_hockey.figures.training import Flight, Landscape

TABLE = Table()


def path(angle: float) -> np.ndarray:
    return np.array([-0.4, 0.1]) + np.linspace(0.0, 1.2, 40)[:, None] * [np.cos(angle), 0.1]


def test_a_flight_shows_its_uncertainty_growing_and_the_mallet_behind_the_puck() -> None:
    covariances = np.linspace(1e-6, 4e-3, 40)[:, None, None] * np.eye(2)
    shot = Flight("a", path(0.0), covariances, angle=0.0)
    figure = training.flights([shot, shot], TABLE)
    discs = [patch for patch in figure.axes[0].patches if isinstance(patch, Ellipse)]
    widths = [patch.width for patch in discs[:-2]]  # puck and mallet come last
    assert widths == sorted(widths) and len(widths) == 8
    puck, mallet = discs[-2:]
    np.testing.assert_allclose(puck.center[0] - mallet.center[0], TABLE.contact_radius)
    assert style.to_png(figure).startswith(b"\x89PNG")


def test_each_settings_shots_are_counted_by_their_banks() -> None:
    paths = {"cautious": [path(0.0)] * 3, "aggressive": [path(0.5)] * 3}
    banks = {"cautious": np.array([0, 0, 1]), "aggressive": np.array([2, 3, 0])}
    figure = training.chosen_shots(paths, banks, TABLE)
    texts = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes]
    assert texts[0] == ["direct: 2", "one bank: 1", "two banks or more: 0"]
    assert texts[1] == ["direct: 1", "one bank: 0", "two banks or more: 2"]


def test_a_landscape_keeps_what_is_forbidden_out_of_its_scale() -> None:
    angles = np.linspace(-1.0, 1.0, 5)
    objective = np.array([np.nan, 1.0, 3.0, 2.0, np.nan])
    row = Landscape("a", angles, np.arange(5.0), objective, best=0.0, found=0.1)
    flat = Landscape("b", angles, np.zeros(5), np.full(5, np.nan), best=0.0, found=0.1)
    figure = training.landscapes({"cautious": [row, flat]})
    np.testing.assert_array_equal(
        figure.axes[0].lines[1].get_ydata(), [np.nan, 0.0, 1.0, 0.5, np.nan]
    )
    np.testing.assert_array_equal(figure.axes[1].lines[1].get_ydata(), np.zeros(5))


def test_predictions_are_drawn_with_those_of_the_noiseless_model() -> None:
    rows = [Row("bank", 0.02, 9, 0.1, 0.3, (0.4, 0.8)), Row("wall", 1.0, 9, 0.2, 0.5, (0.5, 0.9))]
    left, right = training.predictions(rows).axes
    assert [line.get_xdata().tolist() for line in left.lines] == [[0.1, 0.2], [0.3, 0.5]]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["bank, 0.02 s", "wall, 1 s"]
    np.testing.assert_allclose(right.lines[0].get_xdata(), [0.4, 0.5])


def test_a_history_is_drawn_with_the_loss_of_guessing() -> None:
    figure = training.histories({"a": [3.0, 1.0], "b": [2.0, 0.5]}, candidates=100)
    lines = figure.axes[0].lines
    assert len(lines) == 3
    np.testing.assert_allclose(lines[2].get_ydata(), np.log(100.0))
