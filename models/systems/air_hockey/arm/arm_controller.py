"""Control of the arm: commands that follow from the last command, never from observed joints.

An arm that lags by a steady error would creep if its commands followed from where it is observed. A
plan goes on from the last plan; the command is that plan with the correction for a mass that the
motors' law does not know (`payload_estimator`), checked once more before it leaves
(`command_limits`). The mallet's offset from the rod's tip is followed along the plans
(`mallet_offset`). Joint angles are in rad, speeds in rad/s, times in s.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import (
    command_limits,
    mallet_offset,
    payload_estimator,
    sampling_mpc,
)
from ricochet.models.systems.air_hockey.arm.mallet_offset import MalletState
from ricochet.models.systems.air_hockey.arm.payload_estimator import Payload
from ricochet.models.systems.air_hockey.arm.plan import Plan
from ricochet.models.systems.air_hockey.arm.sampling_mpc import Memory
from ricochet.models.systems.air_hockey.arm.stroke_table import Contact
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.observer import FASTEST

_HOME = 1e-4  # rad and rad/s off it
_STILL = 0.02  # rad/s, up to which an observed arm is taken to be at rest


class ArmController:
    """The arm in an episode.

    Attributes:
        planned: Joint angles and speeds that are planned for now.
        offset_at_contact: Of the mallet from the tip at the planned contact, m.
    """

    def __init__(self, *, seed: int) -> None:
        """Begin an episode with the seed of the planner's samples."""
        self.home = splines.level(iiwa.HOME)
        self.planned: Float[ndarray, "2 7"] = np.stack((iiwa.HOME, np.zeros(7)))
        self.command, self.payload = self.planned, Payload()
        self.memory, self.offset_at_contact = Memory(), np.zeros(2)
        self._mallet, self._draw = mallet_offset.REST, np.random.default_rng(seed)

    def start(self, joints: Float[ndarray, " 7"], speeds: Float[ndarray, " 7"]) -> None:
        """Begin where the arm is first observed, and as it moves; at rest if no arm is as fast.

        Raises:
            ValueError: If they are not finite or the mallet is not on the table.
        """
        if not (np.isfinite(joints).all() and np.isfinite(speeds).all()):
            raise ValueError("observation: joints are not finite at the start")
        over = float(iiwa.tip(joints)[2]) - iiwa.TIP_HEIGHT
        if abs(over) > iiwa.TIP_TOLERANCE:
            raise ValueError(
                f"observation: mallet {over:+.3f} m off the table at the start, expected 0"
            )
        moves = np.abs(speeds).max() >= _STILL and (np.abs(speeds) <= FASTEST).all()
        bound = iiwa.USABLE * iiwa.SPEED_LIMIT
        speeds = np.clip(speeds, -bound, bound) if moves else np.zeros(7)
        home = np.abs(joints - iiwa.HOME).max() < 1e-3 and not speeds.any()
        self.planned = self.command = np.stack((iiwa.HOME if home else joints, speeds))

    def observe(self, joints: Float[ndarray, " 7"]) -> None:
        """Update the payload from the joints observed at the end of the last command, if finite."""
        self.payload = payload_estimator.learn(self.payload, joints - self.command[0])

    @property
    def offset(self) -> Float[ndarray, " 2"]:
        """Offset of the mallet from the tip now, m."""
        return self._mallet.offset

    @property
    def is_home(self) -> bool:
        """Whether the arm is planned to be at rest at home by now."""
        at_home = np.abs(self.planned[0] - self.home).max() < _HOME
        return bool(at_home and np.abs(self.planned[1]).max() < _HOME)

    def plan(self, target: Contact | Float[ndarray, " 7"], left: float = 0.0) -> Plan:
        """Plan on from the last plan, to a contact in the time `left` or to a rest."""
        self.memory, plan = sampling_mpc.plan(
            self.memory,
            joints=self.planned[0],
            joint_speeds=self.planned[1],
            target=target,
            time_left=left,
            draw=self._draw,
        )
        return plan

    def least_time(self, contact: Contact) -> float:
        """Return the shortest time in which a contact can be met; infinite if there is none."""
        joints, speeds = self.planned
        return sampling_mpc.least_time(joints, speeds, contact)

    def follow(self, plan: Plan) -> float:
        """Command the first period, or brake if that uses over 1 of the limits; return the use.

        Where a plan keeps to them, speeds give way that the correction for the payload asks for: a
        stroke that begins sharply leaves them little room.
        """
        before, payload, planned = self.command, self.payload, np.stack(plan.next)
        alone = command_limits.excess(self.planned, planned, period=PERIOD)
        self._command(planned)
        if alone <= 1.0:
            self.command = command_limits.eased(before, self.command, period=PERIOD)
        asked = command_limits.excess(before, self.command, period=PERIOD)
        if asked > 1.0:
            planned = self._braked(before, payload)
        self._go(planned, _offset_at_contact(self._mallet, plan))
        return asked

    def brake(self, before: Float[ndarray, "2 7"]) -> None:
        """Slow every joint down from a command, whatever was planned since."""
        self._go(self._braked(before, self.payload), np.zeros(2))

    def rest(self) -> None:
        """Stay where the arm is planned to be."""
        self._forget()
        self._mallet, self.offset_at_contact = mallet_offset.REST, np.zeros(2)
        self._command(self.planned)

    def _command(self, planned: Float[ndarray, "2 7"]) -> None:
        """Command what is planned, corrected for the payload."""
        self.payload = payload_estimator.follow(self.payload, *planned, period=PERIOD)
        self.command = planned + self.payload.correction

    def _braked(self, before: Float[ndarray, "2 7"], payload: Payload) -> Float[ndarray, "2 7"]:
        """Command to slow every joint down; return what is planned by that."""
        self._forget()
        self.command = command_limits.braked(before, period=PERIOD)
        self.payload = payload_estimator.follow(payload, *self.command, period=PERIOD)
        return self.command - self.payload.correction

    def _go(self, planned: Float[ndarray, "2 7"], offset: Float[ndarray, " 2"]) -> None:
        """Note where the arm will be, and the mallet then and at the contact."""
        self.offset_at_contact, self.planned = offset, planned
        self._mallet = mallet_offset.follow(self._mallet, planned[:1], planned[1:], period=PERIOD)

    def _forget(self) -> None:
        """Drop the plan: the next one begins anew."""
        self.memory = replace(self.memory, plan=None, rest=None)


def _offset_at_contact(mallet: MalletState, plan: Plan) -> Float[ndarray, " 2"]:
    """Predict the mallet's offset from the tip at the plan's contact, m."""
    if plan.contact is None or plan.time_left <= 0.0:
        return np.zeros(2)
    count = max(1, round(plan.time_left / PERIOD))
    period = plan.time_left / count
    times = plan.passed + period * np.arange(1, count + 1)
    joints, speeds = splines.at(plan.path, times)
    return mallet_offset.follow(mallet, joints, speeds, period=period).offset
