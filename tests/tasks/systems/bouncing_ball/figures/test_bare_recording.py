"""The picture of a bare recording: every bounce, every drop, and restitution by speed."""

from functools import cache

import numpy as np

from ricochet.models.systems.bouncing_ball.calibration import times_only
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.calibration.times_only import BareCalibration
from ricochet.tasks.figures import style
from ricochet.tasks.systems.bouncing_ball.figures import bare_recording


@cache
def found() -> BareCalibration:
    intervals = 0.4 * 0.8 ** np.arange(7)
    times = 0.2 + np.append(0.0, np.cumsum(intervals))
    drops = [Drop(times, np.full(8, 1e-4)), Drop(times + 3.0, np.full(8, 1e-4), missing=(6,))]
    return times_only.calibrate_drops(drops)


def test_the_overview_marks_every_bounce_and_names_every_drop():
    sound = np.random.default_rng(0).standard_normal(50_000)
    figure = bare_recording.overview(found(), sound, 10_000.0, title="clip")
    above = figure.axes[0]
    marks = [
        len(lines.get_segments()) for lines in above.collections if hasattr(lines, "get_segments")
    ]
    assert sum(marks) == 16
    assert [text.get_text() for text in above.texts] == ["drop 1: 8 bounces", "drop 2: 8 bounces"]
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)
    assert style.to_png(figure).startswith(b"\x89PNG")


def test_the_band_is_drawn_where_it_was_found():
    (axes,) = bare_recording.restitution_by_speed(found(), title="clip").axes
    low, high = axes.get_ylim()
    assert low < min(each.region_90[0] for each in found().band)
    assert high > max(each.region_90[1] for each in found().band)
    assert axes.get_xlabel() == "impact speed, m/s"
