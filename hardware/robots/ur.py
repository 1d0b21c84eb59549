"""A real UR5 with a paddle, through ur_rtde (SDU Robotics): `servoJ` every period, the rest checks.

Not safety-rated: the robot's own safety settings and an operator with the emergency stop are.
Nothing moves unless the driver was made with `arm=True`, which the operator must have confirmed.
Before a motion the controller is asked whether the pose is within its safety limits, and joint and
workspace limits reject. In every period of a motion: a robot that is stopped, gone, or does not
follow stops the motion, and so does anything that ur_rtde raises; the first such fault is what
every later call answers.

Joint i follows while it lies between the least and the largest angle that it was sent during the
last `LAG` seconds, widened by `ur_checks.BOUND`: `servoJ` trails by its look-ahead, by design.

The controller's watchdog is kicked once a period: when this process hangs or dies, the controller
ends the motion by itself. Calls go out from one thread: ur_rtde is not thread safe. The axes of the
robot's base must be parallel to the table's; `base` says where it stands. Time is ur_rtde's own: a
period that came late is made up for, one that came later than `LATEST` periods only as far.
What is known of ur_rtde is its documentation and its 1.6.5 binding; no robot has run this driver.
"""

import contextlib
import math
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.spatial.transform import Rotation

from ricochet.hardware.robots import ur_checks
from ricochet.hardware.robots.paddle_arm import (
    ArmState,
    Joints,
    Point,
    Refusal,
    refuse_target,
)
from ricochet.models.arms import ur5
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.tracking import paddle_motion
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace

FREQUENCY = 125.0  # Hz, of RTDE on the CB3 series
WATCHDOG = 10.0  # Hz, at least; the controller stops without
LOOK_AHEAD = 0.05  # s, of servoJ; it takes 0.03 to 0.2
GAIN = 500.0  # of servoJ; it takes 100 to 2000
DECELERATION = 5.0  # m/s^2, of the tool, when stopped
LAG = 0.2  # s, for which `servoJ` may trail
START = 0.01  # rad, off upright when a motion starts from rest
STILL = 0.08  # s, for which joints that are sent elsewhere may be reported unchanged
LATEST = 3.0  # periods by which a plan may go on in one

Factory = Callable[..., Any]


