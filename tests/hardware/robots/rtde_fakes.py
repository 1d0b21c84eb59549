"""A UR controller as ur_rtde 1.6.5 shows it: the calls that the driver may make, and what they do.

Methods, argument names and which arguments have none are those of its Python binding; a call that
the real interfaces do not have raises AttributeError or TypeError here as there. Ranges that the
C++ library checks raise ValueError. Time passes in `waitPeriod` alone, which waits where `paced`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from ricochet.models.arms import ur5


@dataclass
class Controller:
    """The robot behind both interfaces; faults are set from outside."""

    joints: np.ndarray = field(default_factory=lambda: ur5.inverse(np.array((0.3, 0.0, 0.2))))
    lag: float = 0.05  # s, of a first-order joint
    stuck: bool = False
    drift: float = 0.0  # rad/s, by which the first joint moves whatever it is sent
    obeys: bool = True  # whether it takes a stop
    dither: float = 0.0  # rad, of what the encoders report
    frozen: bool = False  # whether the reports stand still, joints and time
    paced: bool = False
    connected: bool = True
    protective: bool = False
    emergency: bool = False
    mode: int = 7
    safety: int = 1
    unsafe: Callable[[list[float]], bool] = lambda pose: False
    raises: dict[str, Exception] = field(default_factory=dict)  # by the call's name
    time: float = 0.0
    speeds: np.ndarray = field(default_factory=lambda: np.zeros(6))
    target: np.ndarray | None = None
    watchdog: float = 0.0
    kicked: float = 0.0
    reported: dict[str, np.ndarray] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    sent: list[np.ndarray] = field(default_factory=list)
    poses: list[list[float]] = field(default_factory=list)

    def answer(self, call: str) -> None:
        """Raise what the call shall raise."""
        if call in self.raises:
            raise self.raises[call]

    @property
    def running(self) -> bool:
        """Whether the control script runs: the watchdog ends it."""
        late = self.watchdog > 0.0 and self.time - self.kicked > 1.0 / self.watchdog
        return self.connected and not late and not self.protective and not self.emergency

    def pass_time(self, seconds: float) -> None:
        """Move the joints towards their target."""
        self.time += seconds
        goal = self.joints if self.target is None or self.stuck or not self.running else self.target
        before = self.joints
        self.joints = before + (goal - before) * (1.0 - np.exp(-seconds / self.lag))
        self.joints = self.joints + self.drift * seconds * np.eye(6)[0]
        self.speeds = (self.joints - before) / seconds


class Control:
    """RTDEControlInterface."""

    def __init__(self, controller: Controller, hostname: str, frequency: float = -1.0) -> None:
        if not controller.connected:
            raise RuntimeError("Failed to connect to control socket")
        self._robot, self._period = controller, 1.0 / frequency

    def setTcp(self, arg0: list[float], /) -> bool:  # noqa: N802
        assert len(arg0) == 6
        self._robot.calls.append("setTcp")
        return True

    def setWatchdog(self, min_frequency: float = 10.0) -> bool:  # noqa: N802
        self._robot.watchdog, self._robot.kicked = min_frequency, self._robot.time
        return True

    def kickWatchdog(self) -> bool:  # noqa: N802
        self._robot.answer("kickWatchdog")
        self._robot.kicked = self._robot.time if self._robot.running else self._robot.kicked
        return self._robot.running

    def isPoseWithinSafetyLimits(self, arg0: list[float], /) -> bool:  # noqa: N802
        self._robot.answer("isPoseWithinSafetyLimits")
        self._robot.poses.append(arg0)
        return not self._robot.unsafe(arg0)

    def servoJ(  # noqa: N802
        self, q: list[float], speed: float, acceleration: float, time: float, ahead: float,
        gain: float, /,
    ) -> bool:  # fmt: skip
        self._robot.answer("servoJ")
        within = 0.03 <= ahead <= 0.2 and 100.0 <= gain <= 2000.0 and time > 0.0
        if not (within and len(q) == 6 and type(q) is list and np.isfinite(q).all()):
            raise ValueError("The value is not within [min;max]")
        self._robot.target = np.array(q)
        self._robot.sent.append(self._robot.target)
        return self._robot.running

    def servoStop(self, a: float = 10.0) -> bool:  # noqa: N802
        self._robot.answer("servoStop")
        self._robot.calls.append("servoStop")
        self._robot.target = None
        return self._robot.running and self._robot.obeys

    def stopScript(self) -> None:  # noqa: N802
        self._robot.calls.append("stopScript")

    def initPeriod(self) -> timedelta:  # noqa: N802
        self._robot.answer("initPeriod")
        return timedelta(seconds=self._robot.time)

    def waitPeriod(self, arg0: timedelta, /) -> None:  # noqa: N802
        self._robot.answer("waitPeriod")
        assert isinstance(arg0, timedelta)
        if self._robot.paced:
            time.sleep(self._period)
        self._robot.pass_time(self._period)

    def disconnect(self) -> None:
        self._robot.calls.append("disconnect")


class Receive:
    """RTDEReceiveInterface."""

    def __init__(self, controller: Controller, hostname: str, frequency: float = -1.0) -> None:
        if not controller.connected:
            raise RuntimeError("Failed to connect to receive socket")
        self._robot = controller

    def getActualQ(self) -> list[float]:  # noqa: N802
        self._robot.answer("getActualQ")
        shaken = self._robot.dither * np.sin(1e4 * self._robot.time)
        return self._kept("joints", self._robot.joints + shaken).tolist()

    def getActualQd(self) -> list[float]:  # noqa: N802
        return self._kept("speeds", self._robot.speeds).tolist()

    def getTimestamp(self) -> float:  # noqa: N802
        return float(self._kept("time", np.array(self._robot.time)))

    def _kept(self, what: str, now: np.ndarray) -> np.ndarray:
        """Return what is reported: what was last, where the reports stand still."""
        if not self._robot.frozen or what not in self._robot.reported:
            self._robot.reported[what] = now
        return self._robot.reported[what]

    def isConnected(self) -> bool:  # noqa: N802
        self._robot.answer("isConnected")
        return self._robot.connected

    def isProtectiveStopped(self) -> bool:  # noqa: N802
        return self._robot.protective

    def isEmergencyStopped(self) -> bool:  # noqa: N802
        return self._robot.emergency

    def getRobotMode(self) -> int:  # noqa: N802
        return self._robot.mode

    def getSafetyMode(self) -> int:  # noqa: N802
        return self._robot.safety

    def disconnect(self) -> None:
        self._robot.calls.append("receive disconnect")
