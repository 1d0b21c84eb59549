"""An arm behind a process of its own: it moves in time or never, and stops whatever hangs or dies.

What is asserted is what the fake driver wrote down of the robot, with times of the clock that all
processes share. Times are asserted generously, for machines under load; `python -m
benchmarks.bouncing_ball.watched_arm` prints them.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ricochet.hardware import locks
from ricochet.hardware.robots import owner_process
from ricochet.hardware.robots.messages import Driver, Limits
from ricochet.hardware.robots.paddle_arm import Refusal
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from tests.hardware.robots import owner_thread

ROOT = Path(__file__).resolve().parents[3]
FAKES = "tests.hardware.robots.driver_fakes"
SLOW = Limits(silence=3.0, hang=3.0, command=3.0)
"""Where time is not the subject."""
GENEROUS = 5.0  # s, for what takes 0.1 s on an idle machine


class Rig:
    """Arms with fake drivers, and what happened to the robot."""

    def __init__(self, folder):
        self.log, self.arms = folder / "log", []

    def driver(self, **settings):
        return Driver(FAKES, {"log": str(self.log)} | settings)

    def arm(self, limits=SLOW, **settings):
        self.arms.append(WatchedArm(self.driver(**settings), Workspace(), limits=limits))
        return self.arms[-1]

    def events(self, *whats):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        rows = [json.loads(line) for line in lines]
        return [row for row in rows if not whats or row["what"] in whats]

    def wait(self, *whats, seconds=GENEROUS):
        end = time.monotonic() + seconds
        while not (found := self.events(*whats)) and time.monotonic() < end:
            time.sleep(0.005)
        assert found, (whats, self.events())
        return found


def closed(made):
    """Yield a rig; each of its arms then closes in bounded time."""
    yield made
    for arm in made.arms:
        began = time.monotonic()
        arm.close()
        assert time.monotonic() - began < 2 * GENEROUS


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """Arms whose owner is a thread, for what needs no process to be ended."""
    monkeypatch.setattr(owner_process, "launch", owner_thread.launch)
    yield from closed(Rig(tmp_path))


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Arms whose owner is a process of its own."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    yield from closed(Rig(tmp_path))


def gone(pid):
    end = time.monotonic() + GENEROUS
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


def until(holds):
    end = time.monotonic() + GENEROUS
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


@pytest.mark.slow
def test_an_arm_is_moved_while_no_caller_waits_and_closed_once(lab):
    arm = lab.arm()
    assert arm.move((0.3, 0.1, 0.25), 0.5) is None
    assert until(lambda: arm.state().paddle[1] == pytest.approx(0.1, abs=1e-6))
    assert len(arm.track()) > 5 and arm.fault is None
    arm.close()
    arm.close()
    said = [row["what"] for row in lab.events("stop", "close", "emergency stop")]
    assert said[0] == "stop" and said[-1] == "close" and "emergency stop" not in said
    assert said.count("close") == 1
    assert {row["pid"] for row in lab.events()} != {os.getpid()}


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


@pytest.mark.slow
def test_a_driver_that_is_not_there_is_bad_input(lab):
    with pytest.raises(BadInput, match=r"No module named .* expected a driver that opens it"):
        WatchedArm(Driver("tests.no_such_driver", {}), Workspace())


@pytest.mark.slow
def test_a_driver_that_hangs_when_it_is_opened_is_bad_input_and_ended(lab):
    with pytest.raises(BadInput, match="driver: found no return from open, expected one in time"):
        lab.arm(Limits(opening=0.2), fault="hang in open")
    (opened,) = lab.events("open")
    assert gone(opened["pid"]) and lab.events("emergency stop")


@pytest.mark.slow
@pytest.mark.parametrize("call", ["advance", "state"])
def test_a_driver_that_hangs_on_the_way_is_stopped_beside_itself_and_ended(lab, call):
    arm = lab.arm(Limits(silence=3.0, command=3.0), fault=f"hang in {call}", after=0.3)
    arm.move((0.3, 0.35, 0.2), 0.5)
    says = str(arm.advance(GENEROUS))
    assert f"no return from {call}" in says and says.endswith("; the arm is stopped")
    (hang,), stop = lab.events("hang"), lab.events("emergency stop")[0]
    assert 0.05 < stop["time"] - hang["time"] < GENEROUS
    assert gone(hang["pid"]) and not [
        row for row in lab.events("sent") if row["time"] > hang["time"]
    ]
    assert arm.move((0.3, 0.0, 0.2), 0.5) == arm.fault


@pytest.mark.slow
def test_a_command_in_which_the_driver_hangs_is_never_executed(lab):
    arm = lab.arm(Limits(silence=3.0), fault="hang in move")
    refusal = arm.move((0.3, 0.1, 0.2), 0.5)
    assert isinstance(refusal, Refusal) and refusal == arm.fault
    assert lab.wait("emergency stop") and gone(lab.events("hang")[0]["pid"])
    assert lab.events("accepted", "sent") == []


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [False, True])
def test_a_call_that_returns_while_the_arm_is_stopped_beside_it_has_nothing_executed(lab, leaves):
    how = {"fault": "hold advance", "held": 0.3, "once": True, "after": 0.3, "beside": "slow"}
    arm = lab.arm(Limits(silence=3.0, command=3.0), **how)
    (hang,) = lab.wait("hang")
    if leaves:
        lab.wait("emergency stop begins")
        arm.close()  # the stop goes on
    else:
        assert "no return from advance" in str(arm.move((0.3, 0.1, 0.2), 0.5))
        assert arm.move((0.3, 0.0, 0.2), 0.5) == arm.fault
    assert lab.wait("emergency stop") and gone(hang["pid"])
    assert lab.events("asked", "accepted", "sent") == []


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


@pytest.mark.slow
def test_a_command_without_an_answer_is_a_fault_and_what_was_queued_is_void(lab):
    """The driver hangs for long, and nothing ends it but the client, who gives up after 0.4 s."""
    limits = Limits(silence=0.2, hang=0.1, command=0.1)
    started = lab.driver(fault="hold advance", held=FOREVER_FOR_A_TEST, after=0.3)
    arm = WatchedArm(started, Workspace(), limits=limits)
    lab.arms.append(arm)
    lab.wait("hang")
    assert arm.move((0.3, 0.1, 0.2), 0.5) == arm.fault is not None
    assert lab.wait("emergency stop")
    time.sleep(0.2)
    assert lab.events("asked", "accepted") == []


FOREVER_FOR_A_TEST = 60.0


@pytest.mark.slow
def test_stop_returns_and_the_arm_is_stopped_while_the_driver_hangs(lab):
    arm = lab.arm(Limits(), fault="hang in advance", after=0.3)
    arm.move((0.3, 0.35, 0.2), 0.5)
    lab.wait("hang")
    began = time.monotonic()
    arm.stop()
    assert time.monotonic() - began < GENEROUS and lab.wait("emergency stop")
    assert arm.fault is not None


@pytest.mark.slow
@pytest.mark.parametrize(("call", "closing"), [("stop", 600.0), ("close", 0.3)])
def test_closing_returns_while_the_driver_hangs_in_it(lab, call, closing):
    """One that hangs when it is stopped is found as ever, however long letting go may take."""
    arm = lab.arm(Limits(closing=closing), fault=f"hang in {call}")
    began = time.monotonic()
    arm.close()
    assert time.monotonic() - began < GENEROUS
    assert lab.events("emergency stop") and gone(lab.events("hang")[0]["pid"])


@pytest.mark.slow
def test_a_second_way_of_stopping_that_fails_is_said(lab):
    arm = lab.arm(Limits(stopping=0.2), fault="hang in advance", after=0.3, beside="hangs")
    says = str(arm.advance(GENEROUS))
    assert "PRESS THE EMERGENCY STOP" in says
    began = time.monotonic()
    arm.close()
    assert time.monotonic() - began < GENEROUS
    lab.log.with_name(f"{lab.log.name}.end").touch()
    for thread in threading.enumerate():
        if thread.name == "emergency stop":
            thread.join(GENEROUS)


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


@pytest.mark.slow
@pytest.mark.parametrize("way", ["dies by itself", "killed", "paused"])
def test_an_owner_that_dies_or_falls_silent_is_replaced_by_the_second_way(lab, way):
    fault = {"fault": "die in advance", "after": 0.3} if way == "dies by itself" else {}
    arm = lab.arm(Limits(hang=3.0), **fault)
    arm.move((0.3, 0.35, 0.2), 0.5)
    pid = lab.wait("sent")[0]["pid"]
    if way != "dies by itself":
        os.kill(pid, signal.SIGKILL if way == "killed" else signal.SIGSTOP)
    assert str(arm.advance(GENEROUS)).endswith("; the arm is stopped")
    (stop,) = lab.wait("emergency stop")
    assert stop["pid"] == os.getpid() and gone(pid)
    assert not [row for row in lab.events("sent") if row["time"] > stop["time"]]


CLIENT = """
import sys, time
from ricochet.hardware.robots import owner_process
from ricochet.hardware.robots.messages import Driver, Limits
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
arm = WatchedArm(Driver(sys.argv[1], {"log": sys.argv[2]}), Workspace(), limits=Limits(hang=3.0))
arm.move((0.3, 0.35, 0.2), 0.5)
print("moving", flush=True)
time.sleep(60.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_an_arm_whose_client_dies_or_pauses_is_stopped_and_closed(lab, number):
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, FAKES, str(lab.log)], stdout=subprocess.PIPE, text=True
    )
    with client:
        assert client.stdout.readline() == "moving\n"
        client.send_signal(number)
        sent = time.monotonic()
        stop = lab.wait("stop")[0]
        assert stop["time"] - sent < GENEROUS
        time.sleep(0.05)
        assert not [row for row in lab.events("sent") if row["time"] > stop["time"]]
        client.kill()
    assert lab.wait("close") and gone(stop["pid"])


LOCKED = """
import sys, time
from ricochet.hardware import locks
from ricochet.hardware.robots.messages import Driver
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
settings = {"log": sys.argv[2], "fault": "hold close", "held": 1.0}
with locks.hold(locks.RigLock("robot", sys.argv[3])) as lock:
    arm = WatchedArm(Driver(sys.argv[1], settings), Workspace(), lock=lock)
    print("held", flush=True)
    time.sleep(60.0)
"""


@pytest.mark.slow
def test_the_lock_of_a_client_that_died_is_held_until_its_arm_is_let_go(lab, tmp_path):
    words, lock = [FAKES, str(lab.log), str(tmp_path)], locks.RigLock("robot", str(tmp_path))
    command = [sys.executable, "-c", LOCKED, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout.readline() == "held\n"
        client.kill()
    (closing,) = lab.wait("hang")
    assert not free(lock)
    assert lab.wait("close") and gone(closing["pid"]) and until(lambda: free(lock))


def free(lock):
    with contextlib.suppress(locks.BusyError), locks.hold(lock):
        return True
    return False


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
