"""Reports of an arm: what cannot be is found within 100 ms, and what can is never flagged."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.hardware.robots.reports import MOST, ReportWatch

PERIOD = 0.008


def report(time, *, stamp=None, joints=None, speeds=None):
    """A sinusoid of 2 rad/s at most in every joint, from rest."""
    joints = np.full(6, 0.5 * (1.0 - math.cos(4.0 * time))) if joints is None else joints
    speeds = np.full(6, 2.0 * math.sin(4.0 * time)) if speeds is None else speeds
    return ArmState(
        time,
        tuple(joints.tolist()),
        tuple(speeds.tolist()),
        (0.3, 0.0, 0.2),
        (0.0, 0.0, 0.0),
        0.0,
        time if stamp is None else stamp,
    )


def first_fault(made, *, begin=1.0, seconds=1.0):
    """Watch good reports until `begin`, then those that are made; return when, and the fault."""
    watch = ReportWatch()
    for n in range(round((begin + seconds) / PERIOD)):
        time = n * PERIOD
        state = report(time) if time < begin else made(time)
        fault = watch.check(time, state)
        if fault is not None:
            return time - begin, str(fault)
    return None


@pytest.mark.parametrize("field", ["joints", "joint_speeds", "paddle", "paddle_velocity"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300])
def test_numbers_that_no_arm_has_are_found_at_once(field, value):
    def made(time):
        state = report(time)
        return replace(state, **{field: (value, *getattr(state, field)[1:])})

    found = first_fault(made)
    if field.startswith("paddle") and math.isfinite(value):
        assert found is None  # the joints are what is bounded
    else:
        assert found is not None and found[0] < PERIOD and "found" in found[1]


@pytest.mark.parametrize("field", ["time", "energy", "stamp"])
def test_times_and_energies_that_are_no_numbers_are_found_at_once(field):
    found = first_fault(lambda time: replace(report(time), **{field: math.nan}))
    assert found is not None and found[0] < PERIOD


def test_reports_that_stand_still_are_found_within_100_ms():
    frozen = report(1.0 - PERIOD)
    after, says = first_fault(lambda time: frozen)
    assert after <= 0.1 and "the time stamp" in says


def test_a_stamp_that_stands_still_is_found_while_the_joints_move():
    after, says = first_fault(lambda time: report(time, stamp=1.0))
    assert after <= 0.1 and "the time stamp" in says


BACK = {"by 50 s": lambda t: t - 50.0, "on and on": lambda t: -t, "to and fro": lambda t: t % 0.016}


@pytest.mark.parametrize("stamp", BACK.values(), ids=BACK)
def test_a_stamp_that_goes_back_is_found_within_100_ms(stamp):
    """It had switched off the comparison of joints with speeds until it was as late as before."""
    after, says = first_fault(lambda time: report(time, stamp=stamp(time)))
    assert after <= 0.1 and "the time stamp" in says


def test_of_a_stamp_that_creeps_no_more_and_more_reports_are_kept():
    """Each check took longer than the one before, until it took a period."""
    watch = ReportWatch()
    for number in range(2 * MOST):
        still = report(0.0, stamp=1.0 + 1e-9 * number)
        assert watch.check(number * PERIOD, still) is None
    assert len(watch._reports) == MOST


def test_joints_that_stand_still_while_their_speeds_do_not_are_found_within_100_ms():
    joints = np.full(6, 0.8)
    after, says = first_fault(lambda time: report(time, joints=joints, speeds=np.full(6, 1.0)))
    assert after <= 0.1 and "off what its speed says" in says


def test_speeds_that_are_zero_while_the_joints_move_are_found_within_100_ms():
    """At t = 1.2 s the joints go at 2 rad/s: 0.16 rad in 80 ms."""
    after, says = first_fault(lambda time: report(time, speeds=np.zeros(6)), begin=1.2)
    assert after <= 0.1 and "off what its speed says" in says


def test_an_arm_without_a_stamp_is_watched_by_the_clock():
    def made(time):
        return replace(report(time, speeds=np.zeros(6)), stamp=None)

    assert first_fault(lambda time: replace(report(time), stamp=None)) is None
    assert first_fault(made, begin=1.2) is not None


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.1, 3.0),  # rad/s
    st.floats(0.5, 20.0),  # rad/s^2 at most
    st.floats(0.0, 2e-3),  # rad/s of noise
)
def test_an_arm_that_moves_as_it_says_is_never_stopped(seed, speed, acceleration, noise):
    """Periods that come up to 60 ms late, a stamp that repeats once, speeds with noise."""
    draw, watch = np.random.default_rng(seed), ReportWatch()
    rate, wall = acceleration / speed, 0.0
    for n in range(400):
        time = n * PERIOD
        wall = max(wall, time + 0.06 * draw.random() ** 8)
        stamp = time if draw.random() > 0.05 or n == 0 else time - PERIOD
        at = stamp
        joints = np.full(6, speed / rate * (1.0 - math.cos(rate * at)))
        speeds = np.full(6, speed * math.sin(rate * at)) + noise * draw.standard_normal(6)
        joints = np.clip(joints, -6.0, 6.0)
        assert watch.check(wall, report(time, stamp=stamp, joints=joints, speeds=speeds)) is None
