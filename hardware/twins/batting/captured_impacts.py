"""Impacts on the board as a rig measures them, for `ricochet infer impacts`.

An impact is recorded where it stands alone: with one surface, fast enough to be measured, with a
free flight before and after, and with a bat that turned evenly meanwhile. Its instant is the mean
of the contact's, weighed by what pushed; there the velocities of both flights are taken, gravity
accounted for, and place, normal and velocity of the surface are means with the same weights. What
is then measured, velocities, spin and the place, has normal errors.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.batting import board
from ricochet.hardware.twins.batting.board import Nature
from ricochet.hardware.twins.batting.touches import Play, Touch
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import LARGEST_ANGLE, LARGEST_RATE, Table

CLEAR = 0.05
"""Free flight before and after, s."""
LONGEST = 0.01
"""Of a contact, s."""
SLOWEST = 0.1
"""Normal speed before impact, m/s."""
SECONDS = 8.0
"""Of each play."""
IDLE = 20
"""Plays without any impact, beside as many as are wanted, before none is expected."""
SPEED = 2.0
"""Deviation of each velocity at its start, m/s and rad/s."""


@dataclass(frozen=True)
class Camera:
    """Deviations of what is measured.

    Attributes:
        velocity: Of each component, m/s.
        spin: In rad/s.
        place: Of the contact, each way, m.
    """

    velocity: float = 0.01
    spin: float = 0.02
    place: float = 0.002


EXACT = Camera(0.0, 0.0, 0.0)


def capture(
    count: int,
    draw: np.random.Generator,
    *,
    nature: Nature | None = None,
    camera: Camera | None = None,
    progress: Progress = no_progress,
) -> Impacts:
    """Play objects of all shapes from random starts until as many impacts are captured.

    Args:
        count: How many.
        draw: Source of starts, paths of the bat and errors.
        nature: Of the contacts.
        camera: How they are measured.
        progress: Takes how many there are.

    Raises:
        RuntimeError: If no play has an impact that can be taken.
    """
    kinds = len(seven_shapes().radius)
    models = [board.scene(kind, nature) for kind in range(kinds)]
    rows: list[Impacts] = []
    progress(0, count)
    for played in itertools.count():
        if len(rows) >= count:
            break
        if played >= IDLE + count and not rows:
            raise RuntimeError(f"no impact stands alone in {played} plays of {SECONDS:g} s")
        kind = int(draw.integers(kinds))
        play = Play(models[kind], kind, start(draw), path(draw))
        rows += [row(touch, kind) for touch in alone(play.run(SECONDS), SECONDS)]
        progress(min(len(rows), count), count)
    return seen(joined(rows[:count]), camera or Camera(), draw)


def start(draw: np.random.Generator) -> Float[ndarray, " 6"]:
    """Return where an object begins, anywhere above the bat's reach, and how it moves."""
    place = draw.uniform((1.0, 6.5, -np.pi), (9.0, 9.0, np.pi))
    return np.concatenate((place, SPEED * draw.normal(size=3)))


def path(draw: np.random.Generator) -> BatPath:
    """Return a swing to and fro of some size and rate (Eq. 10 of Fu et al.)."""
    frequency = draw.uniform(0.5, 4.0)
    most = min(LARGEST_ANGLE, LARGEST_RATE / frequency)
    return bat.cyclic(0.0, frequency, SECONDS, draw.uniform(0.2, 1.0) * most)


def alone(touches: Sequence[Touch], seconds: float) -> list[Touch]:
    """Return the touches that can be recorded, of a play that lasted so long."""
    ends = [0.0, *(touch.after.time for touch in touches)]
    begins = [*(touch.before.time for touch in touches[1:]), seconds]
    return [
        touch
        for touch, end, begin in zip(touches, ends[:-1], begins, strict=True)
        if touch.before.time - end >= CLEAR
        and begin - touch.after.time >= CLEAR
        and _is_an_impact(touch)
    ]


def row(touch: Touch, kind: int, table: Table | None = None) -> Impacts:
    """Return what an exact measurement of a touch gives, a table of one row."""
    table = table or Table()
    steps, weights = touch.steps, np.array([step.push for step in touch.steps])
    weights = weights / weights.sum()
    middle = weights @ [step.time for step in steps]
    normal = weights @ [step.normal for step in steps]
    velocities = [each.velocity.copy() for each in (touch.before, touch.after)]
    for velocity, instant in zip(velocities, (touch.before, touch.after), strict=True):
        velocity[1] -= table.gravity * (middle - instant.time)
    return Impacts(
        np.full(1, table.mass),
        np.full(1, table.mass * seven_shapes().gyration_squared[kind]),
        (weights @ [step.contact for step in steps])[None],
        (normal / np.hypot(*normal))[None],
        (weights @ [step.velocity for step in steps])[None],
        velocities[0][None],
        velocities[1][None],
    )


def joined(rows: Sequence[Impacts]) -> Impacts:
    """Return the rows as one table."""
    names = [field.name for field in fields(Impacts)]
    return Impacts(*(np.concatenate([getattr(each, name) for each in rows]) for name in names))


def seen(impacts: Impacts, camera: Camera, draw: np.random.Generator) -> Impacts:
    """Return impacts as a camera measures them."""
    scale = np.array((camera.velocity, camera.velocity, camera.spin))
    count = len(impacts)
    return Impacts(
        impacts.mass,
        impacts.inertia,
        impacts.contact + camera.place * draw.normal(size=(count, 2)),
        impacts.normal,
        impacts.surface,
        impacts.before + scale * draw.normal(size=(count, 3)),
        impacts.after + scale * draw.normal(size=(count, 3)),
    )


def _is_an_impact(touch: Touch) -> bool:
    """Return whether one surface pushed for a short time, at a speed that can be measured."""
    surfaces = {step.surface for step in touch.steps}
    pushed = sum(step.push for step in touch.steps) > 0.0
    short = touch.after.time - touch.before.time <= LONGEST
    if len(surfaces) > 1 or not pushed or not short or touch.before.rate != touch.after.rate:
        return False
    first = touch.steps[0]
    turned = touch.before.velocity[2] * np.array((-first.contact[1], first.contact[0]))
    closing = touch.before.velocity[:2] + turned - first.velocity
    return float(first.normal @ closing) <= -SLOWEST
