"""Strips of pictures: what a toss and the arm looked like, frame beside frame.

The scene is drawn by MuJoCo without a window (EGL, on the processor where there is no card). Where
EGL is missing the same frames are drawn as lines from the same geometry, so a strip is always made.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy import ndarray

from ricochet.models.arms import ur5
from ricochet.models.systems.bouncing_ball.tracking import scene as laboratory
from ricochet.models.systems.bouncing_ball.tracking.workspace import HALF_TABLE

SIZE = (420, 315)  # pixels of one picture, across and down
CAMERAS = ("front", "top")
MICROPHONES = ("microphone_0", "microphone_1", "microphone_2")
_LARGEST = 400  # parts of one picture
_PURPLE = np.array((0.75, 0.05, 0.75, 1.0), np.float32)


@dataclass(frozen=True)
class Frame:
    """One instant.

    Attributes:
        time: s.
        joints: The arm's joint angles, rad.
        ball: Centre of the ball, m; None when it is not shown.
    """

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

    The microphones are numbered as their channels in the first picture from above.

    Args:
        frames: Instants in order; up to eight read well.
        title: What is shown, in a line.
        ball_radius: m.
        microphones: Places, m; the scene's own when empty.

    Returns:
        The figure; `figures.style.to_png` saves it.

    Raises:
        ValueError: There are no frames.
    """
    if not frames:
        raise ValueError("frames: there are none")
    model = laboratory.build(ball_radius=ball_radius, microphones=microphones)
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
    """Draw each frame with each camera.

    Args:
        model: A scene of `laboratory.build`.
        frames: Instants in order.

    Returns:
        The pictures, or None where EGL is not to be had.
    """
    surface = context(SIZE)
    if surface is None:
        return None
    surface.make_current()
    try:
        return _draw(model, frames)
    finally:
        surface.free()


def _draw(
    model: mujoco.MjModel, frames: Sequence[Frame]
) -> UInt8[ndarray, "frame camera down across 3"]:
    """Draw each frame with each camera into the context that is current."""
    across, down = SIZE
    pictures = np.zeros((len(frames), len(CAMERAS), down, across, 3), np.uint8)
    surface = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, surface)
    scene, data = mujoco.MjvScene(model, _LARGEST), mujoco.MjData(model)
    whole = mujoco.MjrRect(0, 0, across, down)
    for i, frame in enumerate(frames):
        _pose(model, data, frame)
        for j, name in enumerate(CAMERAS):
            look(model, data, scene, name)
            _trail(scene, frames[: i + 1])
            mujoco.mjr_render(whole, scene, surface)
            mujoco.mjr_readPixels(pictures[i, j], None, whole, surface)
    surface.free()
    return pictures[:, :, ::-1]


def context(size: tuple[int, int]) -> Any:
    """Return a context to draw in without a window, or None.

    Args:
        size: Pixels across and down.
    """
    try:
        from mujoco.egl import GLContext

        return GLContext(*size)
    except (ImportError, AttributeError, RuntimeError, OSError):
        return None


def _pose(model: mujoco.MjModel, data: mujoco.MjData, frame: Frame) -> None:
    """Put arm and ball in place; a ball that is not shown goes under the floor."""
    data.qpos[:] = frame.joints
    data.mocap_pos[0] = (0.0, 0.0, -2.0) if frame.ball is None else frame.ball
    mujoco.mj_forward(model, data)


def look(model: mujoco.MjModel, data: mujoco.MjData, scene: mujoco.MjvScene, name: str) -> None:
    """Fill the scene as one of the fixed cameras sees it.

    Args:
        model: What there is.
        data: Where it is.
        scene: To be drawn; changes.
        name: Of the camera.
    """
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = model.camera(name).id
    every = mujoco.mjtCatBit.mjCAT_ALL.value
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, every, scene)


def _trail(scene: mujoco.MjvScene, frames: Sequence[Frame]) -> None:
    """Add a small sphere wherever the ball has been."""
    for place in (frame.ball for frame in frames):
        if place is None or scene.ngeom >= scene.maxgeom:
            continue
        mujoco.mjv_initGeom(
            scene.geoms[scene.ngeom],
            mujoco.mjtGeom.mjGEOM_SPHERE,
            np.full(3, 0.011),
            np.array(place),
            np.eye(3).ravel(),
            _PURPLE,
        )
        scene.ngeom += 1


def _explain(figure: Figure, from_above: Axes, model: mujoco.MjModel, *, drawn: bool) -> None:
    """Say what is what: a legend below the pictures, and the microphones' numbers in one of them.

    Args:
        figure: The strip.
        from_above: The picture in which the microphones are numbered.
        model: The scene.
        drawn: Whether it is a sketch in metres, not a picture in pixels.
    """
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
            ("ball now", "darkorange"),
            ("where it was in the pictures before", _PURPLE[:3].tolist()),
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
    half = HALF_TABLE
    edge = np.array(((-half, half, half, -half, -half), (-half, -half, half, half, -half)))
    axis.plot(edge[0], edge[1] if from_above else 0.0 * edge[1], color="peru")
    links = ur5.joint_places(frames[-1].joints)
    axis.plot(links[:, 0], links[:, up], color="slategray", lw=3, marker="o", ms=3)
    across = ur5.PADDLE_RADIUS * np.array((-1.0, 1.0))
    centre = links[-1]
    axis.plot(np.full(2, centre[0]), centre[up] + across, color="seagreen", lw=3)
    been = np.array([frame.ball for frame in frames if frame.ball is not None]).reshape(-1, 3)
    axis.plot(been[:, 0], been[:, up], ".", color=_PURPLE[:3].tolist())
    if frames[-1].ball is not None:
        axis.plot(been[-1:, 0], been[-1:, up], "o", color="darkorange")
    axis.set(xlim=(-0.55, 1.0), ylim=(-0.5, 0.5) if from_above else (-0.2, 0.9), aspect="equal")
