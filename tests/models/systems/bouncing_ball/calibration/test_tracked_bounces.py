"""A second witness of the real ping-pong ball: tracks of videos beside times of bounces.

The frame rate of the videos is not stated. At 120 frames a second, and at no other usual rate, the
drag that the tracks show is near to that of a ping-pong ball, and a metre has 930 pixels, the ball
37.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.calibration import times_posterior
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.chains import family
from tests.oracles import ball_tracks
from tests.oracles.ball_tracks import Tracks

FRAME_RATE = 120.0
PING_PONG = air.COMMON_BALLS["ping-pong"]
TIME_SD = 0.1 / FRAME_RATE
"""Of a bounce: tracks miss the flights by 1.5 px, and the ball moves by 30 px a frame."""


@pytest.fixture(scope="module")
def table() -> Tracks:
    root = Path(__file__).parents[5]
    folder = Path(os.environ.get("RICOCHET_REAL_DATA", root.parent / "shared" / "data"))
    clips = folder / "ball_tracks" / "nicofighter" / "4-rebond-table"
    if not clips.exists():
        pytest.skip("the tracks of real balls are not here (RICOCHET_REAL_DATA)")
    return ball_tracks.read(clips)


def test_the_air_that_tracks_show_is_a_ping_pong_balls_at_one_frame_rate(table: Tracks) -> None:
    expected = air.drag(PING_PONG)
    drags = {rate: table.drag * table.per_metre(rate) for rate in (30.0, 60.0, 120.0, 240.0)}
    # spheres have drag coefficients from 0.38 to 0.65, where 0.47 is taken
    near = [rate for rate, drag in drags.items() if 0.8 < drag / expected < 1.4]
    assert near == [FRAME_RATE]
    terminal = air.terminal_speed(drags[FRAME_RATE])
    assert terminal == pytest.approx(air.terminal_speed(expected), abs=1.2)


@pytest.mark.slow
def test_times_and_speeds_of_the_tracks_give_one_restitution(table: Tracks) -> None:
    scale = FRAME_RATE / table.per_metre(FRAME_RATE)
    chosen = [number for number, frames in enumerate(table.bounces) if len(frames) >= 3]
    drops = [Drop(table.bounces[n] / FRAME_RATE, np.full(3, TIME_SD)) for n in chosen]
    speeds = np.concatenate([table.impacts[n] for n in chosen]) * scale
    ratios = np.concatenate([table.restitution[n] for n in chosen])
    assert len(drops) == 3 and speeds.min() > 2.5 and speeds.max() < 5.0
    middle, ratio = float(np.median(speeds)), float(ratios.mean())
    error = float(ratios.std(ddof=1)) / np.sqrt(len(ratios))
    seen = np.log(table.drag * table.per_metre(FRAME_RATE))
    for drag in (family.drag_prior(PING_PONG, 20.0), (seen, 0.05)):
        mean, sd = times_posterior.infer(drops, drag).moments(middle)
        assert sd < 0.02
        assert abs(mean - ratio) < 3.0 * np.hypot(sd, error)


@pytest.mark.slow
def test_a_ball_of_unknown_size_is_known_the_worse(table: Tracks) -> None:
    """Three bounces do not tell air from dullness: the prior does, and its width shows."""
    drops = [
        Drop(frames / FRAME_RATE, np.full(3, TIME_SD))
        for frames in table.bounces
        if len(frames) >= 3
    ]
    unknown = times_posterior.infer(drops).moments(3.7)
    known = times_posterior.infer(drops, family.drag_prior(PING_PONG, 20.0)).moments(3.7)
    assert unknown[1] > 1.5 * known[1] and unknown[0] < known[0]
