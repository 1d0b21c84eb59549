"""A second witness of the real ping-pong ball: tracks of videos beside times of bounces.

**Rate.** The frame rate is not stated. The drag that the tracks show, 1/px, is a ping-pong ball's
at 100 and at 120 frames a second and at no other usual rate. The notes beside the tracks have the
arm from which the ball falls at 2.65 m: so it is 100, on the floor and on the table alike, the
table 0.76 m high. A metre then has 645 pixels. In the unit of the tracks restitution needs no rate.

**Speeds.** The ratio of speeds either side of a bounce is one of heights, without a clock
(`ball_tracks`). It needs the air, so that the same drag is given to the times.

**Times.** Most clips have two bounces. The fall before them counts as half of a flight, which in
air of drag k has lasted longer down than up: with z = sqrt(g k) t of a fall t, the way up takes
atan(sinh z) / sqrt(g k). The bounce that it began at is the first time of the drop; it needs no
release from rest. A clip of n bounces so says restitution at all but the last, whose flight has no
end. Flights of one surface meet at one height; clips where they miss it lost the ball at a bounce
and are left out. On the racket nothing is held: it is held by hand, and its falls of 0.9 m are too
short for the air to show.
"""

import logging
import math
import os
from pathlib import Path

import numpy as np
import pytest
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.calibration import (
    drop_times,
    times_only,
    times_posterior,
)
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.chains import family
from tests.oracles import ball_tracks
from tests.oracles.ball_tracks import Tracks

LOG = logging.getLogger(__name__)
FRAME_RATE = 100.0
USUAL_RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0, 200.0, 240.0)
PING_PONG = air.COMMON_BALLS["ping-pong"]
RADIUS, ARM, TABLE = 0.02, 2.65, 0.76  # m: two of the notes, and the rules' table
TIME_SD = 0.1
"""Of a bounce, frames: tracks miss the flights by 1.5 to 3 px, and the ball moves by 30 a frame."""
APEX_SD = 0.3
"""Of the bounce before a fall, frames: the apex is 5 px off the hand, and the ball falls by 35 a
frame in the end; that is 0.15 down, and as much up."""


def _read(surface: str) -> Tracks:
    root = Path(__file__).parents[5]
    folder = Path(os.environ.get("RICOCHET_REAL_DATA", root.parent / "shared" / "data"))
    clips = folder / "ball_tracks" / "nicofighter" / surface
    if not clips.exists():
        pytest.skip("the tracks of real balls are not here (RICOCHET_REAL_DATA)")
    return ball_tracks.read(clips)


@pytest.fixture(scope="module")
def table() -> Tracks:
    return _read("4-rebond-table")


@pytest.fixture(scope="module")
def floor() -> Tracks:
    return _read("5-rebond-sol")


def _usable(tracks: Tracks) -> list[int]:
    """Return the clips that say a restitution by times, and meet the surface where it is."""
    surface = np.median(np.concatenate(tracks.places))
    reach = 3.0 * TIME_SD * float(np.concatenate(tracks.impacts).max())
    return [
        clip
        for clip, places in enumerate(tracks.places)
        if len(places) >= 2
        and np.isfinite(tracks.releases[clip])
        and np.abs(places - surface).max() < reach
    ]


def _drops(tracks: Tracks, rate: float) -> list[Drop]:
    root, found = math.sqrt(tracks.fall * tracks.drag), []
    for clip in _usable(tracks):
        apex, bounces = tracks.releases[clip], tracks.bounces[clip]
        begun = bounces[0] - _flight(bounces[0] - apex, root)
        sd = np.array([APEX_SD] + [TIME_SD] * len(bounces))
        found.append(Drop(np.array([begun, *bounces]) / rate, sd / rate))
    return found


def _flight(fall: float, root: float) -> float:
    """Return the time of the flight that ends with a fall; root is sqrt(g k)."""
    return fall + math.atan(math.sinh(root * fall)) / root


def _own_drag(tracks: Tracks, rate: float) -> tuple[float, float]:
    return math.log(tracks.drag * tracks.per_metre(rate)), 0.05


def _seen(tracks: Tracks, columns: list[Float[ndarray, " _"]]) -> Float[ndarray, " bounce"]:
    """Return what there is of the bounces of whose restitution the times speak."""
    return np.concatenate([columns[clip][:-1] for clip in _usable(tracks)])


def _moments(weights: ndarray, values: ndarray) -> tuple[float, float]:
    mean = float(weights @ values)
    return mean, math.sqrt(float(weights @ (values - mean) ** 2))


def _hand(tracks: Tracks, rate: float, above: float) -> float:
    return float(np.nanmedian(tracks.heights)) / tracks.per_metre(rate) + RADIUS + above


def test_a_fall_is_the_end_of_the_flight_that_the_model_has() -> None:
    drag, exit_speed = 0.13, 4.0
    root = math.sqrt(GRAVITY * drag)
    fall = math.asinh(exit_speed * math.sqrt(drag / GRAVITY)) / root
    whole = float(drop_times.duration(np.array(exit_speed), np.array(drag)))
    assert _flight(fall, root) == pytest.approx(whole, rel=1e-12)


def test_drag_and_the_arm_tell_the_frame_rate(table: Tracks) -> None:
    drags = {rate: table.drag * table.per_metre(rate) for rate in USUAL_RATES}
    # spheres have drag coefficients from 0.38 to 0.65, where 0.47 is taken
    near = [rate for rate in drags if 0.8 < drags[rate] / air.drag(PING_PONG) < 1.4]
    assert near == [100.0, 120.0]
    # a hand's breadth of 0.1 m: where it holds the ball, and how far the arm is stretched
    held = [rate for rate in USUAL_RATES if abs(_hand(table, rate, TABLE) - ARM) < 0.1]
    assert held == [FRAME_RATE]


