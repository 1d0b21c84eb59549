"""The height that takes tell: recovered, scaled with the drop, and held against what is stated."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.systems.bouncing_ball import simulator
from ricochet.models.systems.bouncing_ball.calibration import release_height
from ricochet.models.systems.bouncing_ball.calibration.calibrate import MeasuredDrops
from ricochet.models.systems.bouncing_ball.calibration.release_height import SessionHeight
from ricochet.models.systems.bouncing_ball.problem import Noise, Release
from tests.oracles.planted_sessions import PING_PONG, session


def _settle(drops: MeasuredDrops) -> tuple[Release, tuple[SessionHeight, ...]]:
    return release_height.settle(drops.times, drops.positions, drops.noise, drops.release)


def test_a_ball_let_go_at_rest_and_measured_exactly_tells_its_height_exactly() -> None:
    count = 200
    restitution = torch.linspace(0.56, 0.94, count, dtype=torch.float64)
    kappa = torch.full((count,), 300.0, dtype=torch.float64)
    bounces = simulator.simulate(
        restitution,
        kappa,
        drop_height=0.7,
        horizontal_sd=0.0,
        draw=torch.Generator().manual_seed(1),
    )
    none = torch.zeros(count, dtype=torch.float64)
    heights, errors = release_height.by_take(
        bounces.times, bounces.positions[..., :2], Noise(none, none), horizontal_sd=0.0
    )
    np.testing.assert_allclose(heights, 0.7, rtol=1e-9)
    assert errors.max() == 0.0


@pytest.mark.parametrize("height", [0.1, 0.26, 1.0])
@pytest.mark.parametrize("theta", [PING_PONG, (0.72, 3.0), (0.9, 1.8)])
def test_the_height_is_recovered_with_an_honest_error(
    theta: tuple[float, float], height: float
) -> None:
    scores = []
    for seed in range(40):
        _, (found,) = _settle(session(theta, 12, 50 + seed, height=height, stated=None))
        scores.append((found.height - height) / found.height_sd)
    # the error covers the median's bias by the start speed too, so that it is a little wide; a
    # chi-square of 40 beyond 68 comes once in 250
    assert float(np.sum(np.square(scores))) < 68.0
    assert found.height_sd < 0.006


def test_a_larger_drop_tells_a_height_larger_by_as_much() -> None:
    """Lengths x 4, times and speeds x 2: the same drop, the sideways speed of the hand with it."""
    drops = session(PING_PONG, 6, 3)
    args = drops.times, drops.positions, drops.noise
    large = 2 * drops.times, 4 * drops.positions, Noise(2 * drops.time_sd, 4 * drops.position_sd)
    ours, theirs = (
        release_height.by_take(*each, horizontal_sd=sd) for each, sd in ((args, 0.1), (large, 0.2))
    )
    np.testing.assert_allclose(theirs[0], 4 * ours[0], rtol=1e-12)
    np.testing.assert_allclose(theirs[1], ours[1], rtol=1e-12)


def test_a_stated_height_that_the_takes_allow_is_used_as_it_is_stated() -> None:
    drops = session(PING_PONG, 12, 4, height=0.263, release_sd=5e-3)
    release, (found,) = _settle(drops)
    assert (found.source, found.height, found.height_sd) == ("stated", 0.26, 5e-3)
    assert torch.equal(release.height, drops.release.height)


@pytest.mark.parametrize("factor", [0.5, 2.0, 1.1, 0.9])
def test_a_stated_height_that_the_takes_refute_gives_way_to_theirs(factor: float) -> None:
    drops = session(PING_PONG, 12, 4, height=0.26 * factor, release_sd=5e-3)
    release, (found,) = _settle(drops)
    assert found.source == "takes" and found.refuted and found.stated == 0.26
    assert found.height == pytest.approx(0.26 * factor, abs=4 * found.height_sd)
    assert float(release.height[0]) == found.height


@pytest.mark.parametrize(
    ("stated", "far"), [(0.26, False), (0.27, False), (0.3, True), (2.6, True), (0.03, True)]
)
def test_only_a_height_out_of_reach_of_the_takes_is_far(stated: float, far: bool) -> None:
    _, (found,) = _settle(session(PING_PONG, 8, 0, height=0.26, stated=stated))
    assert found.far is far


@pytest.mark.slow
def test_right_heights_are_refuted_as_rarely_as_said() -> None:
    draw, refuted = np.random.default_rng(5), 0
    for seed in range(400):
        height = 0.26 * math.exp(5e-3 / 0.26 * draw.normal())
        refuted += _settle(session(PING_PONG, 8, seed, height=height, release_sd=5e-3))[1][
            0
        ].refuted
    # one in 400 is expected; six or more come once in 1700
    assert refuted <= 5
    assert stats.binom.sf(5, 400, release_height.ALARM) < 1e-3


def test_sessions_have_heights_of_their_own() -> None:
    low, high = (session(PING_PONG, 6, 7, height=h, stated=None) for h in (0.1, 0.8))
    both = replace(
        low,
        times=torch.cat([low.times, high.times]),
        positions=torch.cat([low.positions, high.positions]),
        time_sd=torch.cat([low.time_sd, high.time_sd]),
        position_sd=torch.cat([low.position_sd, high.position_sd]),
        release=Release(
            torch.cat([low.release.height, high.release.height]),
            torch.cat([low.release.height_sd, high.release.height_sd]),
            torch.arange(12) // 6,
        ),
    )
    release, heights = _settle(both)
    assert [found.height for found in heights] == pytest.approx([0.1, 0.8], rel=0.05)
    assert release.height[:6].tolist() == [heights[0].height] * 6
    alone = [_settle(each)[1][0].height for each in (low, high)]
    assert [found.height for found in heights] == pytest.approx(alone, rel=1e-12)


def test_takes_from_many_heights_are_noticed_and_those_from_one_are_not() -> None:
    heights = torch.linspace(0.2, 0.4, 12, dtype=torch.float64)
    mixed = session(PING_PONG, 12, 8, height=heights, stated=None, release_sd=5e-3)
    assert _settle(mixed)[1][0].spread_p_value < release_height.ALARM
    plain = session(PING_PONG, 12, 8, stated=None, release_sd=5e-3)
    assert _settle(plain)[1][0].spread_p_value > 0.1


def test_one_bad_take_moves_the_height_little() -> None:
    drops = session(PING_PONG, 12, 9, stated=None)
    times = drops.times.clone()
    times[3, 1] += 0.04
    _, (plain,) = _settle(drops)
    _, (spoilt,) = _settle(replace(drops, times=times))
    assert abs(spoilt.height - plain.height) < plain.height_sd


def test_takes_that_tell_no_height_are_an_error_where_none_is_stated_and_not_else() -> None:
    drops = session(PING_PONG, 3, 10, stated=None)
    upset = drops.times[:, [2, 1, 0]]
    with pytest.raises(ValueError, match="height of release"):
        _settle(replace(drops, times=upset))
    _, (found,) = _settle(replace(session(PING_PONG, 3, 10), times=upset))
    assert found.height == 0.26 and found.source == "stated"
