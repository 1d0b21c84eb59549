"""The moving picture of the README is of a toss that was met."""

import pytest

from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import toss_movie


@pytest.mark.proof
def test_the_toss_shown_is_met_from_its_first_bounce_to_the_paddle(monkeypatch) -> None:
    drawn = []
    monkeypatch.setattr(toss_movie.toss_movies, "movie", lambda *a, **k: drawn.append(a) or b"GIF")
    assert toss_movie.make(catalogue.load_settings()) == b"GIF"
    [(frames, detections, _)] = drawn
    assert frames[0].time < detections[0].known < detections[-1].known < frames[-1].time
    assert frames[-1].ball[0] == pytest.approx(0.3, abs=0.1)  # the robot's plane
