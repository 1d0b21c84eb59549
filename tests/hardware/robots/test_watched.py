"""An arm behind its owner, here a thread: it moves in time or never, and stops what is wrong.

What is asserted is what the fake driver wrote down of the robot, with times of the clock that all
processes share. Times are asserted generously, for machines under load; `python -m
benchmarks.bouncing_ball.watched_arm` prints them. Owners that hang or die are in
`test_watched_processes.py`.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ricochet.hardware.robots.messages import Limits
from ricochet.models.core.bad_input import BadInput
from tests.hardware.robots.rigs import GENEROUS, until


def test_an_arm_that_is_let_go_is_asked_for_nothing_and_not_stopped(rig):
    """It may be another's by then."""
    arm = rig.arm()
    arm.close()
    arm.stop()
    assert str(arm.move((0.3, 0.35, 0.2), 0.5)) == "arm: found let go, expected one that is held"
    assert arm.fault is None and not rig.events("emergency stop")


@pytest.mark.parametrize(
    ("point", "duration", "says"),
    [
        ((0.3, 0.5, 0.2), 0.5, "expected y in"),
        ((0.3, float("nan"), 0.2), 0.5, "three finite numbers"),
        ((0.3, 0.1, 0.2), float("inf"), "duration"),
    ],
)
def test_a_refusal_comes_back_and_the_arm_goes_on(rig, point, duration, says):
    arm = rig.arm()
    refusal = str(arm.move(point, duration))
    assert says in refusal and "\n" not in refusal
    assert arm.fault is None and arm.move((0.3, 0.1, 0.2), 0.5) is None
    assert len(rig.events("asked")) == 1


def test_stopping_stops_and_a_later_command_moves_again(rig):
    arm = rig.arm()
    arm.move((0.3, 0.35, 0.2), 0.5)
    rig.wait("sent")
    arm.stop()
    (stop,) = rig.events("stop")
    here = arm.state().paddle[1]
    time.sleep(0.1)
    assert all(row["time"] < stop["time"] for row in rig.events("sent"))
    assert arm.state().paddle[1] == pytest.approx(here, abs=0.02) and here < 0.3
    assert arm.move((0.3, 0.0, 0.2), 0.5) is None and rig.wait("sent")


def test_what_the_driver_refuses_is_bad_input(rig):
    with pytest.raises(BadInput, match="robot: found nothing, expected a robot"):
        rig.arm(fault="refuse")
    with pytest.raises(BadInput, match="arm: found two lines, expected a driver that opens it"):
        rig.arm(fault="raise in open")


def test_a_command_that_the_driver_accepts_too_late_is_stopped_before_anything_is_sent(rig):
    """The driver takes 0.4 s over a command that is void after 0.1 s, and then accepts it."""
    limits = Limits(silence=3.0, hang=3.0, command=0.1)
    arm = rig.arm(limits, fault="hold move", held=0.4)
    refusal = str(arm.move((0.3, 0.1, 0.2), 0.5))
    assert "late, expected one in time; it is not executed" in refusal
    assert [row["what"] for row in rig.events()] == [
        "open",
        "asked",
        "hang",
        "accepted",
        "stop asked",
        "stop",
    ]
    assert arm.fault is None and not rig.events("sent")


def test_commands_that_wait_behind_a_slow_period_are_void_after_their_deadline(rig):
    """A period takes 0.5 s; each command lives for 0.1 s and is answered before the next one."""
    limits = Limits(silence=3.0, hang=3.0, command=0.1)
    arm = rig.arm(limits, fault="hold advance", held=0.5)
    rig.wait("hang")
    asked = time.monotonic()
    refusals = [str(arm.move((0.3, 0.1, 0.2), 0.5)) for _ in range(2)]
    assert all("late, expected one in time" in line for line in refusals)
    assert time.monotonic() - asked > 0.3
    assert rig.events("asked", "accepted", "sent") == []


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("freeze", "the time stamp"),
        ("NaN speeds", "reported joint speeds: found nan"),
        ("infinite joint", "reported joints: found inf"),
        ("absurd speeds", "reported joint speeds: found 50"),
        ("absurd joints", "reported joints: found 40"),
        ("lie", "off what its speed says"),
        ("NaN stamp", "found nan, expected finite numbers"),
        ("raise in advance", "arm: found RTDE: connection reset, expected an arm that answers"),
        ("raise in state", "arm: found RTDE: connection reset"),
    ],
)
def test_reports_that_cannot_be_stop_the_arm_for_good_and_are_said(rig, fault, says):
    arm = rig.arm(fault=fault, after=0.2)
    arm.move((0.3, 0.35, 0.2), 0.5)
    line = str(arm.advance(GENEROUS))
    assert says in line and line.endswith("; the arm is stopped") and "\n" not in line
    stopped = rig.wait("stop")[0]["time"]
    time.sleep(0.05)
    assert not [row for row in rig.events("sent") if row["time"] > stopped]
    assert arm.move((0.3, 0.0, 0.2), 0.5) == arm.fault


def test_a_driver_that_raises_when_it_is_stopped_is_stopped_beside_itself(rig):
    arm = rig.arm(fault="raise in stop")
    arm.stop()
    assert "connection reset" in str(arm.advance(GENEROUS)) and rig.wait("emergency stop")


def test_many_close_an_arm_at_once_and_it_is_closed_once(rig):
    arm = rig.arm()
    with ThreadPoolExecutor(8) as threads:
        closing = [threads.submit(arm.close) for _ in range(8)]
        assert [each.result() for each in closing] == 8 * [None]
    assert len(rig.events("close")) == 1 and arm.fault is None


def test_a_simulated_arm_behind_it_is_moved_and_watched_as_ever(rig):
    arm = rig.arm(kind="simulated")
    assert arm.move((0.3, 0.1, 0.2), 0.4) is None
    assert until(lambda: arm.state().paddle == pytest.approx((0.3, 0.1, 0.2), abs=2e-3))
    assert arm.fault is None


def test_a_simulated_arm_that_seizes_is_a_fault_for_good(rig):
    arm = rig.arm(kind="simulated", seized_at=0.3)
    arm.move((0.3, 0.3, 0.4), 0.5)
    assert "arm does not follow" in str(arm.advance(GENEROUS))
    assert arm.move((0.3, 0.0, 0.2), 0.5) == arm.fault
