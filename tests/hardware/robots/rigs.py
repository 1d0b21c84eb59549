"""Arms behind an owner, with a fake driver that writes down what was done to the robot."""

import json
import time
from pathlib import Path

from ricochet.hardware.robots.messages import Driver, Limits
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

FAKES = "tests.hardware.robots.driver_fakes"
SLOW = Limits(silence=3.0, hang=3.0, command=3.0)
"""Where time is not the subject."""
GENEROUS = 5.0  # s, for what takes 0.1 s on an idle machine
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


def gone(pid):
    end = time.monotonic() + GENEROUS
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):  # before it was opened, or read
            return True
        time.sleep(0.01)
    return False


def until(holds):
    end = time.monotonic() + GENEROUS
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()
