"""The twin pendulum: it is let go somewhere, and a camera sees its angles, nothing else.

The equations are those of `models.systems.rigid_bodies.pendulum_steps`. Beside them joint i resists
by c_i rate / sqrt(rate^2 + s^2), dry friction that fades below a slow rate s, and at the start of
each window of frames states are displaced by draws of a normal law, the departures of a posterior.
The camera's errors are normal and independent in each frame.

A user of the twin gets angles to look at. What truly happened is for evaluation:
`truth_for_evaluation`.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.rigid_bodies import pendulum_steps
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies

SLOW = 0.05
"""Rate below which dry friction fades, rad/s."""
LOWEST, HIGHEST = 0.8, 2.4
"""Angles at which a pendulum is let go, either way, rad."""


@dataclass(frozen=True)
class Nature:
    """What a pendulum is like.

    Attributes:
        theta: In the order of `pendulum_limits.PARAMETERS`.
        dry: Dry friction of both joints, N m.
        departure: Deviations by which states are displaced, rad and rad/s.
        error: Deviations of angles in a frame, rad.
    """

    theta: Float[ndarray, " 11"]
    dry: Float[ndarray, " 2"]
    departure: Float[ndarray, " 4"]
    error: Float[ndarray, " 2"]


@dataclass(frozen=True)
class Camera:
    """How it is seen.

    Attributes:
        rate: Frames a second.
        window: Frames between two displacements.
        substeps: Of the motion, a frame.
    """

    rate: float
    window: int
    substeps: int


class SwungPendulum:
    """A double pendulum of hidden nature before a camera."""

    def __init__(self, nature: Nature, camera: Camera, *, draw: np.random.Generator) -> None:
        """Hang it up; `draw` is the source of all randomness."""
        self.camera = camera
        self._nature = nature
        self._draw = draw
        self._truths: list[Float[ndarray, "frame 4"]] = []

    def swing(self, seconds: float) -> Float[ndarray, "frame 2"]:
        """Let it go at rest and return the angles seen, the first at once, rad.

        They are of link 1 from straight down and of link 2 from link 1, unwrapped.
        """
        of_start, of_motion, of_sight = self._draw.spawn(3)
        sides = of_start.choice((-1.0, 1.0), 2)
        start = np.concatenate((sides * of_start.uniform(LOWEST, HIGHEST, 2), np.zeros(2)))
        states = self._moved(start, round(seconds * self.camera.rate), of_motion)
        self._truths.append(states)
        return states[:, :2] + self._nature.error * of_sight.normal(size=(len(states), 2))

    def truth_for_evaluation(self, number: int = -1) -> Float[ndarray, "frame 4"]:
        """Return the states of a swing, the last by default; no controller may ask."""
        return self._truths[number]

    def _moved(
        self, start: Float[ndarray, " 4"], frames: int, draw: np.random.Generator
    ) -> Float[ndarray, "frame 4"]:
        """Return states from the start on."""
        bodies, camera = Bodies.of(self._nature.theta[None]), self.camera
        found = np.empty((frames + 1, 4))
        found[0] = start
        for frame in range(frames):
            begun = found[frame]
            if frame and frame % camera.window == 0:
                begun = begun + self._nature.departure * draw.normal(size=4)
            found[frame + 1] = pendulum_steps.roll_out(
                self._resisted(bodies, begun),
                begun[None],
                steps=1,
                duration=1.0 / camera.rate,
                substeps=camera.substeps,
            )[0, 0]
        return found

    def _resisted(self, bodies: Bodies, state: Float[ndarray, " 4"]) -> Bodies:
        """Return bodies whose friction is the dry one too, at the rates of a state."""
        d1, d2 = self._nature.dry / np.hypot(state[2:], SLOW)
        return replace(bodies, d1=bodies.d1 + d1, d2=bodies.d2 + d2)
