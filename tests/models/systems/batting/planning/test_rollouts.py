"""Roll-outs: passes and distances beside a motion in short steps; the swings of a plan."""

import numpy as np
import pytest

from ricochet.models.systems.batting import bat, motion
from ricochet.models.systems.batting.bat import BatPath, angle_and_rate
from ricochet.models.systems.batting.camera import project
from ricochet.models.systems.batting.planning import rollouts, swings
from ricochet.models.systems.batting.planning.swings import Scenarios
from tests.models.systems.batting import scenes

DELTA = 0.6  # m, so that there are passes
FINE = 2e-3  # s
UNWATCHED = np.zeros((0, 4))


def fine_outcome(
    state: np.ndarray, kind: int, path: BatPath, horizon: float
) -> tuple[int, float, float, float]:
    """The outcome by steps of 2 ms: passes, first and second impact, least distance between."""
    world, counts, times = scenes.noisy(), np.zeros(3, np.int64), []
    goal = np.array([world.table.goal_x, world.table.goal_y])
    armed, passes, closest, time = np.hypot(*(state[:2] - goal)) > DELTA, 0, np.inf, 0.0
    while time < horizon - 1e-9:
        step = min(FINE, bat.time_to_knot(path, time), horizon - time)
        before = counts[2]
        passed, near = motion.advance(
            state, kind, bat.angle_and_rate(path, time), step, world, counts, True
        )
        time += passed
        distance = np.sqrt(near)
        passes += armed and distance < DELTA
        if len(times) == 1:
            closest = min(closest, distance)
        armed = bool(np.hypot(*(state[:2] - goal)) > DELTA) or (armed and distance >= DELTA)
        if counts[2] > before:
            times.append(time)
            if len(times) == 2:
                break
    first, second = (*times, horizon, horizon)[:2]
    return passes, first, second, closest


@pytest.mark.proof
def test_outcomes_are_those_of_short_steps() -> None:
    """Chords of 0.1 s are within 1.3 mm of the parabola; passes may differ that near the edge."""
    path = BatPath(np.array([0.0, 1.0, 2.0, 2.5]), np.array([0.0, -0.2, 0.3, 0.3]))
    cloud, passes, differing = scenes.objects(30, 51), 0, 0
    for state, kind in zip(cloud.states, cloud.kinds, strict=True):
        one, two, counts = state.copy(), state.copy(), np.zeros(3, np.int64)
        found = rollouts.follow(one, kind, path, 6.0, DELTA, scenes.noisy(), counts, UNWATCHED)
        expected = fine_outcome(two, kind, path, 6.0)
        assert found.first == pytest.approx(expected[1], abs=1e-6)
        assert found.second == pytest.approx(expected[2], abs=1e-5)
        if np.isfinite(expected[3]):
            assert np.sqrt(found.closest) == pytest.approx(expected[3], abs=2e-3)
        passes += found.passes
        differing += found.passes != expected[0]
    assert passes >= 5 and differing <= 1


def test_the_time_of_an_impact_is_that_of_the_first_contact_with_the_resting_bat() -> None:
    cloud, struck = scenes.objects(60, 52, 0.2), 0
    for state, kind in zip(cloud.states, cloud.kinds, strict=True):
        time = rollouts.time_of_impact(state, kind, 0.2, 2.0, scenes.quiet())
        after, counts = state.copy(), np.zeros(3, np.int64)
        motion.advance(after, kind, (0.2, 0.0), 2.0, scenes.quiet(), counts, True)
        assert np.isfinite(time) == (counts[2] > 0)
        if np.isfinite(time):
            struck += 1
            after, counts = state.copy(), np.zeros(3, np.int64)
            motion.advance(after, kind, (0.2, 0.0), time + 1e-6, scenes.quiet(), counts, True)
            assert counts[2] == 1
            after, counts = state.copy(), np.zeros(3, np.int64)
            motion.advance(after, kind, (0.2, 0.0), time - 1e-6, scenes.quiet(), counts, True)
            assert counts[2] == 0
    assert struck > 15


def test_scenarios_of_a_batch_have_the_outcomes_that_each_has_alone() -> None:
    cloud = scenes.objects(4, 53)
    batch = Scenarios(cloud.states, cloud.kinds, np.arange(4))
    angles, rates = np.array([-0.1, 0.2]), np.array([0.3, -0.2])
    together = swings.evaluate(batch, 0.0, angles, rates, 8.0, 0.3, scenes.noisy())
    assert together.possible.all()
    for j in range(4):
        for row in range(2):
            state, counts = cloud.states[j].copy(), np.array([j, 0, 0])
            path = together.path(row)
            time = np.sort(
                [
                    rollouts.time_of_impact(s, k, angles[row], 8.0, scenes.quiet())
                    for s, k in zip(cloud.states, cloud.kinds, strict=True)
                ]
            )[2]
            found = rollouts.follow(
                state, cloud.kinds[j], path, time + 8.0, 0.3, scenes.noisy(), counts, UNWATCHED
            )
            assert found.passes == together.passes[row, j]
            assert found.second == pytest.approx(together.second[row, j], abs=1e-9)
            assert found.closest == pytest.approx(together.closest[row, j], rel=1e-6)


def test_what_is_seen_is_what_the_camera_projects_at_its_instants() -> None:
    path = BatPath(np.array([0.0, 1.0, 2.0, 2.5]), np.array([0.0, -0.2, 0.3, 0.3]))
    cloud = scenes.objects(10, 54)
    for state, kind in zip(cloud.states, cloud.kinds, strict=True):
        seen, moved = np.zeros((rollouts.INSTANTS, 4)), state.copy()
        counts = np.zeros(3, np.int64)
        found = rollouts.follow(moved, kind, path, 6.0, 0.3, scenes.quiet(), counts, seen)
        whole = int(found.second / rollouts.WATCHED)
        again, counts = state.copy(), np.zeros((1, 3), np.int64)
        for step in range(1, 20 * whole + 1):
            bat = angle_and_rate(path, (step - 1) * rollouts.WATCHED / 20)
            motion.advance(
                again, kind, bat, rollouts.WATCHED / 20, scenes.quiet(), counts[0], False
            )
            if step % 20 == 0:
                row = seen[step // 20 - 1]
                assert row[2:] == pytest.approx(again[:2], abs=1e-4)
                assert row[:2] == pytest.approx(project(again, kind, scenes.quiet()), abs=1e-4)
        assert (seen[whole + 1 :] == seen[-1]).all()


def test_equal_scenarios_have_the_outcome_of_one() -> None:
    state = np.array([4.0, 5.0, 0.3, 0.5, 0.2, 0.4])
    one = swings.repeated(state, 2, np.array([9]))
    many = swings.repeated(state, 2, np.full(5, 9))
    found = swings.evaluate(one, 0.1, *swings.grid(), 8.0, 0.2, scenes.noisy())
    same = swings.evaluate(many, 0.1, *swings.grid(), 8.0, 0.2, scenes.noisy())
    assert len(found.angles) == 294 and found.possible.sum() > 200
    np.testing.assert_array_equal(same.possible, found.possible)
    for name in ("passes", "first", "second", "closest"):
        np.testing.assert_array_equal(
            getattr(same, name), np.repeat(getattr(found, name), 5, axis=1)
        )
    np.testing.assert_array_equal(state, [4.0, 5.0, 0.3, 0.5, 0.2, 0.4])
