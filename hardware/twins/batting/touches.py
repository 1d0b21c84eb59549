"""An object on the board, played under a path of the bat: each time it touches, from MuJoCo.

A step of MuJoCo finds contacts at its start, so that the velocities there are still those before
the first of them, and those at the start of the first step without are the ones after. The bat's
angle is set at every step and its rate is the joint's: between two knots it turns evenly, and where
it is touched its surface moves as the path says.

Where an object can reach nothing until the next knot (`motion.far_from_all`) contacts are not
looked for; nothing else distinguishes flight from touch.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.batting import board
from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.motion import far_from_all, fly
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import Table
from ricochet.models.systems.batting.world import QUIET, World

LEAPS = (0.05, 0.005)
"""Flights in which contacts are not looked for, s."""
_OBJECT, _BAT = slice(0, board.BAT), board.BAT
_UNSEEN = board.SINGLE | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)


@dataclass(frozen=True)
class Step:
    """A contact in one step of the simulation.

    Attributes:
        surface: Its number.
        time: In seconds.
        push: Normal force, N.
        contact: From the centre of mass, m.
        normal: Towards the object.
        velocity: Of the surface there, m/s.
    """

    surface: int
    time: float
    push: float
    contact: Float[ndarray, " 2"]
    normal: Float[ndarray, " 2"]
    velocity: Float[ndarray, " 2"]


@dataclass(frozen=True)
class Instant:
    """A time, the velocity of the centre of mass and spin, and the rate of the bat."""

    time: float
    velocity: Float[ndarray, " 3"]
    rate: float


@dataclass(frozen=True)
class Touch:
    """From the first step with a contact to the first without.

    Attributes:
        before, after: At the start of these two steps.
        steps: Contacts in between.
    """

    before: Instant
    after: Instant
    steps: tuple[Step, ...]


class Play:
    """An object on the board, from a start on, under a path of the bat.

    Attributes:
        path: Of the bat, in the time of the simulation.
        touches: All that have ended.
        closest: Least squared distance of the centre of mass from the goal, m^2; who reads it may
            set it to infinity.
    """

    def __init__(
        self, model: mujoco.MjModel, kind: int, start: Float[ndarray, " 6"], path: BatPath
    ) -> None:
        """Put it there.

        Args:
            model: `board.scene` of the kind.
            kind: Which shape.
            start: x, y, angle, and their rates.
            path: Of the bat.
        """
        self.model, self.path, self._kind = model, path, kind
        self.data = mujoco.MjData(model)
        self.data.qpos[_OBJECT], self.data.qvel[_OBJECT] = start[:3], start[3:]
        self.touches: list[Touch] = []
        self.closest = np.inf
        self._before: Instant | None = None
        self._steps: list[Step] = []
        table = Table(gravity=-float(model.opt.gravity[1]))
        self._world = World(seven_shapes(), table, Law(), QUIET)
        self._object = model.geom("object").id
        self._surfaces = {model.geom(name).id: i for i, name in enumerate(board.SURFACES)}

    @property
    def state(self) -> Float[ndarray, " 6"]:
        """x, y, angle, and their rates."""
        return np.concatenate((self.data.qpos[_OBJECT], self.data.qvel[_OBJECT]))

    def run(self, seconds: float) -> list[Touch]:
        """Go on for a time; return all touches that have ended."""
        step, data = float(self.model.opt.timestep), self.data
        end = data.time + seconds
        while data.time < end - 0.5 * step:
            now = float(data.time)
            angle, rate = bat.angle_and_rate(self.path, now)
            data.qpos[_BAT], data.qvel[_BAT] = angle, rate
            left = min(bat.time_to_knot(self.path, now), end - now)
            if (leap := self._leap((angle, rate), left)) > step:
                self._fly(int(leap / step + 1e-3))
            else:
                self._look(Instant(now, data.qvel[_OBJECT].copy(), rate))
        return self.touches

    def _leap(self, turn: tuple[float, float], left: float) -> float:
        """Return for how long nothing can be touched, 0 where it may be; at most a time."""
        if self._steps:
            return 0.0
        for leap in LEAPS:
            flight = min(leap, left)
            if far_from_all(self.state, self._kind, turn, flight, self._world):
                return flight
        return 0.0

    def _fly(self, steps: int) -> None:
        flags = self.model.opt.disableflags
        self._approach(steps)
        self.model.opt.disableflags = _UNSEEN
        mujoco.mj_step(self.model, self.data, steps)
        self.model.opt.disableflags = flags

    def _look(self, now: Instant) -> None:
        """Make a step, and keep its contacts."""
        place = self.data.qpos[:2].copy()
        self._approach(1)
        mujoco.mj_step(self.model, self.data)
        if self.data.ncon:
            self._before = self._before or now
            self._steps += [self._contact(i, place, now) for i in range(self.data.ncon)]
        elif self._before is not None:
            self.touches.append(Touch(self._before, now, tuple(self._steps)))
            self._before, self._steps = None, []

    def _approach(self, steps: int) -> None:
        """Take note of how near the goal coming steps get, as if nothing were touched in them."""
        time = steps * float(self.model.opt.timestep)
        self.closest = min(self.closest, fly(self.state, time, self._world.table))

    def _contact(self, number: int, place: Float[ndarray, " 2"], now: Instant) -> Step:
        """Return a contact of the step that was made.

        Args:
            place: Of the centre of mass when it was found.
        """
        found, force = self.data.contact[number], np.zeros(6)
        mujoco.mj_contactForce(self.model, self.data, number, force)
        first, second = found.geom
        normal = found.frame[:2] if second == self._object else -found.frame[:2]
        surface = self._surfaces[int(first if second == self._object else second)]
        x, y = found.pos[:2]
        turning = now.rate if surface == board.SURFACES.index("bat") else 0.0
        return Step(
            surface,
            now.time,
            float(force[0]),
            np.array((x, y)) - place,
            normal.copy(),
            turning * np.array((-y, x)),
        )
