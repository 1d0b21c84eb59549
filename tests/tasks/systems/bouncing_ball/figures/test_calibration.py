import numpy as np
import pytest

from ricochet.tasks.figures import style
from ricochet.tasks.systems.bouncing_ball.figures import calibration

DRAW = np.random.default_rng(3)
SAMPLES = DRAW.normal([0.85, 3.5], [0.002, 0.1], size=(4000, 2))


def test_the_envelope_keeps_every_peak():
    channel = np.zeros(100_000)
    channel[[17, 50_003, 99_950]] = [1.0, -2.0, 3.0]
    low, high, clock = calibration._envelope(np.arange(100_000) / 1e3, channel)
    assert (low.min(), high.max()) == (-2.0, 3.0)
    assert clock[high.argmax()] == pytest.approx(99.95, abs=0.05)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: calibration.posterior(SAMPLES, title="ping-pong-table"),
        lambda: calibration.comparison({"a": SAMPLES, "b": SAMPLES - 0.05}),
        lambda: calibration.narrowing([1, 2, 4], np.ones((3, 2)), np.ones((3, 2))),
        lambda: calibration.waveform(np.ones((2, 50)), 10.0, np.array([1.0]), title="take"),
        lambda: calibration.ratio_by_bounce([np.full(5, 0.9)], title="clip", interval=(0.89, 0.91)),
        lambda: calibration.localisation_map(
            np.zeros((3, 3)), np.zeros((2, 2)), np.stack([np.eye(2)] * 2), np.array([False, True])
        ),
    ],
)
def test_every_figure_is_drawn_and_has_named_axes(draw):
    figure = draw()
    assert style.to_png(figure).startswith(b"\x89PNG")
    assert any(axes.get_xlabel() for axes in figure.axes)
    assert any(axes.get_ylabel() for axes in figure.axes)


@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_bounces_are_counted_in_whole_numbers(count):
    (axes,) = calibration.ratio_by_bounce([np.full(count, 0.9)], title="clip").axes
    ticks = axes.get_xticks()
    assert np.array_equal(ticks, np.round(ticks))
