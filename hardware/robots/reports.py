"""What an arm reports of itself, watched: it must be finite, possible, fresh and consistent.

    finite, possible    |q| <= 2 pi, |dq/dt| <= twice the joints' limit
    fresh               the robot's own time stamp changes within STILL
    consistent          | q(t) - q(t - w) - integral of dq/dt | <= BOUND over a window w of WINDOW

The first of them that fails is a fault. A speed that is wrong by v is found when v WINDOW exceeds
BOUND: 0.63 rad/s. `ur_checks` adds what needs the targets that were sent.
"""

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.robots.paddle_arm import ArmState, Refusal
from ricochet.models.arms import ur5

STILL = 0.08  # s, for which a time stamp may stand still: with a period, found within 100 ms
WINDOW = 0.08  # s, over which speeds are integrated
MOST = 200  # reports that are kept, however slowly the robot's own time goes on
BOUND = 0.05  # rad, between the integral of the speeds and the way that the joints went
FASTEST = 2.0 * ur5.JOINT_SPEED  # rad/s: no robot of this kind reports more
FARTHEST = 1.01 * ur5.JOINT_RANGE  # rad


@dataclass(frozen=True)
class _Report:
    time: float
    joints: Float[ndarray, "6"]
    speeds: Float[ndarray, "6"]


class ReportWatch:
    """The reports of one arm, each checked against those shortly before."""

    def __init__(self, still: float = STILL) -> None:
        """Begin without reports; a stamp may stand still for so long, s."""
        self._still = still
        self._stamp: float | None = None
        self._changed = -math.inf
        self._reports: deque[_Report] = deque(maxlen=MOST)

    def check(self, now: float, state: ArmState) -> Refusal | None:
        """Return what is wrong with a report.

        Args:
            now: When it was read, s of a monotonic clock.
        """
        return _impossible(state) or self._stale(now, state) or self._inconsistent(now, state)

    def _stale(self, now: float, state: ArmState) -> Refusal | None:
        """Tell whether the robot's time stands still, or went back and is not later than it was."""
        if state.stamp is None or self._stamp is None or state.stamp > self._stamp:
            self._stamp, self._changed = state.stamp, now
            return None
        age = now - self._changed
        if age <= self._still:
            return None
        found = f"the time stamp {state.stamp:.3f} s for {age:.3f} s"
        return Refusal("robot's reports", found, f"a new one within {self._still} s")

    def _inconsistent(self, now: float, state: ArmState) -> Refusal | None:
        """Tell whether the joints went another way than their speeds say."""
        time = now if state.stamp is None else state.stamp
        reports, speeds = self._reports, np.array(state.joint_speeds)
        if reports and time <= reports[-1].time:
            return None
        reports.append(_Report(time, np.array(state.joints), speeds))
        while len(reports) > 2 and time - reports[1].time >= WINDOW:
            reports.popleft()
        times = [report.time for report in reports]
        way = np.trapezoid([report.speeds for report in reports], times, axis=0)
        off = float(np.abs(reports[-1].joints - reports[0].joints - way).max())
        if off <= BOUND:
            return None
        found = f"a joint {off:.3f} rad off what its speed says"
        return Refusal("robot's reports", found, f"at most {BOUND} rad in {WINDOW} s")


def _impossible(state: ArmState) -> Refusal | None:
    """Tell whether a report holds what no arm of this kind can be."""
    stamp = 0.0 if state.stamp is None else state.stamp
    rest = (*state.paddle, *state.paddle_velocity, state.energy, state.time, stamp)
    for what, numbers, most in (
        ("joints", state.joints, FARTHEST),
        ("joint speeds", state.joint_speeds, FASTEST),
        ("paddle, energy and time", rest, math.inf),
    ):
        good = [math.isfinite(number) and abs(number) <= most for number in numbers]
        if not all(good):
            worst = numbers[good.index(False)]
            bound = "finite numbers" if math.isinf(most) else f"numbers within +-{most:.2f}"
            return Refusal(f"reported {what}", f"{worst:g}", bound)
    return None