class UniversalRobot:
    """One UR5 at an address."""

    exclusive = True

    def __init__(
        self,
        host: str,
        workspace: Workspace | None = None,
        *,
        arm: bool = False,
        base: Point = ur5.BASE,
        frequency: float = FREQUENCY,
        control: Factory | None = None,
        receive: Factory | None = None,
    ) -> None:
        """Connect; with `arm`, take control.

        Args:
            host: Address of the controller.
            workspace: Where targets may lie; the standard one when absent.
            arm: Whether it may move; the operator must have confirmed it.
            base: Where the robot's base stands, m.
            frequency: Periods a second, Hz.
            control: Makes a RTDEControlInterface; ur_rtde's when absent.
            receive: Makes a RTDEReceiveInterface; ur_rtde's when absent.

        Raises:
            BadInput: ur_rtde is missing, the robot cannot be reached, cannot move, or does not
                hold the paddle upright in the workspace.
        """
        self.workspace = Workspace() if workspace is None else workspace
        self._period = 1.0 / frequency
        self._where = f"robot {host}"
        self._shift = np.subtract(base, ur5.BASE)
        self._raise(ur_checks.out_of_reach(base, self.workspace))
        self._receive = self._connect(receive or _late("rtde_receive"), host, frequency)
        self._control: Any = None
        self._fault: Refusal | None = None
        self._time = self._energy = 0.0
        self._raise(ur_checks.unable(self._receive) or self._misplaced())
        self._begun: timedelta | None = None  # of the last period
        self._plan = self._staying()
        self._sent: deque[ndarray] = deque(maxlen=max(round(LAG * frequency), 1))
        self._seen: deque[Joints] = deque(maxlen=max(round(STILL * frequency), 2))
        self._resting, self._rest, self._unasked = True, ur_checks.RestWatch(), False
        if arm:
            self._control = self._connect(control or _late("rtde_control"), host, frequency)
            self._control.setTcp([0.0, 0.0, ur5.MOUNT, 0.0, 0.0, 0.0])
            self._control.setWatchdog(WATCHDOG)

    def state(self) -> ArmState:
        """Return what the robot reports, its paddle by this model's kinematics."""
        joints = np.array(self._receive.getActualQ())
        speeds = np.array(self._receive.getActualQd())
        place, rates = ur5.paddle(joints)
        return ArmState(
            self._time,
            tuple(joints.tolist()),
            tuple(speeds.tolist()),
            tuple((place + self._shift).tolist()),
            tuple((rates @ speeds).tolist()),
            self._energy,
            float(self._receive.getTimestamp()),
        )

    def move(self, point: Point, duration: float) -> Refusal | None:
        """Turn to a new target; see `paddle_arm.Arm`."""
        return self._guarded(lambda: self._turn(point, duration))

    def advance(self, seconds: float) -> Refusal | None:
        """Steer and watch the robot for so long; see `paddle_arm.Arm`."""
        refusal = self._fault or self._unarmed()
        for _ in range(round(seconds / self._period)):
            if refusal is not None:
                break
            refusal = self._guarded(self._one_period)
        return refusal

    def stop(self) -> None:
        """Brake now and stay; the next motion starts where the robot then is.

        Raises:
            RuntimeError: The controller refuses or does not answer, or the robot moves though it
                was stopped.
        """
        if not self._resting:
            with contextlib.suppress(Exception):  # a robot that reports nothing is stopped too
                state = self.state()
                self._rest.begin(state.joints, state.joint_speeds, time=self._time)
        self._resting = True
        if self._control is not None and not self._control.servoStop(DECELERATION):
            raise RuntimeError("servoStop is refused by the controller")
        if self._unasked:
            raise RuntimeError("the robot moves though it was stopped")

    def close(self) -> None:
        """Stop, end the controller's script and disconnect, each in any case; callable twice."""
        ends = [self._receive.disconnect]
        if self._control is not None:
            ends = [self.stop, self._control.stopScript, self._control.disconnect, *ends]
        for end in ends:
            with contextlib.suppress(Exception):
                end()
        self._control = None

    def _turn(self, point: Point, duration: float) -> Refusal | None:
        """Plan towards a target that passes all checks."""
        refusal = self._fault or refuse_target(point, duration, self.workspace)
        refusal = (
            refusal or self._unarmed() or ur_checks.unable(self._receive) or self._unsafe(point)
        )
        if refusal is None and self._resting:
            refusal = self._misplaced()
        if refusal is None:
            if self._resting:
                self._start_from_rest()
            _, y, z = self._modelled(point).tolist()
            self._plan = paddle_motion.replan(self._plan, (y, z), now=self._time, duration=duration)
        return refusal

    def _one_period(self) -> Refusal | None:
        """Send one target, kick the watchdog, look at the robot."""
        begun = self._control.initPeriod()
        elapsed = self._elapsed(begun)
        self._time += elapsed
        fault = ur_checks.unable(self._receive)
        if fault is None and self._resting:
            fault = self._rest.check(self.state().joints, time=self._time)
            self._unasked = fault is not None
        elif fault is None:
            fault = self._send(elapsed) or self._follow(elapsed)
        if fault is None and not self._control.kickWatchdog():
            fault = Refusal("watchdog", "not kicked", "kicked once a period")
        self._control.waitPeriod(begun)
        return self._fail(fault)

    def _elapsed(self, begun: timedelta) -> float:
        """Return by how much a plan goes on in the period that begins, s."""
        before, self._begun = self._begun, begun
        late = 0.0 if before is None else (begun - before).total_seconds()
        return min(max(late, self._period), LATEST * self._period)

    def _send(self, elapsed: float) -> Refusal | None:
        """Send where the joints should be now."""
        joints, speeds = paddle_motion.joint_reference(self._plan, np.array(self._time))
        fault = ur_checks.beyond_limits(joints, speeds, last=self._sent[-1], elapsed=elapsed)
        if fault is not None:
            return fault
        self._sent.append(joints)
        target = [float(angle) for angle in joints]
        if not self._control.servoJ(target, 0.0, 0.0, self._period, LOOK_AHEAD, GAIN):
            return Refusal("servoJ", "refused by the controller", "accepted")
        return None

    def _follow(self, elapsed: float) -> Refusal | None:
        """Tell whether the robot follows, and count its energy."""
        state = self.state()
        self._energy += 0.5 * elapsed * sum(v * v for v in state.paddle_velocity)
        self._seen.append(state.joints)
        frozen = None
        if len(self._seen) == self._seen.maxlen:
            frozen = ur_checks.frozen(self._seen, tuple(self._sent)[-len(self._seen) :])
        return frozen or ur_checks.astray(state.joints, self._sent, time=self._time)

    def _start_from_rest(self) -> None:
        """Let the plan begin where the robot is."""
        self._plan = self._staying()
        self._sent.clear()
        self._seen.clear()
        self._sent.append(np.array(self.state().joints))
        self._resting = False

    def _staying(self) -> paddle_motion.Plan:
        """Return the plan that stays."""
        _, y, z = self._modelled(self.state().paddle).tolist()
        plane = float(self._modelled((self.workspace.x, 0.0, 0.0))[0])
        return paddle_motion.rest((y, z), plane=plane, now=self._time)

    def _modelled(self, point: Point) -> Float[ndarray, "3"]:
        """Return a point as the arm's model has it, whose base never moves."""
        return np.subtract(point, self._shift)

    def _fail(self, fault: Refusal | None) -> Refusal | None:
        """Stop for good on a fault."""
        if fault is not None:
            self._fault = fault
            with contextlib.suppress(Exception):  # the fault itself is what is reported
                self.stop()
                self._fault = replace(fault, expected=f"{fault.expected}; the robot is stopped")
        return self._fault

    def _guarded(self, act: Callable[[], Refusal | None]) -> Refusal | None:
        """Do something with the robot; whatever is raised stops it for good."""
        try:
            return act()
        except Exception as error:
            found = " ".join(str(error).split()) or type(error).__name__
            return self._fail(Refusal("ur_rtde", found, "an answer"))

    def _unarmed(self) -> Refusal | None:
        if self._control is None:
            return Refusal("real motion", "not armed", "arm=True, after the operator confirmed it")
        return None

    def _misplaced(self) -> Refusal | None:
        """Tell whether the arm holds the paddle elsewhere than the plans assume."""
        state = self.state()
        place = (self.workspace.x, *state.paddle[1:])
        refusal = refuse_target(place, 1.0, self.workspace)
        upright = ur5.inverse(self._modelled(place))
        off = float(np.abs(upright - state.joints).max()) if refusal is None else math.nan
        if off <= START:
            return None
        found = f"paddle at {tuple(round(x, 3) for x in state.paddle)} m, joints {off:.3f} rad off"
        expected = f"upright in the workspace within {START} rad; bring it there by hand"
        return Refusal("start", found, expected)

    def _unsafe(self, point: Point) -> Refusal | None:
        """Ask the arm's model and then the controller whether the target is safe."""
        joints = ur5.inverse(self._modelled(point))
        if not (np.abs(joints) <= ur5.JOINT_RANGE).all():
            return Refusal("joints", str(joints.round(3).tolist()), "angles within +-2 pi rad")
        if not self._control.isPoseWithinSafetyLimits(_pose(joints)):
            return Refusal("target", f"{tuple(point)} m", "a pose within the robot's safety limits")
        return None

    def _raise(self, fault: Refusal | None) -> None:
        """Raise what is wrong before any motion."""
        if fault is not None:
            raise BadInput(f"{self._where}, {fault.what}", fault.found, fault.expected)

    def _connect(self, make: Factory, host: str, frequency: float) -> Any:
        """Make one interface; what ur_rtde raises when there is no robot is bad input."""
        try:
            return make(host, frequency)
        except (RuntimeError, OSError, ValueError) as error:
            expected = "a robot in remote control that answers RTDE"
            raise BadInput(self._where, str(error), expected) from error


def _pose(joints: Float[ndarray, "6"]) -> list[float]:
    """Return the paddle's pose in the robot's base: place, m, and rotation vector, rad."""
    pose = ur5.forward(joints)
    turn = Rotation.from_matrix(pose[:3, :3]).as_rotvec()
    return [*(pose[:3, 3] - ur5.BASE).tolist(), *turn.tolist()]


def _late(module: str) -> Factory:
    """Import one of ur_rtde's interfaces when it is needed."""
    try:
        if module == "rtde_control":
            from rtde_control import RTDEControlInterface as Interface
        else:
            from rtde_receive import RTDEReceiveInterface as Interface
    except ImportError as error:
        raise BadInput("ur_rtde", str(error), "the extra `robot` (make setup-robot)") from error
    return Interface
