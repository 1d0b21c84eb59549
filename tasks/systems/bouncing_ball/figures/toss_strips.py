"""Strips of pictures: what a toss and the arm looked like, frame by frame.

The scene is drawn by MuJoCo without a window (EGL, on the processor where there is no card). Where
EGL is missing the same frames are drawn as lines from the same geometry, so a strip is always made.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy import ndarray

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import scene
from ricochet.models.systems.bouncing_ball.tracking.workspace import HALF_TABLE
from ricochet.tasks.figures import scenes
from ricochet.tasks.figures.scenes import PURPLE

SIZE = (420, 315)  # pixels of one picture, across and down
CAMERAS = ("front", "top")
MICROPHONES = ("microphone_0", "microphone_1", "microphone_2")


@dataclass(frozen=True)
class Frame:
    """One instant, s: the arm's joint angles, rad, and the ball's centre, m, if it is shown."""

    time: float
    joints: Float[ndarray, "6"]
    ball: tuple[float, float, float] | None


def strip(
    frames: Sequence[Frame],
    *,
    title: str,
    ball_radius: float = 0.02,
    microphones: Sequence[tuple[float, float, float]] = (),
) -> Figure:
    """Draw frames side by side, seen from the front and from above, with the ball's trail.

    The microphones, at positions in m or, when there are none, at the scene's own, are numbered
    as their channels in the first picture from above. `ValueError` if there are no frames.
    """
    if not frames:
        raise ValueError("frames: there are none")
    model = scene.build(ball_radius=ball_radius, microphones=microphones)
    pictures = render(model, frames)
    figure = Figure(figsize=(2.6 * len(frames), 4.6), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(len(CAMERAS), len(frames), squeeze=False)
    for column, frame in enumerate(frames):
        axes[0, column].set_title(f"{frame.time:.2f} s", fontsize=9)
        for row, camera in enumerate(CAMERAS):
            axis = axes[row, column]
            axis.set_xticks([]), axis.set_yticks([])
            if pictures is not None:
                axis.imshow(pictures[column, row])
            else:
                _sketch(axis, frames[: column + 1], from_above=camera == "top")
    _explain(figure, axes[CAMERAS.index("top"), 0], model, drawn=pictures is None)
    return figure


def render(
    model: mujoco.MjModel, frames: Sequence[Frame]
) -> UInt8[ndarray, "frame camera down across 3"] | None:
    """Draw each frame with each camera; None where EGL is not to be had."""
    return scenes.render(
        model,
        len(frames),
        lambda data, i: _place(model, data, frames[: i + 1]),
        cameras=CAMERAS,
        size=SIZE,
        bead=0.011,
    )


def _place(
    model: mujoco.MjModel, data: mujoco.MjData, frames: Sequence[Frame]
) -> Float[ndarray, "point 3"]:
    """Put arm and ball in place, a hidden ball under the floor; return where the ball has been."""
    data.qpos[:] = frames[-1].joints
    data.mocap_pos[0] = (0.0, 0.0, -2.0) if frames[-1].ball is None else frames[-1].ball
    mujoco.mj_forward(model, data)
    return _been(frames)


def _been(frames: Sequence[Frame]) -> Float[ndarray, "point 3"]:
    places = [frame.ball for frame in frames if frame.ball is not None]
    return np.array(places, float).reshape(-1, 3)


def _explain(figure: Figure, from_above: Axes, model: mujoco.MjModel, *, drawn: bool) -> None:
    """Say what is what: a legend, and the microphones' numbers in a picture or a sketch, m."""
    for channel, name in enumerate(MICROPHONES):
        place = model.body(name).pos
        x, y = place[:2] if drawn else _pixel(model, place)
        if drawn:
            from_above.plot(x, y, "s", color="black", ms=3)
        from_above.annotate(
            str(channel), (x, y), (4, -9), textcoords="offset points", color="black", fontsize=7
        )
    marks = [
        Line2D([], [], ls="", marker="o", color=colour, label=label)
        for label, colour in (
            ("the ball now, which no controller sees", "darkorange"),
            ("where it was in the pictures before", PURPLE[:3].tolist()),
            ("paddle", "seagreen"),
            ("microphones, by channel", "black"),
        )
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=4, frameon=False, fontsize=8)


def _pixel(model: mujoco.MjModel, place: Float[ndarray, "3"]) -> tuple[float, float]:
    """Return where the camera above sees a place, pixels across and down.

    The camera looks straight down with x to the right: f = half the picture over tan(fovy / 2).
    """
    camera = model.camera("top")
    across, up = place[:2] - camera.pos[:2]
    scale = 0.5 * SIZE[1] / math.tan(0.5 * math.radians(float(camera.fovy[0])))
    scale /= camera.pos[2] - place[2]
    return 0.5 * SIZE[0] + scale * across, 0.5 * SIZE[1] - scale * up


def _sketch(axis: Axes, frames: Sequence[Frame], *, from_above: bool) -> None:
    """Draw table, arm, paddle and trail as lines: x across, y or z up."""
    up = 1 if from_above else 2
    edge = HALF_TABLE * np.array(((-1, 1, 1, -1, -1), (-1, -1, 1, 1, -1)))
    axis.plot(edge[0], edge[1] if from_above else 0.0 * edge[1], color="peru")
    links = ur5.joint_places(frames[-1].joints)
    axis.plot(links[:, 0], links[:, up], color="slategray", lw=3, marker="o", ms=3)
    across = ur5.PADDLE_RADIUS * np.array((-1.0, 1.0))
    centre = links[-1]
    axis.plot(np.full(2, centre[0]), centre[up] + across, color="seagreen", lw=3)
    been = _been(frames)
    axis.plot(been[:, 0], been[:, up], ".", color=PURPLE[:3].tolist())
    if frames[-1].ball is not None:
        axis.plot(been[-1:, 0], been[-1:, up], "o", color="darkorange")
    axis.set(xlim=(-0.55, 1.0), ylim=(-0.5, 0.5) if from_above else (-0.2, 0.9), aspect="equal")
