"""What makes batting hard, in four pictures, as Fig. 1 of Fu et al. has them.

One bat, planned for an object that is known and follows the law of impact; the same bat if shape
and pose are doubtful; the same if impacts are noisy; and a trial in two steps, looking and batting.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.models.systems.batting import bat, clouds
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.planning import goal_bats, swings
from ricochet.models.systems.batting.planning.goal_bats import Swing
from ricochet.models.systems.batting.planning.looking import starting_counts
from ricochet.models.systems.batting.planning.swings import Scenarios
from ricochet.models.systems.batting.trial import Frame
from ricochet.models.systems.batting.world import World, without_noise
from ricochet.tasks.systems.batting.figures import scenes

START, KIND = np.array([4.0, 4.0, 0.3, 0.6, 1.0, 0.4]), 2
DEVIATIONS = np.array([0.2, 0.1, 0.5, 0.1, 0.1, 0.2])
"""Of what is doubtful: place, angle and their rates."""
MANY, STEP, HORIZON = 30, 0.02, 8.0
TITLES = (
    "known, without noise",
    "shape and pose doubtful",
    "known, noisy impacts",
    "a look (blue), then a bat (orange)",
)


def problem(world: World, delta: float, two_steps: Sequence[Frame]) -> Figure:
    """Draw the four pictures.

    Args:
        world: With its noise.
        delta: How near the goal a pass comes, m.
        two_steps: Frames of a trial that looks first.
    """
    draw = np.random.default_rng(0)
    known = swings.repeated(START, KIND, draw.integers(0, len(world.noise), MANY))
    one = Scenarios(*(each[:1] for each in known))
    planned = goal_bats.nearest(one, 0.0, HORIZON, without_noise(world))
    if planned is None:
        raise ValueError("no bat reaches the object, expected one that does")
    states = START + DEVIATIONS * draw.standard_normal((MANY, 6))
    doubtful = Scenarios(states, draw.integers(0, len(world.shapes.radius), MANY), known.places)
    cases = ((one, without_noise(world)), (doubtful, without_noise(world)), (known, world))
    figure = Figure(figsize=(12.4, 3.6), layout="constrained")
    axes = np.ravel(figure.subplots(1, len(TITLES)))
    for each, (scenarios, believed) in zip(axes, cases, strict=False):
        _flights(each, scenarios, planned, believed, delta)
    _two_steps(axes[3], two_steps, world, delta)
    for each, title in zip(axes, TITLES, strict=True):
        each.set_title(title, fontsize=8)
        each.set_xlim(-0.5, world.table.width + 0.5)
        each.set_ylim(-3.0, world.table.height + 0.5)
    return figure


def paths(
    scenarios: Scenarios, path: BatPath, seconds: float, world: World
) -> Float[ndarray, "instant scenario 2"]:
    """Return where the centres of mass are, every STEP, under a path of the bat, m."""
    states, counts = scenarios.states.copy(), starting_counts(scenarios.places)
    found = [states[:, :2].copy()]
    for step in range(round(seconds / STEP)):
        turn = bat.angle_and_rate(path, step * STEP)
        clouds.move(states, scenarios.kinds, turn, STEP, world, counts)
        found.append(states[:, :2].copy())
    return np.array(found)


def _flights(axes: Axes, scenarios: Scenarios, planned: Swing, world: World, delta: float) -> None:
    seconds = planned.time + 2.2
    angle = float(bat.angle_and_rate(planned.path, planned.time)[0])
    scenes.ground(axes, angle, world.table, delta)
    places = paths(scenarios, planned.path, seconds, world)
    axes.plot(places[..., 0], places[..., 1], color=scenes.BELIEF, lw=0.7, alpha=0.6)
    for state, kind in zip(scenarios.states[:8], scenarios.kinds[:8], strict=True):
        axes.add_patch(scenes.outline(state, int(kind)))


def _two_steps(axes: Axes, frames: Sequence[Frame], world: World, delta: float) -> None:
    scenes.ground(axes, frames[-1].angle, world.table, delta)
    for look, colour in ((True, scenes.BELIEF), (False, scenes.GOAL)):
        places = [frame.state[:2] if frame.look == look else (np.nan, np.nan) for frame in frames]
        axes.plot(*np.array(places).T, color=colour, lw=1.4)
    axes.add_patch(scenes.outline(frames[0].state, frames[0].kind))
    axes.plot(*frames[-1].state[:2], "+", ms=6, color="black")
