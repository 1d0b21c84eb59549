"""A small sample of what `benchmarks.bouncing_ball.bare_recordings` measures at length."""

import numpy as np
import pytest

from benchmarks.bouncing_ball import bare_recordings, recording_corpora


@pytest.mark.proof
def test_sounds_without_a_ball_are_not_answered_in_silence():
    draws = np.random.default_rng(2).spawn(len(recording_corpora.NO_BALLS))
    found = [
        bare_recordings.outcome(recording_corpora.no_ball(kind, draw))
        for kind, draw in zip(recording_corpora.NO_BALLS, draws, strict=True)
    ]
    silent = [not row.refused and not row.findings for row in found]
    # at 3 % each 0.4 of 12 are expected; more than 2 have a chance below 0.6 %
    assert sum(silent) <= 2


@pytest.mark.proof
def test_balls_under_mild_stress_are_answered_rightly():
    kinds = ["clean", "mu-law 8 kHz", "ogg", "noise 20 dB", "reverberant", "cut", "clipped"]
    draws = np.random.default_rng(3).spawn(len(kinds))
    found = [
        bare_recordings.outcome(recording_corpora.stressed(kind, draw))
        for kind, draw in zip(kinds, draws, strict=True)
    ]
    # at 90 % each 6.3 of 7 are expected; fewer than 4 have a chance below 0.3 %
    assert sum(row.useful for row in found) >= 4
    assert sum(row.silent_and_wrong for row in found) <= 1


def test_reversed_and_random_recordings_have_no_truth_and_balls_have_one():
    draw = np.random.default_rng(0)
    ball = recording_corpora.ball(draw)
    assert ball.restitution is not None
    assert 0.4 < ball.restitution(2.0) < 1.0
    assert ball.times is not None
    assert (np.diff(ball.times) > 0.0).all()
    assert recording_corpora.no_ball("few clicks", draw).restitution is None
