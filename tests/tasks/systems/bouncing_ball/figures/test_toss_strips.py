"""Strips show the arm where it is and the ball where it was, with and without EGL."""

import numpy as np
import pytest

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import scene
from ricochet.tasks.figures import scenes
from ricochet.tasks.figures.style import to_png
from ricochet.tasks.systems.bouncing_ball.figures import toss_strips
from ricochet.tasks.systems.bouncing_ball.figures.toss_strips import Frame


def frames() -> list[Frame]:
    """Return four frames of a ball that crosses the table and an arm that follows in y."""
    places = [(-0.25, 0.0, 0.25), (-0.05, 0.05, 0.02), (0.12, 0.08, 0.16), (0.29, 0.12, 0.2)]
    joints = [ur5.inverse(np.array((0.3, y, 0.2))) for y in (0.0, 0.04, 0.08, 0.12)]
    return [Frame(0.2 * i, q, p) for i, (q, p) in enumerate(zip(joints, places, strict=True))]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(toss_strips, "SIZE", (240, 180))


def purple(picture: np.ndarray) -> int:
    """Count pixels of the trail's colour."""
    red, green, blue = (picture[..., channel].astype(int) for channel in range(3))
    return int(((blue > green + 40) & (red > green + 40)).sum())


def test_a_picture_shows_the_trail_the_ball_and_the_arm():
    first, _, third, _ = frames()
    gone = Frame(third.time, third.joints, None)
    pictures = toss_strips.render(scene.build(), [gone, first, third])
    if pictures is None:
        pytest.skip("no EGL here")
    before, _, after = pictures[:, 1]
    assert purple(after) >= purple(before) + 5  # two places the ball has been, seen from above
    changed = np.abs(after.astype(int) - before).max(-1) > 40
    assert 20 < changed.sum() < 0.1 * changed.size


@pytest.mark.parametrize("egl", [True, False])
def test_a_strip_has_a_column_a_frame_and_is_a_picture(egl, monkeypatch):
    if not egl:
        monkeypatch.setattr(scenes, "context", lambda size: None)
    figure = toss_strips.strip(frames(), title="ping-pong")
    assert len(figure.axes) == 2 * 4
    assert to_png(figure)[:4] == b"\x89PNG"


def test_no_frames_no_strip():
    with pytest.raises(ValueError, match="there are none"):
        toss_strips.strip([], title="nothing")


@pytest.mark.parametrize("egl", [True, False])
def test_a_strip_says_what_is_what_and_numbers_the_microphones_in_one_picture(egl, monkeypatch):
    if not egl:
        monkeypatch.setattr(scenes, "context", lambda size: None)
    figure = toss_strips.strip(frames(), title="ping-pong")
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said[0] == "the ball now, which no controller sees" and len(said) == 4
    assert said[1] == "where it was in the pictures before"
    labels = [[text.get_text() for text in axis.texts] for axis in figure.axes]
    assert labels == [[]] * 4 + [["0", "1", "2"]] + [[]] * 3


def test_the_camera_above_sees_a_place_where_its_label_stands(monkeypatch):
    """Oracle: the trail of one place, drawn by MuJoCo; the middle of its pixels, within 1.5."""
    monkeypatch.setattr(toss_strips, "SIZE", (420, 315))
    model = scene.build()
    joints = frames()[0].joints
    for place in ((-0.3, -0.25, 0.0762), (0.2, 0.1, 0.05), (0.0, 0.2, 0.3)):
        pictures = toss_strips.render(model, [Frame(0.0, joints, place), Frame(0.0, joints, None)])
        if pictures is None:
            pytest.skip("no EGL here")
        purple = pictures[1, 1].astype(int)
        down, across = np.nonzero(
            (purple[..., 2] > purple[..., 1] + 40) & (purple[..., 0] > purple[..., 1] + 40)
        )
        seen = toss_strips._pixel(model, np.array(place))
        assert seen == pytest.approx((across.mean() + 0.5, down.mean() + 0.5), abs=1.5)
