"""An arm behind a process of its own, which stops whatever hangs or dies: the driver, it, or both.

What is asserted is as in `test_watched.py`, with the fake driver in the owner's process.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from ricochet.hardware import locks
from ricochet.hardware.robots.messages import Driver, Limits
from ricochet.hardware.robots.paddle_arm import Refusal
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from tests.hardware.robots.rigs import CLIENT, FAKES, GENEROUS, gone, until

FOREVER_FOR_A_TEST = 60.0


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
@pytest.mark.parametrize(
    "way", ["die in stop", "end in stop", "leave stop", "killed before", "killed meanwhile"]
)
def test_an_arm_whose_owner_dies_as_it_is_closed_is_stopped_beside_its_driver(lab, way):
    fault = {"fault": way} if way.endswith("stop") else {}
    if way == "killed meanwhile":
        fault = {"fault": "hold stop", "held": GENEROUS}
    arm = lab.arm(Limits(hang=3.0), **fault)
    arm.move((0.3, 0.35, 0.2), 2.0)
    pid = lab.wait("sent")[0]["pid"]
    if way == "killed before":
        os.kill(pid, signal.SIGKILL)
    if way == "killed meanwhile":
        killer = threading.Thread(target=lambda: lab.wait("hang") and os.kill(pid, signal.SIGKILL))
        killer.start()
    arm.close()
    (stop,) = lab.events("emergency stop")
    assert stop["pid"] == os.getpid() and gone(pid) and not lab.events("stop")
    assert "expected an owner that lives; the arm is stopped" in str(arm.fault)


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


@pytest.mark.slow
@pytest.mark.parametrize("way", ["dies by itself", "killed", "paused"])
def test_an_owner_that_dies_or_falls_silent_is_replaced_by_the_second_way(lab, way):
    fault = {"fault": "die in advance", "after": 1.5} if way == "dies by itself" else {}
    arm = lab.arm(Limits(hang=3.0), **fault)
    arm.move((0.3, 0.35, 0.2), 0.5)
    pid = lab.wait("sent")[0]["pid"]
    if way != "dies by itself":
        os.kill(pid, signal.SIGKILL if way == "killed" else signal.SIGSTOP)
    assert str(arm.advance(GENEROUS)).endswith("; the arm is stopped")
    (stop,) = lab.wait("emergency stop")
    assert stop["pid"] == os.getpid() and gone(pid)
    assert not [row for row in lab.events("sent") if row["time"] > stop["time"]]


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
