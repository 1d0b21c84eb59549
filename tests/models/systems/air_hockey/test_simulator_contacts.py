"""Contacts at rims, posts and mallet against the facts of the 2023 Robot Air Hockey Challenge.

Ranges are what was measured on that public environment: a puck leaves a mallet head-on at 1.43 to
1.45 times its speed, 18 to 19 ms after the touch; off the middle its tangential speed is 0.14 to
0.25 of the mallet's; a mallet at rest sends it back with 0.42 to 0.46 of its speed, at 30 degrees
off the middle with 0.42 of the normal one, falling to 0.36 for fast pucks; a rim keeps 0.71 to 0.77
of the normal speed (more where a touch lasts one step of 1 ms only) and 0.84 of the tangential one.
"""

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import shot_outcome, simulator
from ricochet.models.systems.air_hockey.simulator import World
from tests.models.systems.air_hockey import simple_episodes
from tests.models.systems.air_hockey.simple_episodes import glide


@pytest.fixture(scope="module")
def world() -> World:
    return simulator.build()


def test_a_rim_keeps_what_was_measured(world: World) -> None:
    """40 phases of the touch, whose length in whole steps scatters the normal share.

    Of 250 touches 0.81 keep 0.70 to 0.78 and 0.05 more than 0.95: of 40, 24 and 6 are three
    standard deviations away.
    """
    draw, normal, tangent, spin = np.random.default_rng(0), [], [], []
    for _ in range(40):
        y, speed = 0.45 + 0.02 * draw.random(), draw.uniform(0.5, 2.0)
        episode, _ = glide(world, (0.0, y, 0.5 * speed, speed), 8)
        trace = np.array(episode.trace)
        touched = [i for i, names in enumerate(episode.touches) if names]
        before, after = trace[touched[0] - 1], trace[touched[-1] + 1]
        normal.append(-after[4] / before[4])
        tangent.append(after[3] / before[3])
        spin.append(after[5] / before[3])
    assert 0.71 < np.median(normal) < 0.77
    assert min(normal) > 0.65 and max(normal) < 1.06
    assert sum(0.70 < share < 0.78 for share in normal) >= 24
    assert sum(share > 0.95 for share in normal) <= 6
    assert np.median(tangent) == pytest.approx(0.84, abs=0.01)
    assert np.median(spin) == pytest.approx(9.7, abs=0.2)


@pytest.mark.slow
def test_a_post_gives_no_speed(world: World) -> None:
    """Pucks at the edges of the goal, at all angles: a tenth of them touch the edge itself."""
    draw, touched = np.random.default_rng(0), 0
    for _ in range(120):
        y, speed, angle = draw.uniform(0.08, 0.16), draw.uniform(1.0, 3.0), draw.uniform(-1.0, 1.0)
        puck = (0.90, y - 0.074 * np.tan(angle), speed * np.cos(angle), speed * np.sin(angle))
        episode, _ = glide(world, puck, 8)
        trace = np.array(episode.trace)
        assert np.hypot(trace[:, 3], trace[:, 4]).max() < 1.04 * speed
        touched += any("far" in name for names in episode.touches for name in names)
    assert touched > 40


