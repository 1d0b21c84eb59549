"""Plans of the paddle: least jerk from rest, no jump at a new target, limits kept."""

import itertools

import numpy as np
import pytest

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import paddle_motion as motion

PLANE = 0.30


def chain(seed: int, targets: int = 5) -> list[tuple[motion.Plan, float]]:
    """Return plans that replace one another anywhere on their way, with when each is replaced."""
    draw = np.random.default_rng(seed)
    plan, now, plans = motion.rest((0.0, 0.2), plane=PLANE), 0.0, []
    for _ in range(targets):
        goal = (draw.uniform(-0.35, 0.35), draw.uniform(0.0, 0.5))
        plan = motion.replan(plan, goal, now=now, duration=draw.uniform(0.02, 0.6))
        now += draw.uniform(0.02, 0.4)
        plans.append((plan, now))
    return plans


def _end(plan: motion.Plan) -> float:
    """When the paddle is at rest, s."""
    return plan.start + max(plan.duration, plan.braking)


def test_from_rest_the_motion_is_the_straight_line_of_least_jerk():
    plan = motion.replan(motion.rest((-0.1, 0.1), plane=PLANE), (0.1, 0.25), now=2.0, duration=0.8)
    assert plan.duration == 0.8
    s = np.linspace(0.0, 1.0, 50)[:, None]
    found = motion.reference(plan, 2.0 + 0.8 * s[:, 0])
    way = np.array((0.2, 0.15))
    expected = (-0.1, 0.1) + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
    np.testing.assert_allclose(found.position, expected, atol=1e-12)
    speed = way * (30 * s**2 - 60 * s**3 + 30 * s**4) / 0.8
    np.testing.assert_allclose(found.velocity, speed, atol=1e-12)


def test_as_long_braking_as_reaching_gives_the_quintic_from_the_present_velocity():
    start, velocity, goal, d = (
        np.array((0.0, 0.2)),
        np.array((0.4, -0.2)),
        np.array((0.2, 0.3)),
        0.5,
    )
    plan = motion.Plan(PLANE, 0.0, start, velocity, d, goal, d)
    rows = np.array(  # values, slopes and curvatures at both ends of s^5 .. s^0
        (
            (0, 0, 0, 0, 0, 1),
            (1, 1, 1, 1, 1, 1),
            (0, 0, 0, 0, 1, 0),
            (5, 4, 3, 2, 1, 0),
            (0, 0, 0, 2, 0, 0),
            (20, 12, 6, 2, 0, 0),
        )
    )
    ends = np.array((start, goal, velocity * d, 0 * goal, 0 * goal, 0 * goal))
    quintic = np.linalg.solve(rows, ends)
    t = np.linspace(0.0, d, 30)
    expected = np.stack([np.polyval(quintic[:, axis], t / d) for axis in (0, 1)], -1)
    np.testing.assert_allclose(motion.reference(plan, t).position, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_a_new_target_at_any_time_makes_no_jump(seed):
    plans = chain(seed)
    for (old, when), (new, _) in itertools.pairwise(plans):
        before, after = (motion.reference(plan, np.array(when)) for plan in (old, new))
        np.testing.assert_allclose(after.position, before.position, atol=1e-12)
        np.testing.assert_allclose(after.velocity, before.velocity, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_joints_keep_their_speed_under_targets_that_change_on_and_on(seed):
    """Every millisecond; a step of 1 ms misses at most 25 rad/s^2 * 0.5 ms of a peak."""
    for plan, until in chain(seed):
        times = np.arange(plan.start, until, 1e-3)
        _, speeds = motion.joint_reference(plan, times)
        assert np.abs(speeds).max() <= ur5.JOINT_SPEED
        assert np.abs(np.diff(speeds, axis=0)).max() <= 1.3 * motion.ACCELERATION * 1e-3


@pytest.mark.parametrize("seed", range(20))
def test_from_rest_the_acceleration_is_kept_and_no_more_time_is_taken_than_needed(seed):
    draw = np.random.default_rng(seed)
    start, goal = ((draw.uniform(-0.35, 0.35), draw.uniform(0.0, 0.5)) for _ in range(2))
    rest = motion.rest(start, plane=PLANE)
    plan = motion.replan(rest, goal, now=0.0, duration=0.05)
    times = np.linspace(0.0, plan.duration, 400)
    _, speeds = motion.joint_reference(plan, times)
    hardest = np.abs(np.diff(speeds, axis=0)).max() / times[1]
    assert hardest <= motion.ACCELERATION and np.abs(speeds).max() <= motion.SPEED
    # Tried times are 10 % apart at most (geometric from 0.05 to 2.5 s in 8, then 6 steps).
    asked = max(hardest / motion.ACCELERATION, (np.abs(speeds).max() / motion.SPEED) ** 2)
    assert asked > motion.PLANNED**2 / 1.1**2 - 0.06


def test_the_goal_is_reached_in_the_time_asked_for_when_the_joints_can():
    plan = motion.replan(motion.rest((0.0, 0.2), plane=PLANE), (0.1, 0.25), now=1.0, duration=0.4)
    last = _end(plan)
    end = motion.reference(plan, np.array((last, last + 5.0)))
    assert last == pytest.approx(1.4)
    np.testing.assert_allclose(end.position, [(0.1, 0.25)] * 2, atol=1e-12)
    np.testing.assert_allclose(end.velocity, 0.0, atol=1e-12)


def test_halting_ends_at_rest_nearby():
    plan = motion.replan(motion.rest((-0.3, 0.2), plane=PLANE), (0.3, 0.2), now=0.0, duration=0.6)
    stop = motion.halt(plan, now=0.3)
    end = motion.reference(stop, np.array(_end(stop)))
    assert _end(stop) - 0.3 < 0.4
    np.testing.assert_allclose(end.velocity, 0.0, atol=1e-12)
    before = motion.reference(plan, np.array(0.3))
    assert np.linalg.norm(end.position - before.position) < 0.25


def test_later_is_the_same_motion_later():
    plan = motion.replan(motion.rest((0.0, 0.2), plane=PLANE), (0.2, 0.3), now=0.0, duration=0.4)
    shifted = motion.rest((0.0, 0.2), plane=PLANE, now=7.0)
    shifted = motion.replan(shifted, (0.2, 0.3), now=7.0, duration=0.4)
    t = np.linspace(0.0, 0.6, 20)
    first, second = motion.reference(plan, t), motion.reference(shifted, 7.0 + t)
    np.testing.assert_allclose(first.position, second.position, atol=1e-12)


@pytest.mark.parametrize(("goal", "duration"), [((2.0, 0.2), 0.5), ((0.1, 0.2), 0.0)])
def test_what_cannot_be_is_refused(goal, duration):
    with pytest.raises(ValueError, match=r"out of the arm's reach|must be positive"):
        motion.replan(motion.rest((0.0, 0.2), plane=PLANE), goal, now=0.0, duration=duration)
