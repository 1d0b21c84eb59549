"""Pictures of matches between two robots: who had the puck when, and a film of an exchange."""

import io
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray
from PIL import Image

from ricochet.models.systems.air_hockey import arm_motors
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.simulator import PUCK
from ricochet.models.systems.air_hockey.two_robots import ARMS, Rally
from ricochet.tasks.figures import scenes, style
from ricochet.tasks.storage.files import write_bytes

SIZE = (480, 220)  # pixels of a picture, across and down
CAMERA = "hall"
_BEAD = 0.008  # m, radius of the spheres of the puck's trail
_TRAIL = 25  # periods that the trail shows
_EVERY = 4  # periods from picture to picture
_APART = 8.0  # s between events whose names stand side by side
_ROW = 60.0  # s of play in a row of the timeline


def timeline(
    way: Float[ndarray, "time 2"], events: Sequence[tuple[float, str, int]], half_length: float
) -> Figure:
    """Draw where the puck was along the table, a minute a row, and what happened.

    Args:
        way: Times, s, and the puck's x then, m; NaN between rallies.
        events: When, s, what ("goal", "foul" ..), and the side that gained by it or -1.
    """
    clock, x = way.T
    rows = max(1, int(np.ceil(np.nanmax(clock) / _ROW - 1e-9)))
    figure = Figure(figsize=(9.0, 0.5 + 0.8 * rows), layout="constrained")
    for row, axes in enumerate(figure.subplots(rows, 1, squeeze=False)[:, 0]):
        first = row * _ROW
        shown = ~((clock < first) | (clock > first + _ROW))
        axes.axhline(0.0, color="0.8", lw=0.8)
        axes.plot(clock[shown] - first, x[shown], color=style.COLOURS[0], lw=0.9)
        row_events = [
            (t - first, what, side) for t, what, side in events if 0.0 <= t - first < _ROW
        ]
        _mark(axes, row_events, half_length)
        axes.set(xlim=(0.0, _ROW), ylim=(-half_length, half_length), yticks=(-0.9, 0.0, 0.9))
        axes.tick_params(labelsize=7, labelbottom=row == rows - 1)
        axes.set_ylabel(f"min {row + 1}", fontsize=8)
    axes.set_xlabel("s; the puck's place along the table, m", fontsize=8)
    return figure


def _mark(axes: Axes, events: Sequence[tuple[float, str, int]], top: float) -> None:
    """Mark events of a row by lines; the name of one soon after another stands above it."""
    last, level = -np.inf, 0
    for when, what, side in events:
        level = level + 1 if when - last < _APART else 0
        last = when
        axes.axvline(when, color=style.COLOURS[1], lw=1.2)
        axes.annotate(
            _named(what, side),
            (when, top),
            xytext=(0.0, 7.0 * level),
            textcoords="offset points",
            fontsize=7,
            va="bottom",
        )


def film(rally: Rally, path: Path, *, last: float) -> bool:
    """Write the last seconds of a rally as an animated GIF; return whether it could be drawn."""
    first = max(0, len(rally.trace) - 1 - round(last / PERIOD))
    periods = range(first, len(rally.trace), _EVERY)
    if len(periods) < 2:
        return False

    def place(data: mujoco.MjData, frame: int) -> ndarray:
        period = periods[frame]
        _pose(rally, data, period)
        trail = np.array(rally.trace[max(0, period - _TRAIL) : period + 1])[:, :2]
        return np.column_stack((trail, np.full(len(trail), 0.02)))

    model = rally.hall.model
    drawn = scenes.render(
        model, len(periods), place, cameras=(CAMERA,), size=SIZE, bead=_BEAD, parts=900
    )
    if drawn is None:
        return False
    head, *rest = (Image.fromarray(picture).quantize(48) for picture in drawn[:, 0])
    content = io.BytesIO()
    lasts = round(1e3 * _EVERY * PERIOD)
    head.save(content, "GIF", save_all=True, append_images=rest, duration=lasts, loop=0)
    write_bytes(path, content.getvalue())
    return True


def _named(what: str, side: int) -> str:
    """Return an event in words."""
    return f"{what} for {['left', 'right'][side]}" if side >= 0 else what


def _pose(rally: Rally, data: mujoco.MjData, period: int) -> None:
    """Put puck and both arms where they were."""
    model = rally.hall.model
    data.qpos[PUCK] = rally.trace[period][:3]
    for place, joints in zip(ARMS, rally.joints[period], strict=True):
        data.qpos[place.joints] = joints
    mujoco.mj_kinematics(model, data)
    for place in ARMS:
        data.qpos[place.mallet] = arm_motors.upright(data, place.link7)
    mujoco.mj_forward(model, data)
