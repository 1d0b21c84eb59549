"""What the agent knows of puck and mallet from an observation, and what it must not trust.

The filter learns where the puck is and how the airflow pushes it. Not trusted are places off the
table, a puck that was not seen for too long, and joints that are not numbers, too far off the last
command or faster than an arm can be. A puck that has passed a goal line is no mistake, wherever it
goes from there, but tells the filter nothing.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.fault_log import Complaints
from ricochet.models.systems.air_hockey.interface import JOINT_SPEEDS, JOINTS
from ricochet.models.systems.air_hockey.puck import piecewise_filter
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.table import Table

LAGGING = 0.15  # rad, by which observed joints may be off the last command
FASTEST = 2.0 * iiwa.SPEED_LIMIT
"""Observed joint speeds above which they are not believed, rad/s."""


class TableWatch:
    """What was observed so far in an episode.

    Attributes:
        puck: What is known of it; None before it was seen.
    """

    def __init__(
        self, modes: PuckModes, table: Table, *, noise: float, complaints: Complaints
    ) -> None:
        """Begin an episode.

        Args:
            modes: How the puck moves.
            table: The table.
            noise: Standard deviation of an observed place, m per axis.
            complaints: Where to say what is wrong.
        """
        self.puck: piecewise_filter.State | None = None
        self._unseen = 0  # periods before it was first seen
        self._scored = False  # in a goal, and not back on the table
        self._modes, self._table, self._noise = modes, table, noise
        self._base, self._complaints = np.array(table.robot_base[:2]), complaints

    def see(
        self,
        seen: Float[ndarray, " 23"],
        *,
        command: Float[ndarray, "2 7"],
        hanging: Float[ndarray, " 2"],
    ) -> bool:
        """Take in an observation; return whether a stroke can stand on what is known.

        Args:
            seen: The observation.
            command: The last, which the joints should have followed.
            hanging: By how much the mallet is off the rod's tip, m.
        """
        mallet, velocity = self._mallet(seen[JOINTS], seen[JOINT_SPEEDS], command, hanging)
        place, table = seen[:2] + self._base, self._table
        scored, inside = _in_goal(place, table), _on_table(place, table)
        self._scored = scored or (self._scored and not inside)
        away = np.isfinite(place).all() and not (inside or scored)
        if away and not self._scored:
            where = f"({place[0]:.2f}, {place[1]:.2f})"
            self._complaints.say("puck", f"at {where} m, expected on the table")
        if not inside:
            place = np.full(2, np.nan)
        self._follow(place, mallet, velocity)
        self._unseen += self.puck is None
        lost = self._unseen >= piecewise_filter.PATIENCE if self.puck is None else self.puck.lost
        if lost and not self._scored:
            self._complaints.say("puck", f"not seen for {piecewise_filter.PATIENCE} periods")
        elif inside:
            self._complaints.settle("puck")
        return mallet is not None and not away and not lost

    def _follow(
        self,
        place: Float[ndarray, " 2"],
        mallet: Float[ndarray, " 2"] | None,
        velocity: Float[ndarray, " 2"] | None,
    ) -> None:
        """Let the filter follow the puck to where it was seen, if it was."""
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
        hanging: Float[ndarray, " 2"],
    ) -> tuple[Float[ndarray, " 2"], Float[ndarray, " 2"]] | tuple[None, None]:
        """Return where the mallet is and its velocity; None where the joints are not to be had."""
        lag, most = np.abs(joints - command[0]).max(), int((np.abs(speeds) / FASTEST).argmax())
        if not (np.isfinite(joints).all() and np.isfinite(speeds).all()):
            self._complaints.say("joints", "found NaN, expected finite numbers")
        elif lag > LAGGING:
            off = f"{lag:.2f} rad off the last command, expected {LAGGING}"
            self._complaints.say("joints", off)
        elif abs(speeds[most]) > FASTEST[most]:
            found = f"{abs(speeds[most]):.3g} rad/s"
            self._complaints.say("joints", f"{found}, expected at most {FASTEST[most]:.3g}")
        else:
            if lag < 0.5 * LAGGING:
                self._complaints.settle("joints")
            pose = iiwa.pose(joints)
            return pose.tip[:2] + self._base + hanging, (pose.jacobian @ speeds)[:2]
        return None, None


def _on_table(place: Float[ndarray, " 2"], table: Table) -> bool:
    """Whether a puck is on the table."""
    return bool(abs(place[0]) <= table.half_length and abs(place[1]) <= table.half_width)


def _in_goal(place: Float[ndarray, " 2"], table: Table) -> bool:
    """Whether a puck has just passed a goal line."""
    deep = abs(place[0]) - table.half_length
    return bool(0.0 < deep < 0.2 and abs(place[1]) < table.goal_half_width)
