"""An arm that a thread steers: what is asked of it is done, watched, and answered."""

import functools
import threading
import time

import pytest

from ricochet.hardware.robots.paddle_arm import Refusal
from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.hardware.robots.threaded import SteeredArm
from ricochet.hardware.robots.ur import UniversalRobot
from tests.hardware.robots.rtde_fakes import Control, Controller, Receive


class Clock:
    """Seconds of the wall, turned by hand."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def made():
    """Steered arms, all closed at the end."""
    arms = []

    def make(arm, **words):
        arms.append(SteeredArm(arm, **words))
        return arms[-1]

    yield make
    for arm in arms:
        arm.close()


def robot(controller):
    control, receive = (functools.partial(kind, controller) for kind in (Control, Receive))
    return UniversalRobot("192.0.2.1", arm=True, control=control, receive=receive)


def until(holds, seconds=5.0):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


def test_an_arm_is_moved_while_no_caller_waits_and_its_watchdog_kicked(made):
    controller = Controller(paced=True)
    arm = made(robot(controller))
    assert arm.move((0.3, 0.1, 0.25), 0.2) is None
    assert until(lambda: arm.state().paddle == pytest.approx((0.3, 0.1, 0.25), abs=2e-3))
    assert controller.running and controller.time - controller.kicked < 0.1


def test_the_driver_is_called_from_one_thread_alone(made):
    names = []

    class Told(SimulatedArm):
        def advance(self, seconds):
            names.append(threading.current_thread().name)
            time.sleep(0.001)
            return super().advance(seconds)

        def move(self, point, duration):
            names.append(threading.current_thread().name)
            return super().move(point, duration)

    arm = made(Told())
    arm.move((0.3, 0.1, 0.2), 0.5)
    arm.stop()
    assert set(names) == {"arm"}


def test_a_refusal_comes_back_and_the_arm_goes_on(made):
    arm = made(robot(Controller(paced=True)))
    assert "expected y in" in str(arm.move((0.3, 0.5, 0.2), 0.5))
    assert arm.fault is None and arm.move((0.3, 0.1, 0.2), 0.5) is None


def test_an_arm_that_does_not_follow_is_a_fault_for_good(made):
    controller = Controller(paced=True)
    arm = made(robot(controller))
    controller.stuck = True
    arm.move((0.3, 0.3, 0.3), 0.3)
    assert "does not follow" in str(arm.advance(5.0))
    assert arm.move((0.3, 0.0, 0.2), 0.5) == arm.fault == arm.advance(1.0)
    assert "servoStop" in controller.calls


def test_a_driver_that_raises_stops_the_arm_and_is_said(made):
    stopped = []

    class Broken(SimulatedArm):
        def advance(self, seconds):
            raise RuntimeError("RTDE: connection reset")

        def stop(self):
            stopped.append(True)

    arm = made(Broken())
    assert (
        str(arm.advance(5.0)) == "arm: found RTDE: connection reset, expected an arm that answers"
    )
    assert stopped and isinstance(arm.move((0.3, 0.0, 0.2), 0.5), Refusal)


def test_the_clock_is_the_latest_that_the_buffers_allow(made):
    """Buffers that end at 1.0 and 1.1 s come at 100.0 and 100.05 s: the first was late by 50 ms."""
    clock = Clock()
    arm = made(SimulatedArm(), clock=clock)
    arm.begin()
    arm.follow(1.0)
    assert arm.state().time == pytest.approx(1.0)
    clock.now += 0.05
    arm.follow(1.1)
    assert arm.state().time == pytest.approx(1.1)
    clock.now += 0.2
    arm.follow(1.2)  # itself late by 0.1 s: no reason to turn the clock back
    assert arm.state().time == pytest.approx(1.3)
    arm.begin()
    assert arm.state().time == pytest.approx(0.0) and arm.state().energy == pytest.approx(0.0)


def test_closing_stops_the_robot_and_may_be_done_twice():
    controller = Controller(paced=True)
    arm = SteeredArm(robot(controller))
    arm.close()
    arm.close()
    assert "servoStop" in controller.calls and "stopScript" in controller.calls
