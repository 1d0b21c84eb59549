"""A moving picture of a toss: the arm meets a ball of which it knows only the sound.

Above is the scene, slower than it was; below, what the first microphone recorded until then. A
purple bead lies where a bounce was detected, from the moment at which it was known. The ball itself
is drawn for the reader: no controller is given it.
"""

import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from jaxtyping import Float, Float32, UInt8
from numpy import ndarray
from PIL import Image, ImageDraw, ImageFont
from PIL.ImageDraw import ImageDraw as Draw

from ricochet.models.systems.bouncing_ball.tracking import scene
from ricochet.tasks.figures import scenes
from ricochet.tasks.systems.bouncing_ball.figures.toss_strips import Frame

DRAWN = (840, 510)  # pixels of the scene, across and down
CROP = (120, 70, 700, 470)  # what is shown of it: left, top, right, bottom
SIZE = (CROP[2] - CROP[0], CROP[3] - CROP[1])
SOUND = 64  # pixels of the sound, down
MARGIN = 24  # pixels of the lines of text above and below
SLOWER, RATE = 3.0, 12.5
"""How many times slower than it was, and pictures a second."""
REST = 1500
"""How long the last picture stays, ms."""
COLOURS = 128
INK, PALE, PURPLE, ORANGE = (40, 40, 40), (150, 160, 170), (191, 13, 191), (255, 140, 0)
SHADED = (140, 10, 140)  # the dark side of a purple bead


@dataclass(frozen=True)
class DetectedBounce:
    """When a bounce was known, s, and where it was detected on the table, (x, y) in m."""

    known: float
    place: tuple[float, float]


@dataclass(frozen=True)
class Recording:
    """What one microphone recorded, full scale 1, and its frames a second."""

    samples: Float32[ndarray, " frame"]
    sample_rate: float


def instants(start: float, end: float) -> Float[ndarray, " picture"]:
    """Return the times of the pictures of a movie from one time to another, s."""
    return np.arange(start, end, 1.0 / (SLOWER * RATE))


def movie(
    frames: Sequence[Frame],
    detections: Sequence[DetectedBounce],
    recording: Recording,
    *,
    title: str,
    ball_radius: float = 0.02,
    microphones: Sequence[tuple[float, float, float]] = (),
) -> bytes | None:
    """Draw a toss as an animated GIF; None where scenes cannot be drawn (no EGL).

    Args:
        frames: At `instants`.
        detections: In the order in which they were known.
        microphones: Places, m; the scene's own where there are none.

    Raises:
        ValueError: If there are no frames.
    """
    if not frames:
        raise ValueError("frames: there are none")
    model = scene.build(ball_radius=ball_radius, microphones=microphones)
    drawn = _render(model, frames, detections)
    if drawn is None:
        return None
    sound = _Sound.between(recording, frames[0].time, frames[-1].time)
    known = [each.known for each in detections]
    pictures = [
        _compose(picture, sound, now=frame.time, known=known, title=title)
        for picture, frame in zip(drawn, frames, strict=True)
    ]
    return _gif(pictures)


def _render(
    model: mujoco.MjModel, frames: Sequence[Frame], detections: Sequence[DetectedBounce]
) -> UInt8[ndarray, "picture down across 3"] | None:
    def place(data: mujoco.MjData, number: int) -> Float[ndarray, "point 3"]:
        frame = frames[number]
        data.qpos[:] = frame.joints
        data.mocap_pos[0] = (0.0, 0.0, -2.0) if frame.ball is None else frame.ball
        mujoco.mj_forward(model, data)
        known = [(*each.place, 0.005) for each in detections if each.known <= frame.time]
        return np.array(known, float).reshape(-1, 3)

    pictures = scenes.render(model, len(frames), place, cameras=("front",), size=DRAWN, bead=0.016)
    left, top, right, bottom = CROP
    return None if pictures is None else pictures[:, 0, top:bottom, left:right]


@dataclass(frozen=True)
class _Sound:
    """What is drawn of a recording: its peak in each column of pixels, and from when to when, s."""

    start: float
    end: float
    peaks: Float[ndarray, " across"]

    @classmethod
    def between(cls, recording: Recording, start: float, end: float) -> "_Sound":
        """Return the peaks, the greatest being 1."""
        edges = np.linspace(start, end, SIZE[0] + 1) * recording.sample_rate
        loud = np.abs(recording.samples)
        columns = itertools.pairwise(np.round(edges).astype(int))
        peaks = np.array([loud[a:b].max(initial=0.0) for a, b in columns])
        return cls(start, end, peaks / max(peaks.max(), 1e-9))

    def column(self, time: float) -> int:
        """Return the column of pixels of a time."""
        return round((time - self.start) / max(self.end - self.start, 1e-9) * (SIZE[0] - 1))


def _compose(
    picture: UInt8[ndarray, "down across 3"],
    sound: _Sound,
    *,
    now: float,
    known: Sequence[float],
    title: str,
) -> Image.Image:
    """Put title, scene, sound and legend under one another."""
    across, down = SIZE
    whole = Image.new("RGB", (across, down + SOUND + 2 * MARGIN), "white")
    whole.paste(Image.fromarray(picture), (0, MARGIN))
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(13)
    pen.text((6, 4), title, INK, font)
    pen.text((across - 6, 4), f"{now - sound.start:.2f} s", INK, font, "ra")
    _draw_sound(pen, sound, now=now, known=known)
    below = down + MARGIN + SOUND + 4
    pen.text((6, below), "bounces located by sound", PURPLE, font)
    pen.text((across // 2, below), "the ball, which no controller sees", ORANGE, font, "ma")
    pen.text((across - 6, below), "sound of microphone 0", INK, font, "ra")
    return whole


def _draw_sound(pen: Draw, sound: _Sound, *, now: float, known: Sequence[float]) -> None:
    """Draw the sound until now, a line where a bounce became known, and one at the present."""
    half, end = SOUND // 2, sound.column(now)
    middle = SIZE[1] + MARGIN + half
    for x, peak in enumerate(sound.peaks[: end + 1]):
        high = max(1, round(half * peak))
        pen.line((x, middle - high, x, middle + high), PALE)
    for x in [sound.column(time) for time in known if time <= now]:
        pen.line((x, middle - half, x, middle + half), PURPLE, 2)
    pen.line((end, middle - half, end, middle + half), INK)


def _gif(pictures: Sequence[Image.Image]) -> bytes:
    """Return an animated GIF with one palette, without dithering, so that still parts are small."""
    palette, none = _palette(pictures), Image.Dither.NONE
    first, *rest = [each.quantize(palette=palette, dither=none) for each in pictures]
    content, times = io.BytesIO(), [round(1000.0 / RATE)] * len(rest) + [REST]
    first.save(
        content, "GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=True
    )
    return content.getvalue()


def _palette(pictures: Sequence[Image.Image]) -> Image.Image:
    """Return the palette of the middle and the last picture, and of what is small in them."""
    middle, last = pictures[len(pictures) // 2], pictures[-1]
    small, strip = ((255, 255, 255), ORANGE, PURPLE, SHADED), 48
    both = Image.new("RGB", (last.width, 2 * last.height + strip * len(small)))
    both.paste(middle, (0, 0))
    both.paste(last, (0, last.height))
    for number, colour in enumerate(small):
        top = 2 * last.height + strip * number
        both.paste(colour, (0, top, last.width, top + strip))
    return both.quantize(COLOURS)
