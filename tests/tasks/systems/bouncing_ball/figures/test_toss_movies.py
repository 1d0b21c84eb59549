"""Moving pictures of tosses: what is seen at which time, and where nothing can be drawn."""

import io

import numpy as np
import pytest
from PIL import Image

from ricochet.models.arms import ur5
from ricochet.tasks.figures import scenes
from ricochet.tasks.systems.bouncing_ball.figures import toss_movies
from ricochet.tasks.systems.bouncing_ball.figures.toss_movies import DetectedBounce, Recording
from ricochet.tasks.systems.bouncing_ball.figures.toss_strips import Frame

SOUND = Recording(np.full(4410, 0.1, np.float32), 44100.0)


def frames() -> list[Frame]:
    """Return four frames of a ball over the table, 20 ms apart."""
    joints = ur5.inverse(np.array((0.3, 0.0, 0.2)))
    return [Frame(0.02 * i, joints, (-0.1 + 0.05 * i, 0.0, 0.15)) for i in range(4)]


def purple(picture: Image.Image) -> int:
    """Count pixels of the colour of what was detected, in the scene alone."""
    red, green, blue = np.moveaxis(np.asarray(picture.convert("RGB"), int), -1, 0)
    found = (blue > green + 40) & (red > green + 40)
    return int(found[toss_movies.MARGIN : toss_movies.MARGIN + toss_movies.SIZE[1]].sum())


def shown(detections: list[DetectedBounce]) -> Image.Image:
    content = toss_movies.movie(frames(), detections, SOUND, title="a ball")
    if content is None:
        pytest.skip("no EGL here")
    return Image.open(io.BytesIO(content))


def test_a_bounce_is_seen_from_the_moment_at_which_it_was_known() -> None:
    picture = shown([DetectedBounce(0.03, (-0.15, -0.15))])
    seen = []
    for number in range(picture.n_frames):
        picture.seek(number)
        seen.append(purple(picture))
    assert len(seen) == 4 and seen[0] == seen[1] == 0
    assert min(seen[2:]) > 20


def test_the_last_picture_rests() -> None:
    picture = shown([])
    picture.seek(picture.n_frames - 1)
    assert picture.info["duration"] == toss_movies.REST


def test_pictures_are_apart_as_their_times() -> None:
    times = toss_movies.instants(1.0, 2.0)
    assert len(times) == np.ceil(toss_movies.SLOWER * toss_movies.RATE)
    assert np.diff(times) == pytest.approx(1.0 / (toss_movies.SLOWER * toss_movies.RATE))


def test_the_loudest_sample_of_a_column_is_drawn() -> None:
    samples = np.zeros(5800, np.float32)
    samples[2903] = -0.5
    sound = toss_movies._Sound.between(Recording(samples, 5800.0), 0.0, 1.0)
    assert np.flatnonzero(sound.peaks).tolist() == [290]
    assert sound.column(0.0) == 0 and sound.column(1.0) == toss_movies.SIZE[0] - 1


def test_no_frames_no_movie(monkeypatch) -> None:
    with pytest.raises(ValueError, match="there are none"):
        toss_movies.movie([], [], SOUND, title="nothing")
    monkeypatch.setattr(scenes, "context", lambda size: None)
    assert toss_movies.movie(frames(), [], SOUND, title="a ball") is None
