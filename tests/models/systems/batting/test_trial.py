"""Trials: passes are counted once until re-armed; the same start and seeds give the same trial."""

from itertools import pairwise

import numpy as np
import pytest

from ricochet.models.systems.batting import clouds, trial
from ricochet.models.systems.batting.belief.localiser import PAPER
from ricochet.models.systems.batting.planning.policies import OpenLoop, View
from ricochet.models.systems.batting.table import CAMERA_PERIOD, DISTANCES
from tests.models.systems.batting import scenes


def passed(path: list[tuple[float, float]]) -> list[int]:
    passes = trial.Passes()
    for closest, distance in path:
        passes.add(closest, distance)
    return passes.counts.tolist()


def test_a_pass_counts_once_until_the_object_has_left() -> None:
    inside = [(0.05, 0.06), (0.02, 0.03), (0.03, 0.05)]
    assert passed(inside) == [1] * 9
    assert passed([*inside, (0.05, 0.2), (0.06, 0.065)]) == [2] * 9


def test_a_pass_between_two_frames_counts_and_so_does_the_next() -> None:
    assert passed([(0.05, 0.3), (0.05, 0.3)]) == [2] * 9


def test_each_distance_of_table_i_has_a_count_of_its_own() -> None:
    # Comes within 0.1 m, leaves to 0.12 m alone, comes back to 0.1 m.
    found = passed([(0.1 - 1e-6, 0.105), (0.105, 0.12), (0.1 - 1e-6, 0.2)])
    np.testing.assert_array_equal(DISTANCES, np.arange(7, 16) / 100)
    assert found == [0, 0, 0, 2, 2, 1, 1, 1, 1]


def open_loop(start: trial.Start, seed: int, paper: bool = True) -> trial.Trial:
    seconds = len(start.screen) * CAMERA_PERIOD
    settings = PAPER if paper else None
    draw = np.random.default_rng(seed)
    return trial.run(start, OpenLoop(0.4, seconds), settings, scenes.noisy(), draw)


def test_the_same_start_and_seed_give_the_same_trial() -> None:
    start = trial.random_start(3, 1, 15.0, 0.02)
    one, two = open_loop(start, 5), open_loop(start, 5)
    np.testing.assert_array_equal(one.passes, two.passes)
    np.testing.assert_array_equal(one.errors, two.errors)
    assert one.bats == two.bats > 0
    again = trial.random_start(3, 1, 15.0, 0.02)
    np.testing.assert_array_equal(again.state, start.state)
    np.testing.assert_array_equal(again.screen, start.screen)
    assert (trial.random_start(3, 2, 15.0, 0.02).state != start.state).all()


def test_an_open_loop_ignores_what_is_seen_and_believed() -> None:
    start = trial.random_start(4, 1, 20.0, 0.02)
    blind = open_loop(start, 1)
    knowing = open_loop(start, 2, paper=False)
    np.testing.assert_array_equal(blind.passes, knowing.passes)
    assert blind.bats == knowing.bats
    policy = OpenLoop(0.4, 10.0)
    draw = np.random.default_rng(0)
    first = policy.decide(View(0.0, 0.0, scenes.objects(3, 1)), scenes.quiet(), draw)
    assert first is not None and not first.look
    expected = 0.4 * np.sin(0.4 * first.path.times)
    np.testing.assert_allclose(first.path.angles, expected, atol=1e-12)
    assert policy.decide(View(0.05, 0.0, scenes.objects(3, 2)), scenes.quiet(), draw) is None


def test_a_trial_of_a_known_state_without_look_is_the_motion_under_equation_13() -> None:
    start = trial.random_start(6, 1, 30.0, 0.02)
    found = open_loop(start, 1, paper=False)
    states, kinds = start.state[None].copy(), np.array([start.kind])
    counts, passes = scenes.counts(1), trial.Passes()
    angles = 0.4 * np.sin(0.4 * CAMERA_PERIOD * np.arange(601))
    for before, after in pairwise(angles):
        bat = (float(before), float((after - before) / CAMERA_PERIOD))
        closest = clouds.move(states, kinds, bat, CAMERA_PERIOD, start.world, counts)
        table = start.world.table
        distance = np.hypot(states[0, 0] - table.goal_x, states[0, 1] - table.goal_y)
        passes.add(float(np.sqrt(closest[0])), float(distance))
    np.testing.assert_array_equal(found.passes, passes.counts)
    assert found.bats == counts[0, 2]
    np.testing.assert_array_equal(found.errors, 0.0)
    assert len(found.errors) == 30


@pytest.mark.parametrize("seconds", [2.0])
def test_who_watches_sees_every_frame(seconds: float) -> None:
    start = trial.random_start(7, 1, seconds, 0.02)
    frames: list[trial.Frame] = []
    policy, draw = OpenLoop(0.2, seconds), np.random.default_rng(0)
    trial.run(start, policy, None, scenes.noisy(), draw, frames.append)
    np.testing.assert_allclose([frame.time for frame in frames], np.arange(40) * CAMERA_PERIOD)
    np.testing.assert_array_equal(frames[0].state, start.state)
    noise = (
        frames[0].reading
        - clouds.readings(start.state[None], np.array([start.kind]), start.world)[0]
    ) / start.world.table.screen_noise
    np.testing.assert_allclose(noise, start.screen[0], atol=1e-10)
