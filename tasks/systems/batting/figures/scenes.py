"""The table as it is at an instant: walls, bat, goal, camera, object, particles (Figs. 3, 6, 7)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy import ndarray

from ricochet.models.systems.batting import shapes
from ricochet.models.systems.batting.shapes import SHAPES, seven_shapes
from ricochet.models.systems.batting.table import DISTANCES, Table
from ricochet.models.systems.batting.trial import Frame
from ricochet.tasks.figures import style

GOAL_RADIUS = 0.8  # m, as the paper draws it
DOTS = 400  # particles that are drawn, at most
OBJECT, BELIEF, GOAL, LOOK = (style.COLOURS[i] for i in (2, 0, 1, 3))


def scene(axes: Axes, frame: Frame, table: Table, delta: float) -> None:
    """Draw one instant of a trial."""
    ground(axes, frame.angle, table, delta)
    every = max(1, len(frame.cloud.kinds) // DOTS)
    places = frame.cloud.states[::every, :2]
    axes.plot(*places.T, ".", ms=1.5, color=BELIEF, alpha=0.5, zorder=2)
    axes.add_patch(outline(frame.state, frame.kind))
    axes.plot(*frame.state[:2], "+", ms=5, color="black", zorder=4)
    for slope in frame.reading / table.focal_length:
        far = table.width - table.camera_x
        ends = ([table.camera_x, table.width], [table.camera_y, table.camera_y + slope * far])
        axes.plot(*ends, lw=0.5, color="0.6", zorder=1)
    step = "looking" if frame.look else "batting"
    passes = frame.passes[np.abs(DISTANCES - delta).argmin()]
    axes.set_title(f"{frame.time:.1f} s, {step}, {passes} passes", fontsize=9)


def ground(axes: Axes, angle: float, table: Table, delta: float) -> None:
    """Draw walls, bat, goal and camera."""
    right = table.width * np.array([1.0, np.tan(angle)])
    walls = np.array([[0.0, 0.0], [0.0, table.height], [table.width, table.height], right])
    axes.plot(*walls.T, color="black", lw=1.5)
    axes.plot([0.0, right[0]], [0.0, right[1]], color=GOAL, lw=3.0, solid_capstyle="round")
    goal = (table.goal_x, table.goal_y)
    axes.add_patch(Circle(goal, GOAL_RADIUS, color=GOAL, alpha=0.2, lw=0.0))
    axes.add_patch(Circle(goal, delta, color=GOAL, lw=0.0))
    axes.plot(table.camera_x, table.camera_y, ">", ms=7, color="0.3")
    axes.set_xlim(table.camera_x - 0.5, table.width + 0.5)
    axes.set_ylim(-6.0, table.height + 0.5)
    axes.set_aspect("equal")
    axes.set_axis_off()


def outline(state: Float[ndarray, " 6"], kind: int) -> Polygon:
    """Return the boundary of an object where it is."""
    found = seven_shapes()
    points = shapes.boundary(found.cosines[kind], found.sines[kind], 120)
    c, s = np.cos(state[2]), np.sin(state[2])
    placed = points @ np.array([[c, s], [-s, c]]) + state[:2]
    return Polygon(placed, facecolor=OBJECT, edgecolor="black", lw=0.8, alpha=0.7, zorder=3)


def strip(frames: Sequence[Frame], table: Table, delta: float) -> Figure:
    """Draw several instants side by side, as Figs. 6 and 7 of the paper do."""
    figure = Figure(figsize=(3.1 * len(frames), 3.4), layout="constrained")
    for axes, frame in zip(np.ravel(figure.subplots(1, len(frames))), frames, strict=True):
        scene(axes, frame, table, delta)
    return figure


def seven() -> Figure:
    """Draw the shapes with their centres of mass, as Fig. 2 of the paper does."""
    figure = Figure(figsize=(9.5, 1.8), layout="constrained")
    for kind, (axes, name) in enumerate(
        zip(np.ravel(figure.subplots(1, len(SHAPES))), SHAPES, strict=True)
    ):
        axes.add_patch(outline(np.zeros(6), kind))
        axes.plot(0.0, 0.0, "k+", ms=6)
        axes.set_xlim(-0.75, 0.75)
        axes.set_ylim(-0.75, 0.75)
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_title(name, fontsize=9)
    return figure


def entropies(
    over_time: Float[ndarray, " second"],
    times: Float[ndarray, " second"],
    looks: Float[ndarray, "controller step"],
    names: Sequence[str],
    step: float,
) -> Figure:
    """Draw the entropy of a trial and that of each controller looked ahead (Figs. 4 and 5)."""
    figure = Figure(figsize=(9.5, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(times, over_time, color=BELIEF, lw=0.9)
    style.label_axes(left, "time / s", "entropy of the particles (Eq. 11)")
    ahead = (1 + np.arange(looks.shape[1])) * step
    for row, name, colour in zip(looks, names, style.COLOURS, strict=False):
        right.plot(ahead, row, color=colour, lw=1.0, label=f"omega {name}")
    style.label_axes(right, "time ahead / s", "predicted entropy")
    right.legend(frameon=False, fontsize=8, ncols=2)
    return figure
