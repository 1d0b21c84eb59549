"""A driver that hangs, answers late, freezes, lies, raises or dies, in the process of its owner.

Its settings: `log`, a file that receives a line of JSON for each thing done to the robot, with the
time of the machine's monotonic clock; `fault`, what goes wrong; `after`, s, from when on; `once`,
whether one call alone is held; `beside`, whether the second way of stopping works. `kind` chooses
the arm behind it: `plain`, which goes to its target in a straight line, or `simulated`, MuJoCo's.
"""

import json
import math
import os
import time

import numpy as np

from ricochet.hardware.robots.paddle_arm import ArmState
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

FOREVER = 3600.0
REPORTED = ("freeze", "NaN speeds", "infinite joint", "absurd speeds", "absurd joints", "lie")
SPEED = 1.0  # rad/s of the first joint, which alone moves


def open_arm(settings):
    log(settings, "open")
    if settings.get("fault") == "hang in open":
        time.sleep(FOREVER)
    if settings.get("fault") == "refuse":
        raise BadInput("robot", "nothing", "a robot")
    if settings.get("fault") == "raise in open":
        raise RuntimeError("two\nlines")
    if settings.get("kind") == "simulated":
        from tests.hardware.robots.simulated_fakes import Simulated

        return Simulated(settings)
    return Plain(settings)


def emergency_stop(settings):
    if settings.get("beside") == "hangs":
        while not os.path.exists(f"{settings['log']}.end"):  # a client may stop beside as well
            time.sleep(0.01)
        return
    if settings.get("beside") == "fails":
        raise OSError("no route to host")
    if settings.get("beside") == "slow":
        log(settings, "emergency stop begins")
        time.sleep(0.6)
    log(settings, "emergency stop")


def log(settings, what, **more):
    line = json.dumps({"what": what, "time": time.monotonic(), "pid": os.getpid()} | more)
    handle = os.open(settings["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, line.encode() + b"\n")
    os.close(handle)


class Faults:
    """What goes wrong in one call of the driver."""

    def __init__(self, settings):
        self.settings, self.began, self.said = settings, time.monotonic(), False

    def now(self, fault):
        late = time.monotonic() - self.began > self.settings.get("after", 0.0)
        return late and self.settings.get("fault") == fault

    def at(self, call):
        if self.now(f"hang in {call}"):
            log(self.settings, "hang")
            time.sleep(FOREVER)
        if self.now(f"hold {call}"):  # a call that returns at last, with what it was to do
            log(self.settings, "hang")
            time.sleep(self.settings["held"])
            if self.settings.get("once"):
                self.settings["fault"] = None
        if self.now(f"raise in {call}"):
            log(self.settings, "raise")
            raise RuntimeError("RTDE: connection\nreset")
        if self.now(f"die in {call}"):
            os._exit(1)
        if self.now(f"end in {call}"):
            os._exit(0)
        if self.now(f"leave {call}"):
            raise SystemExit


class Plain(Faults):
    """One joint that goes straight to where the target's y says, at SPEED."""

    exclusive = True
    workspace = Workspace()

    def __init__(self, settings):
        super().__init__(settings)
        self.joints, self.goal, self.speed, self.time = np.zeros(6), 0.0, 0.0, 0.0
        self.kept = None

    def move(self, point, duration):
        log(self.settings, "asked", point=list(point))
        self.at("move")
        log(self.settings, "accepted", point=list(point))
        self.goal = float(point[1])
        return None

    def advance(self, seconds):
        self.at("advance")
        time.sleep(seconds)
        self.time += seconds
        left = self.goal - self.joints[0]
        step = math.copysign(min(abs(left), SPEED * seconds), left)
        if step:
            log(self.settings, "sent", goal=self.goal)
        self.joints = self.joints + np.array((step, 0, 0, 0, 0, 0))
        self.speed = step / seconds
        return None

    def state(self):
        self.at("state")
        joints, speeds = self.joints.copy(), np.array((self.speed, 0, 0, 0, 0, 0))
        stamp = self.time
        if self.settings.get("fault") in REPORTED and self.now(self.settings["fault"]):
            if not self.said:
                log(self.settings, "wrong")
            self.said = True
        if self.now("freeze"):
            self.kept = self.kept or (joints, speeds, stamp)
            joints, speeds, stamp = self.kept
        if self.now("NaN speeds"):
            speeds[3] = np.nan
        if self.now("infinite joint"):
            joints[2] = np.inf
        if self.now("absurd speeds"):
            speeds[3] = 50.0
        if self.now("absurd joints"):
            joints[1] = 40.0
        if self.now("lie"):
            speeds[4] = 2.0
        if self.now("NaN stamp"):
            stamp = np.nan
        return ArmState(
            self.time,
            tuple(joints.tolist()),
            tuple(speeds.tolist()),
            (0.3, float(joints[0]), 0.2),
            (0.0, float(speeds[0]), 0.0),
            0.0,
            stamp,
        )

    def stop(self):
        log(self.settings, "stop asked")
        self.at("stop")
        log(self.settings, "stop")
        self.goal = self.joints[0]

    def close(self):
        self.stop()
        self.at("close")
        log(self.settings, "close")
