"""The picture of a bare recording: every bounce, every drop, and restitution by speed."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball.calibration import drop_times, times_only
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


def test_the_picture_reaches_the_reference_speed_and_is_lighter_where_no_bounce_was():
    times = 0.2 + np.append(0.0, np.cumsum(0.2 * 0.8 ** np.arange(5)))
    slow = times_only.calibrate_drops([Drop(times, np.full(6, 1e-4))])
    assert slow.band[-1].speed == slow.beyond[0].speed < 2.0
    assert slow.beyond[-1] == slow.at_reference
    (axes,) = bare_recording.restitution_by_speed(slow, title="clip").axes
    met, unmet = axes.collections[:2]
    assert unmet.get_alpha() < met.get_alpha()
    assert unmet.get_paths()[0].vertices[:, 0].max() == 2.0
    assert axes.get_xlim()[1] > 2.0


def test_a_reference_speed_that_was_met_has_no_band_of_its_own():
    assert found().band[0].speed < 2.0 < found().band[-1].speed
    assert found().beyond == ()


def test_ratios_outside_the_axes_are_marked_at_the_edge_with_their_number():
    off = Drop(np.array([0.0, 0.2, 0.5, 0.55]), np.full(4, 1e-4))
    given = replace(found(), drops=(*found().drops, off))
    (axes,) = bare_recording.restitution_by_speed(given, title="clip").axes
    said = [line.get_label() for line in axes.lines]
    assert "1 ratio above the axes" in said and "1 ratio below the axes" in said
    low, high = axes.get_ylim()
    drawn = np.concatenate([line.get_ydata() for line in axes.lines if line.get_marker() in "^v"])
    assert sorted(drawn) == [low, high]


def test_a_wide_band_leaves_little_room_around_it():
    wide = replace(found().at_reference, region_90=(0.34, 0.96))
    given = replace(found(), band=(wide, wide), beyond=(), at_reference=wide)
    (axes,) = bare_recording.restitution_by_speed(given, title="clip").axes
    low, high = axes.get_ylim()
    assert 0.2 < low < 0.34 and 0.96 < high < 1.1


def test_dots_are_restitution_where_drag_is_known_and_ratios_where_it_is_not():
    drag, away = 0.132, [3.0]
    for _ in range(6):
        away.append(0.9 * float(drop_times.impact(np.array(away[-1]), np.array(drag))))
    gaps = [float(drop_times.duration(np.array(speed), np.array(drag))) for speed in away]
    drop = Drop(np.append(0.0, np.cumsum(gaps)), np.full(8, 1e-4))
    _, values = bare_recording._ratios(drop, drag)
    assert values == pytest.approx(0.9, abs=1e-6)
    _, ratios = bare_recording._ratios(drop, 0.0)
    assert ratios == pytest.approx(np.divide(gaps[1:], gaps[:-1]), abs=1e-6)
    assert np.all(ratios < 0.9)
    for known, words in ((None, "air not taken out"), (drag, "air taken out")):
        given = replace(found(), drops=(drop,), drag=known)
        (axes,) = bare_recording.restitution_by_speed(given, title="clip\nits air").axes
        assert f"ratio of intervals, {words}" in [line.get_label() for line in axes.lines]
        title = axes.figure.get_suptitle()
        assert title == "clip: restitution by impact speed\nits air"


def test_drag_is_stated_where_the_size_is_known():
    assert found().drag is None
    sized = times_only.calibrate_drops(found().drops, (np.log(0.132), 0.13))
    # the prior is 13 % wide, and times hardly narrow it
    assert sized.drag == pytest.approx(0.132, rel=0.4)
