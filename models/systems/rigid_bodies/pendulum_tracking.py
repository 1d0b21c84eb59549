"""Where a pendulum is and how fast it moves, from frames of its film, in numpy alone.

There is a belief a draw of the posterior. For its parameters, and its deviations of observations
and of departures from the equations, an extended Kalman filter goes from window to window: the
start of a window has a normal law, one Newton's step corrects it by all frames of the window, the
law of its end follows by the derivatives of the motion, and the next window starts from there,
departures added. That law is the one that `shooting_density` gives to the starts.

Angles of the frames make states by polynomials through eleven frames (`marked_motion`); those that
would need frames to come are left out, so that the last state is five frames old. A draw of which
no pendulum moves so has a belief that is no number.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.systems.rigid_bodies import pendulum_steps
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies

WINDOW, ORDER = 11, 4
"""Of the polynomials; those of `marked_motion`."""
LATE = WINDOW // 2
"""Frames after a state that it needs."""
_NUDGE = 1e-6
_STATES = 4


@dataclass(frozen=True)
class Draws:
    """Draws of a posterior.

    Attributes:
        theta: Parameters, in the order of `pendulum_limits.PARAMETERS`.
        observation: Deviations of states as they are observed, rad and rad/s.
        departure: Those by which states depart from the equations at each window's start.
        rate: Frames a second.
        window: Frames of a window.
        substeps: Of the simulation, a frame.
    """

    theta: Float[ndarray, "draw 11"]
    observation: Float[ndarray, "draw 4"]
    departure: Float[ndarray, "draw 4"]
    rate: float
    window: int
    substeps: int

    def __getitem__(self, places: slice | Int[ndarray, " some"]) -> "Draws":
        """Return some of them."""
        return replace(
            self,
            theta=self.theta[places],
            observation=self.observation[places],
            departure=self.departure[places],
        )

    def moved(
        self, bodies: Bodies, starts: Float[ndarray, "pendulum 4"], steps: int
    ) -> Float[ndarray, "{steps} pendulum 4"]:
        """Return where pendulums are after each frame."""
        return pendulum_steps.roll_out(
            bodies, starts, steps=steps, duration=1.0 / self.rate, substeps=self.substeps
        )


@dataclass(frozen=True)
class Belief:
    """The law of a state, a normal one for each draw."""

    mean: Float[ndarray, "draw 4"]
    covariance: Float[ndarray, "draw 4 4"]

    def drawn(self, generator: np.random.Generator) -> Float[ndarray, "draw 4"]:
        """Return a draw of each, which is no number where the law is none."""
        factor = _each(np.linalg.cholesky, self.covariance)
        white = generator.normal(size=self.mean.shape)
        return self.mean + np.einsum("nij,nj->ni", factor, white)


def states(angles: Float[ndarray, "frame 2"], rate: float) -> Float[ndarray, "inner 4"]:
    """Return angles and rates, rad and rad/s, of all frames but the first and the last five.

    >>> states(0.1 * np.arange(12.0)[:, None] * (1.0, -2.0), rate=400.0).round(6)
    array([[  0.5,  -1. ,  40. , -80. ],
           [  0.6,  -1.2,  40. , -80. ]])

    Source: Savitzky and Golay 1964.
    """
    powers = np.arange(-LATE, LATE + 1.0)[:, None] ** np.arange(ORDER + 1)
    value, slope = np.linalg.pinv(powers)[:2]
    near = np.lib.stride_tricks.sliding_window_view(angles, WINDOW, axis=0)
    return np.concatenate((near @ value, rate * (near @ slope)), 1)


def track(draws: Draws, seen: Float[ndarray, "frame 4"]) -> Belief:
    """Return the belief about the last of some frames' states; a first window may be shorter.

    Args:
        seen: States, the first one included, from which the first window starts.
    """
    bodies, count = Bodies.of(draws.theta), len(draws.theta)
    noise = draws.observation**2
    belief = Belief(np.tile(seen[0], (count, 1)), _diagonal(noise))
    steps = len(seen) - 1
    begins = range(-(-steps % draws.window), steps, draws.window)
    for begin in begins:
        part = seen[max(begin, 0) + 1 : begin + draws.window + 1]
        if begin > 0:
            wider = belief.covariance + _diagonal(draws.departure**2)
            belief = Belief(belief.mean, wider)
        belief = _corrected(draws, bodies, belief, part)
    return belief


def _corrected(
    draws: Draws, bodies: Bodies, start: Belief, seen: Float[ndarray, "frame 4"]
) -> Belief:
    """Return the belief at the end of a window, from that at its start and its frames."""
    states, slopes = _varied(draws, bodies, start.mean, len(seen))
    weight = 1.0 / draws.observation**2
    prior = _each(np.linalg.inv, start.covariance)
    weighted = slopes * weight[:, :, None]
    precision = prior + np.einsum("tnij,tnik->njk", weighted, slopes)
    pull = np.einsum("tnij,tni->nj", weighted, seen[:, None] - states)
    covariance = _each(np.linalg.inv, precision)
    step = np.einsum("nij,nj->ni", covariance, pull)
    last = slopes[-1]
    mean = states[-1] + np.einsum("nij,nj->ni", last, step)
    return Belief(mean, last @ covariance @ last.swapaxes(1, 2))


def _varied(
    draws: Draws, bodies: Bodies, starts: Float[ndarray, "draw 4"], steps: int
) -> tuple[Float[ndarray, "step draw 4"], Float[ndarray, "step draw 4 4"]]:
    """Return states after each step and their derivatives by the start, by differences."""
    nudges = np.concatenate((np.zeros((1, _STATES)), _NUDGE * np.eye(_STATES)))
    begun = (starts + nudges[:, None]).reshape(-1, _STATES)
    moved = draws.moved(bodies.repeated(len(nudges)), begun, steps)
    each = moved.reshape(steps, len(nudges), len(starts), _STATES)
    return each[:, 0], (each[:, 1:] - each[:, :1]).transpose(0, 2, 3, 1) / _NUDGE


def _each(
    found: Callable[[ndarray], ndarray], matrices: Float[ndarray, "draw 4 4"]
) -> Float[ndarray, "draw 4 4"]:
    """Return the inverses or factors of matrices, no numbers where one has none."""
    try:
        return found(matrices)
    except np.linalg.LinAlgError:  # raised for all where one alone is singular
        if len(matrices) == 1:
            return np.full_like(matrices, np.nan)
        return np.concatenate([_each(found, matrix[None]) for matrix in matrices])


def _diagonal(values: Float[ndarray, "draw 4"]) -> Float[ndarray, "draw 4 4"]:
    return values[:, :, None] * np.eye(_STATES)
