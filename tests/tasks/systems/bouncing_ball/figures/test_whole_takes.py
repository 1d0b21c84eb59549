"""The figure of whole takes: the band over the speeds met, and the paper's one number."""

import numpy as np

from ricochet.models.systems.bouncing_ball.calibration.whole_chains import ChainAnswer
from ricochet.models.systems.bouncing_ball.chains.fit import Fit
from ricochet.tasks.figures import style
from ricochet.tasks.systems.bouncing_ball.figures import whole_takes
from tests.oracles import known_families


def answer(slope: float) -> ChainAnswer:
    draw = np.random.default_rng(0)
    theta = known_families.draws(500, restitution=draw.normal(0.8, 0.004, 500), slope=slope)
    family = known_families.family_of(theta, np.ones(500, dtype=int))
    fit = Fit(0.5, np.full(5, 0.5), np.ones(2))
    none = np.zeros((1, 3))
    return ChainAnswer(
        family, fit, np.ones(5, bool), none, none[..., None] * none, (0.5, 2.5, 2.4), ()
    )


def test_the_band_is_drawn_over_the_speeds_that_were_met() -> None:
    figure = whole_takes.restitution_by_speed(answer(0.03), np.array([0.81, 0.82]), title="ball")
    (axes,) = figure.axes
    line = axes.lines[0]
    speeds, middle = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert (speeds.min(), speeds.max()) == (0.5, 2.5)
    # the median of 500 draws is known to 1.25 sd / sqrt(500); four of those
    np.testing.assert_allclose(middle, 0.8 - 0.03 * (speeds - 2.0), atol=4 * 1.25 * 0.004 / 22.4)
    assert axes.get_xlabel() == "impact speed, m/s" and axes.get_ylabel() == "restitution"
    assert style.to_png(figure).startswith(b"\x89PNG")


def test_the_title_of_a_pair_with_a_long_name_is_not_cut_off() -> None:
    band, name = np.array([0.81, 0.82]), "hollow-rubber-ball-polished-concrete"
    figure = whole_takes.restitution_by_speed(answer(0.03), band, title=name)
    style.to_png(figure)
    (title,) = figure.texts
    extent = title.get_window_extent()
    assert extent.x0 > 0 and extent.x1 < figure.bbox.x1
