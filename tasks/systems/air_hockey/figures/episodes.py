"""Pictures of an episode of air hockey: a strip of frames, and a film.

An episode keeps its joints at 50 Hz and its puck at 1 kHz; the scene is restored at an instant and
drawn by `figures.scenes`. Where that cannot draw, the same instants are drawn as lines from above,
so a picture is always made.
"""

import io
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from jaxtyping import UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy import ndarray
from PIL import Image

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import arm_motors, shot_outcome
from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.simulator import ARM, MALLET, OPPONENT, PUCK, STEP, Episode
from ricochet.tasks.figures import scenes, style
from ricochet.tasks.storage.files import write_bytes

SIZE = (420, 240)  # pixels of one picture, across and down
CAMERAS = ("side", "above")
_BEFORE = 0.6  # s before the strike that a strip begins
_BEAD = 0.008  # m, radius of the spheres of the puck's trail
_FAR = (9.0, 0.0)  # m, out of the picture
_APART = 0.03  # s between the spheres of the puck's trail


def strip(episode: Episode, *, title: str, count: int = 6) -> Figure:
    """Draw an episode that has steps from the run-up to its end, from the side and from above."""
    times = _instants(episode, count)
    pictures = render(episode, times, cameras=CAMERAS)
    rows = 1 if pictures is None else len(CAMERAS)
    figure = Figure(figsize=(2.7 * count, 0.4 + 1.6 * rows), layout="constrained")
    figure.suptitle(title)
    for column, axes in enumerate(figure.subplots(rows, count, squeeze=False).T):
        axes[0].set_title(f"{times[column]:.2f} s", fontsize=9)
        for row, axis in enumerate(axes):
            axis.set_xticks([]), axis.set_yticks([])
            if pictures is not None:
                axis.imshow(pictures[column, row])
            else:
                _sketch(axis, episode, float(times[column]))
    return figure


def film(
    episode: Episode, path: Path, *, camera: str = "side", every: int = 2, slower: float = 2.0
) -> None:
    """Write an episode that has steps as an animated GIF, `slower` than it was.

    From picture to picture there are `every` periods of 20 ms.
    """
    times = np.arange(_last(episode) + STEP / 2, step=every * PERIOD)
    drawn = render(episode, times, cameras=(camera,))
    pictures = [_plain(episode, each) for each in times] if drawn is None else list(drawn[:, 0])
    first, *rest = (Image.fromarray(picture).quantize(64) for picture in pictures)
    content, lasts = io.BytesIO(), round(1e3 * slower * every * PERIOD)
    first.save(content, "GIF", save_all=True, append_images=rest, duration=lasts, loop=0)
    write_bytes(path, content.getvalue())


def render(
    episode: Episode, times: Sequence[float] | ndarray, *, cameras: Sequence[str]
) -> UInt8[ndarray, "frame camera down across 3"] | None:
    """Draw instants of an episode, s, with the puck's trail; None where `scenes` cannot draw."""

    def place(data: mujoco.MjData, i: int) -> ndarray:
        _pose(episode, data, float(times[i]))
        trail = _trail(episode, float(times[i]))
        return np.column_stack((trail, np.full(len(trail), 0.02)))

    model = episode.world.model
    return scenes.render(model, len(times), place, cameras=cameras, size=SIZE, bead=_BEAD)


def _pose(episode: Episode, data: mujoco.MjData, when: float) -> None:
    """Put arm, mallet and puck where they were."""
    row = _row(episode, when)
    data.qpos[PUCK], data.qpos[ARM] = row[:3], _joints(episode, when)
    data.qpos[OPPONENT] = row[9:11] if episode.opponent is not None else _FAR
    mujoco.mj_kinematics(episode.world.model, data)
    data.qpos[MALLET] = arm_motors.upright(data)
    mujoco.mj_forward(episode.world.model, data)


def _row(episode: Episode, when: float) -> ndarray:
    """Return the record at an instant."""
    return episode.trace[min(max(round(when / STEP) - 1, 0), len(episode.trace) - 1)]


def _joints(episode: Episode, when: float) -> ndarray:
    """Return joint positions at an instant, interpolated between those observed."""
    joints = np.array(episode.observed)[:, 0]
    clock = PERIOD * np.arange(len(joints))
    return np.array([np.interp(when, clock, column) for column in joints.T])


def _trail(episode: Episode, when: float) -> ndarray:
    """Return where the puck has been, x and y by row."""
    trace = np.array(episode.trace)[: max(1, round(when / STEP)), :2]
    return trace[:: round(_APART / STEP)]


def _last(episode: Episode) -> float:
    """Return when an episode ended, s."""
    if not episode.trace:
        raise ValueError("episode: found no step in it, expected at least one")
    return STEP * len(episode.trace)


def _instants(episode: Episode, count: int) -> ndarray:
    """Return instants from shortly before the strike, or the start, to the end."""
    last, struck = _last(episode), shot_outcome.outcome(episode).struck
    first = 0.0 if np.isnan(struck) else max(0.0, struck - _BEFORE)
    return np.linspace(first, last, count)


def _plain(episode: Episode, when: float) -> UInt8[ndarray, "down across 3"]:
    """Draw one instant as lines."""
    figure = Figure(figsize=(4.0, 2.4), layout="constrained")
    _sketch(figure.subplots(), episode, when)
    return style.to_pixels(figure)


def _sketch(axis: Axes, episode: Episode, when: float) -> None:
    """Draw table, arm, mallet, puck and its trail as lines, from above."""
    table, row = episode.world.table, _row(episode, when)
    x, y, goal = table.half_length, table.half_width, table.goal_half_width
    for side in (-1.0, 1.0):
        axis.plot((-x, x), (side * y, side * y), color="slategray")
        for end in (-x, x):
            axis.plot((end, end), (side * goal, side * y), color="slategray")
    base, tip = np.array(table.robot_base), iiwa.tip(_joints(episode, when))
    axis.plot(*np.stack((base[:2], base[:2] + tip[:2])).T, color="peru", lw=2)
    axis.add_patch(Circle((row[6], row[7]), table.mallet_radius, color="steelblue"))
    if episode.opponent is not None:
        axis.add_patch(Circle((row[9], row[10]), table.mallet_radius, color="0.2"))
    axis.plot(*_trail(episode, when).T, ".", color="purple", ms=2)
    axis.add_patch(Circle((row[0], row[1]), table.puck_radius, color="firebrick"))
    axis.set(xlim=(-1.6, 1.1), ylim=(-0.6, 0.6), aspect="equal")