@pytest.mark.slow
def test_table_and_floor_show_one_air_and_one_arm(table: Tracks, floor: Tracks) -> None:
    """Of a ball of 40 mm and 2.7 g the drag is 0.132 / m, of a coefficient known to an eighth."""
    assert abs(_hand(floor, FRAME_RATE, 0.0) - ARM) < 0.1
    for tracks in (table, floor):
        drag = tracks.drag * tracks.per_metre(FRAME_RATE)
        LOG.info("drag %.3f / m, the hand %.2f m above", drag, _hand(tracks, FRAME_RATE, 0.0))
        expected, spread = family.drag_prior(PING_PONG, 20.0)
        assert abs(math.log(drag) - expected) < 2.0 * spread


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["table", "floor"])
@pytest.mark.parametrize("rate", [100.0, 120.0])
def test_times_give_the_restitution_of_the_speeds_and_its_scatter(
    surface: str, rate: float, request: pytest.FixtureRequest
) -> None:
    """Mean, slope by speed, and scatter, each within three of the joint errors.

    Of n ratios about a line by speed: the mean has sd / sqrt n, the slope that of least squares,
    and the logarithm of their sd 1 / sqrt(2 (n - 2)).
    """
    tracks: Tracks = request.getfixturevalue(surface)
    ratios, local = (_seen(tracks, each) for each in (tracks.restitution, tracks.local))
    speeds = _seen(tracks, tracks.impacts) * rate / tracks.per_metre(rate)
    middle, slow, fast = float(speeds.mean()), float(speeds.min()), float(speeds.max())
    (slope, level), covariance = np.polyfit(speeds - middle, ratios, 1, cov=True)
    sd, count = (ratios - level - slope * (speeds - middle)).std(ddof=2), len(ratios)
    posterior = times_posterior.infer(_drops(tracks, rate), _own_drag(tracks, rate))
    mean, error = posterior.moments(middle)
    bends = (posterior.restitution(fast) - posterior.restitution(slow)) / (fast - slow)
    bend, bend_error = _moments(posterior.weights, bends)
    scatter, scatter_error = _moments(posterior.weights, np.log(posterior.balls.scatter))
    LOG.info("%s: %d bounces at %.1f to %.1f m/s", surface, count, slow, fast)
    LOG.info("times %.3f sd %.3f, heights %.3f, near %.3f", mean, error, level, local.mean())
    LOG.info("scatter of times %.4f, of heights %.4f", math.exp(scatter), sd / level)
    LOG.info("slope of times %.3f sd %.3f, of heights %.3f", bend, bend_error, slope)
    for witness in (level, float(local.mean())):
        assert abs(mean - witness) < 3.0 * math.hypot(error, sd / math.sqrt(count))
    assert abs(bend - slope) < 3.0 * math.hypot(bend_error, math.sqrt(covariance[0, 0]))
    allowed = 3.0 * math.hypot(scatter_error, 1.0 / math.sqrt(2.0 * (count - 2)))
    assert abs(scatter - math.log(sd / level)) < allowed
    assert error > sd / math.sqrt(count)  # no sharper than so many bounces allow


@pytest.mark.slow
def test_the_stated_size_gives_the_restitution_of_the_speeds(table: Tracks, floor: Tracks) -> None:
    """Within three of the joint errors, at the one rate that the arm allows."""
    for tracks in (table, floor):
        ratios = _seen(tracks, tracks.restitution)
        speeds = _seen(tracks, tracks.impacts) * FRAME_RATE / tracks.per_metre(FRAME_RATE)
        posterior = times_posterior.infer(
            _drops(tracks, FRAME_RATE), family.drag_prior(PING_PONG, 20.0)
        )
        mean, error = posterior.moments(float(speeds.mean()))
        LOG.info("size stated: times %.3f sd %.3f, heights %.3f", mean, error, ratios.mean())
        allowed = 3.0 * math.hypot(error, ratios.std(ddof=1) / math.sqrt(len(ratios)))
        assert abs(mean - ratios.mean()) < allowed


@pytest.mark.slow
def test_a_floor_that_scatters_is_told_from_a_table(table: Tracks, floor: Tracks) -> None:
    ranges = []
    for tracks in (table, floor):
        posterior = times_posterior.infer(_drops(tracks, FRAME_RATE), _own_drag(tracks, FRAME_RATE))
        levels = np.array([0.05, 0.95])
        scatters = posterior.balls.scatter
        ranges.append(times_only.quantiles(scatters, posterior.weights, levels))
    assert ranges[0][1] < ranges[1][0]


@pytest.mark.slow
def test_a_ball_of_unknown_size_is_known_the_worse(table: Tracks) -> None:
    """Three bounces do not tell air from dullness: the prior does, and its width shows."""
    drops = [
        Drop(frames / FRAME_RATE, np.full(3, TIME_SD / FRAME_RATE))
        for frames in table.bounces
        if len(frames) >= 3
    ]
    unknown = times_posterior.infer(drops).moments(4.4)
    known = times_posterior.infer(drops, family.drag_prior(PING_PONG, 20.0)).moments(4.4)
    assert unknown[1] > 1.5 * known[1] and unknown[0] < known[0]
