"""Motions of an arm that shakes a box: at rest at both ends, as fast as said, within its limits."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.arms import panda
from ricochet.models.systems.rigid_bodies import shaking
from ricochet.models.systems.rigid_bodies.shaking import RATE, READY, TELLING

MOTIONS = {
    "in turn": shaking.in_turn(),
    "otherwise": shaking.in_turn(speed=0.2, away=0.15),
    "waves": shaking.waves(TELLING, 6.0),
}


@pytest.mark.parametrize("joints", MOTIONS.values(), ids=MOTIONS)
def test_the_arm_can_make_them_and_they_begin_and_end_at_rest(joints: np.ndarray) -> None:
    assert shaking.within_limits(joints)
    still = round(shaking.REST * RATE)
    np.testing.assert_allclose(joints[:still] - joints[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(joints[-still:] - joints[0], 0.0, atol=1e-12)
    assert np.abs(joints - joints[0]).max() > 0.05


@pytest.mark.parametrize(("speed", "away"), [(0.1, 0.1), (0.2, 0.15), (0.9, 0.1)])
def test_in_turn_joints_6_and_7_go_to_both_sides_as_fast_as_they_may(speed, away) -> None:
    """The widest speed is the limit's, or, where the way is too short, sqrt(2 away ramp)."""
    joints = shaking.in_turn(speed=speed, away=away) - READY
    assert not joints[:, :5].any()
    half = len(joints) // 2
    assert not joints[:half, 6].any() and not joints[half:, 5].any()
    np.testing.assert_allclose(joints.max(0)[5:], away, atol=1e-12)
    np.testing.assert_allclose(joints.min(0)[5:], -away, atol=1e-12)
    most = min(speed * panda.SPEED_LIMIT[6], np.sqrt(2.0 * away * shaking.RAMP))
    rates = np.abs(np.diff(joints[:, 5:], axis=0)).max(0) * RATE
    assert (rates <= most * (1.0 + 1e-9)).all()
    # where a speed is reached between frames it shows as less, by a frame of the ramp at most
    assert (rates >= most - shaking.RAMP / RATE).all()
    changes = np.abs(np.diff(joints[:, 5:], 2, axis=0)).max(0) * RATE**2
    assert (changes <= shaking.RAMP * (1.0 + 1e-9)).all()


def test_faster_motions_are_shorter() -> None:
    frames = [len(shaking.in_turn(speed=speed)) for speed in (0.05, 0.1, 0.2)]
    assert frames[0] > frames[1] > frames[2]
    slow, usual = (2.0 * 0.4 / (share * panda.SPEED_LIMIT[6]) for share in (0.05, 0.1))
    ramps = 6.0 * (0.05 - 0.1) * panda.SPEED_LIMIT[6] / shaking.RAMP
    assert abs((frames[0] - frames[1]) / RATE - (slow - usual + ramps)) < 6.0 / RATE


def test_waves_last_as_long_as_said_and_scale_with_their_sizes() -> None:
    level = replace(TELLING, posture=(0.0, 0.0, 0.0))
    joints = shaking.waves(level, 6.0) - READY
    assert len(joints) == pytest.approx(6.0 * RATE, abs=1.0)
    assert not joints[:, :4].any()
    half = replace(level, sizes=tuple(0.5 * size for size in level.sizes))
    np.testing.assert_allclose(shaking.waves(half, 6.0) - READY, 0.5 * joints, atol=1e-15)
    tilted = shaking.waves(TELLING, 6.0) - READY
    shift = np.array((0.0, 0.0, 0.0, 0.0, *TELLING.posture))
    np.testing.assert_allclose(tilted, joints + shift, atol=1e-15)


def test_in_the_middle_waves_are_the_sines_they_are_said_to_be() -> None:
    motion = replace(TELLING, sizes=(0.1, 0.0, 0.0), posture=(0.0, 0.0, 0.0))
    rest, fade = round(shaking.REST * RATE), round(shaking.FADE * RATE)
    joints = (shaking.waves(motion, 6.0) - READY)[rest:-rest, 4]
    times = np.arange(len(joints)) / RATE
    wave = 0.1 * np.sin(2.0 * np.pi * motion.frequencies[0] * times + motion.phases[0])
    np.testing.assert_allclose(joints[fade:-fade], wave[fade:-fade], atol=1e-12)
    assert (np.abs(joints) <= np.abs(wave) + 1e-12).all()


@pytest.mark.parametrize("changed", ["far", "fast", "sudden"])
def test_what_the_arm_cannot_make_is_refused(changed: str) -> None:
    joints, times = shaking.in_turn(), np.arange(580) / RATE
    if changed == "far":
        joints = joints + np.array((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.2))
    elif changed == "fast":
        joints[:, 4] += 0.6 * panda.SPEED_LIMIT[4] * np.sin(times)
    else:
        joints[300:, 4] += 1e-2
    assert shaking.within_limits(joints) is False
    if changed == "fast":
        assert shaking.within_limits(joints, share=0.7)
