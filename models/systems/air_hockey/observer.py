"""The state of puck and mallets estimated from observations, and which observations are faults.

A filter estimates where the puck is and how the airflow pushes it. Faults are places off the table,
a puck that was not seen for too long, and joints that are not numbers, too far off the last command
or faster than an arm can be. A puck that has passed a goal line is no fault, wherever it goes from
there, but the filter learns nothing from it.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.fault_log import FaultLog
from ricochet.models.systems.air_hockey.interface import JOINT_SPEEDS, JOINTS, OPPONENT
from ricochet.models.systems.air_hockey.opponent.tracker import OpponentTracker
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.piecewise_filter import LOST_AFTER
from ricochet.models.systems.air_hockey.table import Table

LAGGING = 0.15  # rad, by which observed joints may be off the last command
FASTEST = 2.0 * iiwa.SPEED_LIMIT
"""Observed joint speeds above this are faults, rad/s."""


class TableObserver:
    """What was observed so far in an episode; no puck before it was seen."""

    def __init__(self, modes: PuckModes, table: Table, *, noise: float, faults: FaultLog) -> None:
        """Begin an episode; places are observed with noise, m per axis."""
        self.puck: piecewise_filter.State | None = None
        self.opponent = OpponentTracker(table)
        self._unseen = 0  # periods before it was first seen
        self._scored = False  # in a goal, and not back on the table
        self._modes, self._table, self._noise = modes, table, noise
        self._base, self._faults = np.array(table.robot_base[:2]), faults

    def update(
        self,
        observation: Float[ndarray, " 23"],
        *,
        command: Float[ndarray, "2 7"],
        offset: Float[ndarray, " 2"],
    ) -> bool:
        """Take in an observation and the last command; return whether it suffices for a stroke."""
        mallet, velocity = self._mallet(
            observation[JOINTS], observation[JOINT_SPEEDS], command, offset
        )
        self._watch_opponent(observation[OPPONENT] + self._base)
        place = observation[:2] + self._base
        scored, inside = _in_goal(place, self._table), self._table.contains(place)
        self._scored = scored or (self._scored and not inside)
        away = bool(np.isfinite(place).all()) and not (inside or scored)
        self._follow(place if inside else np.full(2, np.nan), mallet, velocity)
        lost = self._lost()
        self._report(place, away=away, lost=lost, inside=inside)
        return mallet is not None and not away and not lost

    def _watch_opponent(self, place: Float[ndarray, " 2"]) -> None:
        """Follow the opponent, and report one that vanished or jumped."""
        self.opponent.update(place)
        if self.opponent.fault:
            self._faults.report("opponent", self.opponent.fault)
        else:
            self._faults.clear("opponent")

    def _lost(self) -> bool:
        """Count periods in which the puck was never seen; return whether it is lost."""
        self._unseen += self.puck is None
        return self._unseen >= LOST_AFTER if self.puck is None else self.puck.lost

    def _report(self, place: Float[ndarray, " 2"], *, away: bool, lost: bool, inside: bool) -> None:
        """Report or clear the puck's faults; one that scored has none."""
        if away and not self._scored:
            where = f"({place[0]:.2f}, {place[1]:.2f})"
            self._faults.report("puck", f"at {where} m, expected on the table")
        if lost and not self._scored:
            self._faults.report("puck", f"not seen for {LOST_AFTER} periods")
        elif inside:
            self._faults.clear("puck")

    def _follow(
        self,
        place: Float[ndarray, " 2"],
        mallet: Float[ndarray, " 2"] | None,
        velocity: Float[ndarray, " 2"] | None,
    ) -> None:
        """Update the filter, or start it where the puck is first seen."""
        if self.puck is not None:
            self.puck = piecewise_filter.update(
                self.puck, place, mallet=mallet, mallet_velocity=velocity
            )
        elif np.isfinite(place).all():
            self.puck = piecewise_filter.init(
                self._modes, self._table, position=place, noise=self._noise
            )

    def _mallet(
        self,
        joints: Float[ndarray, " 7"],
        speeds: Float[ndarray, " 7"],
        command: Float[ndarray, "2 7"],
        offset: Float[ndarray, " 2"],
    ) -> tuple[Float[ndarray, " 2"], Float[ndarray, " 2"]] | tuple[None, None]:
        """Return the mallet's place and velocity; None where the observed joints are a fault."""
        lag, most = np.abs(joints - command[0]).max(), int((np.abs(speeds) / FASTEST).argmax())
        if not (np.isfinite(joints).all() and np.isfinite(speeds).all()):
            self._faults.report("joints", "found NaN, expected finite numbers")
        elif lag > LAGGING:
            off = f"{lag:.2f} rad off the last command, expected {LAGGING}"
            self._faults.report("joints", off)
        elif abs(speeds[most]) > FASTEST[most]:
            found = f"{abs(speeds[most]):.3g} rad/s"
            self._faults.report("joints", f"{found}, expected at most {FASTEST[most]:.3g}")
        else:
            if lag < 0.5 * LAGGING:
                self._faults.clear("joints")
            pose = iiwa.pose(joints)
            return pose.tip[:2] + self._base + offset, (pose.jacobian @ speeds)[:2]
        return None, None


def _in_goal(place: Float[ndarray, " 2"], table: Table) -> bool:
    """Return whether a puck has just passed a goal line."""
    deep = abs(place[0]) - table.half_length
    return bool(0.0 < deep < 0.2 and abs(place[1]) < table.goal_half_width)
