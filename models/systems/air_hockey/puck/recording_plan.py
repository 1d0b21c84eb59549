r"""What is to be played on a table so that its puck can be learnt from a recording.

Half of the episodes are strokes of the arm into a puck that was laid down
(`dataset.random_stroke`), half are pucks thrown by hand while the arm rests. Two of three of these
go anywhere, off the rims; the third flies at the resting mallet within `AIM` of its centre, for
strokes into pucks at rest say nothing of what a mallet leaves of a puck's own velocity:

    v+ = Theta_3 (v-, mallet),     stroke: v- = 0,     throw: mallet = 0.

After Sec. V-A1 of Jankowski, Maric et al., "Energy-based Contact Planning under Uncertainty for
Robot Air Hockey".
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.puck import dataset
from ricochet.models.systems.air_hockey.puck.dataset import Stroke
from ricochet.models.systems.air_hockey.table import Table

STROKE, THROW, THROW_AT_MALLET = "stroke", "throw", "throw at the mallet"
AIM = 0.04  # m, off the mallet's centre
LEAST_STEPS = round(2.0 * dataset.RUN / dataset.SLOW / PERIOD)
"""Periods within which the slowest stroke, at a constant acceleration, meets its puck."""
_FROM = ((-0.5, 0.3), (-0.4, 0.4))  # m, x and y of a throw at the mallet
_WAY = (0.35, 0.7)  # s, that it would take without drag
_FINE = 20  # instants of a period that are searched


@dataclass(frozen=True)
class Play:
    """One episode to be played.

    Attributes:
        kind: One of `STROKE`, `THROW` and `THROW_AT_MALLET`.
        puck: Place, m, and velocity, m/s; of a throw about where and how it is thrown.
        joints: The arm's posture at the start, rad.
        commands: Positions and speeds at the end of each period, rad and rad/s.
        contact: Of a stroke the place of the mallet's centre when it meets the puck, m, its
            velocity, m/s, and the time, s; NaN of a throw.
    """

    kind: str
    puck: Float[ndarray, " 4"]
    joints: Float[ndarray, " 7"]
    commands: Float[ndarray, "time 2 7"]
    contact: Float[ndarray, " 5"]


def plan(table: Table, *, episodes: int, steps: int, draw: np.random.Generator) -> tuple[Play, ...]:
    """Return episodes to be played, strokes and throws in turn, of so many periods each.

    Raises:
        ValueError: The periods are too few for a stroke.
    """
    if steps < LEAST_STEPS:
        raise ValueError(f"steps: found {steps}, expected at least {LEAST_STEPS}")
    return tuple(_play(table, number, steps=steps, draw=draw) for number in range(episodes))


def meeting(stroke: Stroke, table: Table) -> Float[ndarray, " 5"]:
    """Return place, velocity and time of the mallet as commanded when it meets a puck at rest."""
    commands = np.concatenate((np.stack((stroke.joints, np.zeros(7)))[None], stroke.commands))
    tip = iiwa.tip(commands[:, 0])[:, :2] + np.array(table.robot_base[:2])
    times = PERIOD * np.arange(len(tip))
    fine = np.linspace(0.0, times[-1], _FINE * len(tip))
    path = np.column_stack([np.interp(fine, times, tip[:, axis]) for axis in (0, 1)])
    near = np.linalg.norm(path - stroke.puck[:2], axis=-1) <= table.contact_radius
    if not near.any():
        raise ValueError("stroke: does not meet its puck")
    when = int(near.argmax())
    velocity = np.gradient(path, fine, axis=0)[when]
    return np.array((*path[when], *velocity, fine[when]))


def _play(table: Table, number: int, *, steps: int, draw: np.random.Generator) -> Play:
    """Return one episode."""
    if number % 2 == 0:
        stroke = dataset.random_stroke(table, steps=steps, draw=draw, rolling=0.0)
        met = meeting(stroke, table)
        return Play(STROKE, stroke.puck, stroke.joints, stroke.commands, met)
    rest = np.tile(np.stack((iiwa.HOME, np.zeros(7))), (steps, 1, 1))
    at_mallet = number % 6 == 5
    puck = _at_mallet(table, draw) if at_mallet else dataset.fast_puck(table, draw=draw)
    kind = THROW_AT_MALLET if at_mallet else THROW
    return Play(kind, puck, iiwa.HOME.copy(), rest, np.full(5, np.nan))


def _at_mallet(table: Table, draw: np.random.Generator) -> Float[ndarray, " 4"]:
    """Return a puck that flies at the resting mallet."""
    place = draw.uniform(*np.transpose(_FROM))
    mallet = iiwa.tip(iiwa.HOME)[:2] + np.array(table.robot_base[:2])
    along = (mallet - place) / np.linalg.norm(mallet - place)
    aim = mallet + draw.uniform(-AIM, AIM) * np.array((-along[1], along[0]))
    return np.concatenate((place, (aim - place) / draw.uniform(*_WAY)))
