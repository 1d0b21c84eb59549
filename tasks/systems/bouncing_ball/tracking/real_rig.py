"""The real rig as the settings describe it: a UR arm at an address, and a sound card.

Drivers are imported when the rig is opened. Everything that can be known without motion is checked
first (`open_rig`): the settings, the drivers, the arm, which is only read, and a moment of sound.
`lines` is what the operator reads before the question; `held` takes both devices for this process.
"""

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from ricochet.hardware import locks
from ricochet.hardware.microphones.interface import Rig
from ricochet.hardware.microphones.sound_stream import SoundStream
from ricochet.hardware.microphones.stream import Listener
from ricochet.hardware.robots import ur_driver
from ricochet.hardware.robots.paddle_arm import Point
from ricochet.hardware.robots.watched import WatchedArm
from ricochet.models.arms import ur5
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace, clearance
from ricochet.tasks.console.progress import announce
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.recordings import positions
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball import capture
from ricochet.tasks.systems.bouncing_ball.settings import Real, Tosses
from ricochet.tasks.systems.bouncing_ball.tracking.laboratory import workspace as workspace_of

CARD = "sound_device"
"""Name of the sound card's rig; the lock of captures too."""
FEWEST_MICROPHONES = 3
KEPT_CLEAR = 0.03
"""Least distance of a microphone from all places that the paddle can take, m."""
RETURN = 2.0
"""Time of the way home before each toss, s."""


@dataclass(frozen=True)
class RealRig:
    """A rig that answered: its base, m, and where the paddle's centre was when it was asked, m."""

    host: str
    base: Point
    workspace: Workspace
    paddle: Point
    listener: Listener


def open_rig(settings: Settings, *, armed: bool) -> RealRig:
    """Check all that can be checked without motion; `BadInput` for what is not as it should be."""
    host, base = settings[Real].robot.strip(), positions.position(settings[Real].base, "real.base")
    if not armed:
        raise BadInput("--rig real", "no --arm", "--arm too: this moves a real robot")
    if not host:
        raise BadInput("real.robot", "nothing", "the robot's address")
    rig = capture.stated_rig(CARD, settings[Capture])
    if len(rig.microphones) < FEWEST_MICROPHONES:
        found = f"{len(rig.microphones)} places"
        raise BadInput("capture.microphones", found, f"{FEWEST_MICROPHONES} or more")
    workspace = workspace_of(settings[Tosses])
    _refuse_struck(rig, workspace)
    listener = SoundStream(rig, device=settings[Capture].device or None)
    robot = WatchedArm(ur_driver.driver(host, workspace, base=base, armed=False), workspace)
    try:
        paddle = robot.state().paddle
    finally:
        robot.close()
    if next(listener.buffers(), None) is None:
        raise BadInput("microphones", listener.fault or "no sound", "a stream")
    return RealRig(host, base, workspace, paddle, listener)


@contextmanager
def held(rig: RealRig) -> Iterator[WatchedArm]:
    """Take robot and sound card, and yield the arm at rest; stop and release it in any case.

    The operator must have confirmed that it may move. `BadInput` if the robot is no longer as
    it was when it was checked, `BusyError` if another process uses the robot or the card.
    """
    with ExitStack() as stack:
        robot, _ = (
            stack.enter_context(locks.hold(locks.RigLock(name)))
            for name in (f"robot-{rig.host}", CARD)
        )
        driver = ur_driver.driver(rig.host, rig.workspace, base=rig.base, armed=True)
        arm = WatchedArm(driver, rig.workspace, lock=robot)
        stack.callback(_let_go, arm)
        yield arm


def _let_go(arm: WatchedArm) -> None:
    """Close an arm, and say what went wrong with it only then."""
    before = arm.fault
    arm.close()
    if arm.fault is not None and arm.fault != before:
        announce(str(arm.fault))


def lines(rig: RealRig, *, ball: str, tosses: int, repeats: int) -> tuple[str, ...]:
    """Say what will move, where, how fast and how often."""
    (left, right), (low, high) = rig.workspace.y, rig.workspace.z
    home = (rig.workspace.x, *rig.workspace.home)
    return (
        f"A REAL ROBOT WILL MOVE BY ITSELF: the UR5 at {rig.host}, base at {_metres(rig.base)}.",
        f"Where: the paddle's centre in the plane x = {rig.workspace.x:.2f} m, y {left:.2f} to "
        f"{right:.2f} m, z {low:.2f} to {high:.2f} m; elbow and forearm swing behind it.",
        f"Now: the paddle's centre is at {_metres(rig.paddle)} in the table's frame. "
        "Check that with a ruler: if it is wrong, so is real.base.",
        f"How fast: joints at up to {ur5.JOINT_SPEED:.2f} rad/s, the paddle at up to "
        f"{fastest(rig.workspace):.1f} m/s, after a bounce without warning; "
        f"home to {_metres(home)} in {RETURN:.0f} s before each toss.",
        f"How often: {tosses} tosses of the {ball} ball, each repeated up to {repeats} times if "
        "spoilt; it moves only after you press Enter for a toss.",
        "This is no safety system: stand back and keep the emergency stop at hand.",
    )


def fastest(workspace: Workspace) -> float:
    """Return the greatest speed that joint limits allow the upright paddle in a workspace, m/s."""
    y, z = np.meshgrid(np.linspace(*workspace.y, 15), np.linspace(*workspace.z, 11))
    places = np.stack((np.full(y.size, workspace.x), y.ravel(), z.ravel()), -1)
    angles = np.linspace(0.0, math.pi, 13)[:, None]
    ways, each = np.stack((np.cos(angles), np.sin(angles)), -1), (len(angles), len(places))
    joints = np.broadcast_to(ur5.inverse(places), (*each, 6))
    rates = ur5.joint_speeds(joints, np.broadcast_to(ways, (*each, 2)))
    return float(ur5.JOINT_SPEED / np.abs(rates).max(-1).min())


def _refuse_struck(rig: Rig, workspace: Workspace) -> None:
    """Refuse a microphone that the paddle would strike."""
    for number, microphone in enumerate(rig.microphones):
        if clearance(workspace, microphone.position) < KEPT_CLEAR:
            where = f"capture.microphones, entry {number}"
            expected = f"a place {KEPT_CLEAR} m or more away from the paddle's sweep"
            raise BadInput(where, _metres(microphone.position), expected)


def _metres(point: Point) -> str:
    return "(" + ", ".join(f"{round(x, 3) + 0.0:.3f}" for x in point) + ") m"