@pytest.mark.parametrize("speed", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("off", [0.0, 0.02])
def test_a_mallet_strikes_as_was_measured(world: World, speed: float, off: float) -> None:
    """The mean over eight instants of the touch within a step, which scatters by 0.02.

    There straight strokes gave 1.43 to 1.45; ours are up to a hundredth less. Off the middle a
    normal speed is lost as in
    `test_a_puck_that_meets_a_mallet_off_its_middle_keeps_less`.
    """
    gains, drags, touching = [], [], []
    for late in 1e-3 * np.arange(8) / 8:
        episode = simple_episodes.strike(world, speed, off=off, rest=0.1, late=late)
        found = shot_outcome.outcome(episode)
        touching.append(sum("mallet" in names for names in episode.touches))
        normal = np.array((np.cos(found.normal), np.sin(found.normal)))
        across = np.array((-normal[1], normal[0]))
        mallet = found.mallet_speed * np.array((1.0, 0.0))
        gains.append(np.dot(found.launch, normal) / (mallet @ normal))
        drags.append(np.dot(found.launch, across) / (mallet @ across))
        assert found.mallet_speed == pytest.approx(speed, rel=0.02)
    assert set(touching) <= {18, 19}
    low, high = (1.41, 1.45) if off == 0.0 else (1.39, 1.45)
    assert low < np.mean(gains) < high
    if off > 0.0:
        assert 0.14 < np.mean(drags) < 0.25


def test_a_mirrored_strike_is_mirrored(world: World) -> None:
    left, right = (
        shot_outcome.outcome(simple_episodes.strike(world, 0.5, off=off, rest=0.1))
        for off in (0.02, -0.02)
    )
    np.testing.assert_allclose(left.launch, (right.launch[0], -right.launch[1]), rtol=1e-3)


def test_a_straight_strike_scores_and_breaks_no_limit(world: World) -> None:
    episode = simple_episodes.strike(world, 0.8, rest=2.5)
    found = shot_outcome.outcome(episode)
    assert found.scored
    assert found.ended == "line"
    assert found.banks == 0
    assert found.violations == ()
    way = world.table.half_length - (-0.5)
    assert 0.25 < found.speed_at_line < found.launch[0] - 0.4 * way


def test_banks_are_the_turns_at_the_long_rims(world: World) -> None:
    episode = simple_episodes.strike(world, 0.8, off=0.055, rest=3.0)
    found = shot_outcome.outcome(episode)
    trace = np.array(episode.trace)
    after = trace[(np.arange(len(trace)) * 1e-3 > found.struck + 0.03) & (trace[:, 0] < 0.93)]
    assert found.banks == (np.diff(np.sign(after[:, 4])) != 0).sum() == 1


def met(world: World, speed: float, angle: float) -> tuple[ndarray, list[int]]:
    """Let a puck meet the mallet at rest, its normal at an angle to the puck's path.

    Returns:
        The share of the normal speed that it keeps and the touch in ms, for eight instants of the
        touch within a step.
    """
    contact = np.array(world.table.robot_base[:2]) + iiwa.tip(iiwa.HOME)[:2]
    contact += world.table.contact_radius * np.array((np.cos(angle), np.sin(angle)))
    kept, touching = [], []
    for late in 1e-3 * np.arange(8) / 8:
        start = (contact[0] + 0.04 + speed * late, contact[1], -speed, 0.0)
        episode, _ = glide(world, start, int(3.0 / speed) + 5)
        trace = np.array(episode.trace)
        touched = np.flatnonzero(["mallet" in names for names in episode.touches])
        before, after = trace[touched[0] - 1], trace[touched[-1] + 1]
        normal = before[:2] - before[6:8]
        kept.append(-(after[3:5] @ normal) / (before[3:5] @ normal))
        touching.append(len(touched))
    return np.array(kept), touching


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_a_mallet_at_rest_sends_back_what_was_measured(world: World, speed: float) -> None:
    """There 0.42 to 0.46 head-on, ours down to 0.415; an instant within a step scatters it by
    0.02."""
    kept, touching = met(world, speed, 0.0)
    assert 0.41 < kept.mean() < 0.46
    assert kept.min() > 0.40
    assert kept.max() < 0.47
    assert set(touching) <= {18, 19}


def test_a_puck_that_meets_a_mallet_off_its_middle_keeps_less(world: World) -> None:
    """There 0.42 for slow pucks at 30 degrees, falling to 0.36; ours at 0.5 and at 2 m/s."""
    shares = [met(world, speed, np.radians(30.0))[0].mean() for speed in (0.5, 1.0, 2.0)]
    assert shares[0] == pytest.approx(0.42, abs=0.01)
    assert shares[2] == pytest.approx(0.36, abs=0.01)
    assert shares == sorted(shares, reverse=True)
    head_on = met(world, 2.0, 0.0)[0].mean()
    assert shares[2] < head_on - 0.05
