"""Takes of a drawer: a person moves it, it sounds, a room carries the sound, a camera sees it.

What the twin knows is physics alone: no speed is tied to a loudness or a pitch, and no bearing to a
direction. A share of the sound's power comes from the front that moves, the rest from the rails.
Each session has a drawer that holds something else and rubs with another load, and microphones
whose gains differ. Levels are set once, by a take of reference: a slow session is a quiet one.
"""

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from jaxtyping import Float, Float32
from numpy import ndarray
from scipy import signal

from ricochet.hardware.twins.drawers.generator import bodies, drawers, rails, rooms, strokes
from ricochet.hardware.twins.drawers.generator.bodies import SOURCES
from ricochet.hardware.twins.drawers.generator.drawers import Made
from ricochet.hardware.twins.drawers.generator.rooms import RATE
from ricochet.hardware.twins.drawers.generator.strokes import Motion, Person

FAN, FAN_SHARE = (0.4, -1.3, 1.4), 0.6  # m, where a fan runs, and its share of the background
MOVING = 0.05  # m/s, above which the drawer counts as moving in the signal-to-noise ratio
FULL_SCALE = 0.2  # largest sample of the reference
REFERENCE, REFERENCE_SECONDS = 2**20, 40.0  # seed and length of the take that sets levels
LOAD_SPREAD = 0.25  # deviation of the logarithm of a session's load
VISION_RATE, VISION_SD = 30.0, 0.003  # Hz and m
OCCLUDED = 0.04  # share of the camera's frames in which nothing is seen
TRACK_RATE = 100.0  # Hz, of the true motion


@dataclass(frozen=True)
class Setting:
    """What is recorded, and how.

    Attributes:
        drawer: One of `drawers.DRAWERS`.
        array, place: Of `rooms.RINGS` and `rooms.PLACES`.
        seconds, light_off: Length of a take and when the light goes off, s.
        moving_share: Share of the sound's power that comes from the front.
        snr: Power while the drawer moves over that of the background, dB.
        reverberation_time: s; None: the drawer's own room.
        texture: Whether rails are read by position.
        impacts: Whether limits sound.
        person: Who moves the drawer.
    """

    drawer: str
    array: str = "ring-6"
    place: str = "side"
    seconds: float = 120.0
    light_off: float = 40.0
    moving_share: float = 0.5
    snr: float = 18.0
    reverberation_time: float | None = None
    texture: bool = True
    impacts: bool = True
    person: Person = field(default_factory=Person)


ROOMS = {"kitchen-small": 0.3, "kitchen-large": 0.42, "cabinet-top": 0.36, "cabinet-bottom": 0.5}
"""Reverberation times, s."""


@dataclass(frozen=True)
class Take:
    """A recorded take.

    Attributes:
        samples: Of each microphone at `rooms.RATE`, full scale 1.
        vision: Time and position that the camera saw, while there was light, s and m.
        motion: Time and true position, s and m.
        truth: The motion as the twin made it, for tests and pictures.
    """

    samples: Float32[ndarray, "channel frame"]
    vision: Float[ndarray, "time 2"]
    motion: Float[ndarray, "time 2"]
    truth: Motion


def record(setting: Setting, seed: int) -> Take:
    """Return a take; equal seeds of a drawer have the same motion and the same sources.

    Args:
        setting: Of the recording.
        seed: Of the session.
    """
    made = drawers.made(setting.drawer)
    draw = np.random.default_rng([made.drawer.seed, seed, 16])
    moved = strokes.move(setting.seconds, made.drawer.stroke, setting.person, draw)
    moved = replace(moved, load=moved.load * draw.lognormal(0.0, LOAD_SPREAD))
    samples = _sounds(setting, made, moved, draw)
    return Take(samples, _seen(setting, moved, draw), _track(moved, setting.seconds), moved)


def opening(moved: Motion, seconds: float) -> Float[ndarray, " frame"]:
    """Return the opening at every frame of sound, m."""
    frames = np.arange(round(seconds * RATE)) / RATE
    return np.interp(frames, np.arange(len(moved.position)) / strokes.RATE, moved.position)


def _sounds(
    setting: Setting, made: Made, moved: Motion, draw: np.random.Generator
) -> Float32[ndarray, "channel frame"]:
    """Return what is recorded; levels are those of the setting, whoever moves the drawer."""
    level, background = _levels(replace(setting, seconds=REFERENCE_SECONDS, person=Person()))
    drawer = _from_drawer(setting, made, moved, draw)
    gains = draw.lognormal(0.0, 0.05, (len(drawer), 1))
    mixed = level * _passed(gains * (drawer + background * _background(setting, drawer, draw)))
    return np.clip(mixed, -1.0, 1.0).astype(np.float32)


@cache
def _levels(setting: Setting) -> tuple[float, float]:
    """Return the scale of samples and of the background by a take of reference."""
    made = drawers.made(setting.drawer)
    draw = np.random.default_rng([made.drawer.seed, REFERENCE, 16])
    moved = strokes.move(setting.seconds, made.drawer.stroke, setting.person, draw)
    drawer = _passed(_from_drawer(setting, made, moved, draw))
    moving = np.abs(np.gradient(opening(moved, setting.seconds))) * RATE > MOVING
    power = np.mean(drawer[:, moving] ** 2) * 10.0 ** (-setting.snr / 10.0)
    rush = _passed(_background(setting, drawer, draw))
    scale = FULL_SCALE / np.quantile(np.abs(drawer), 0.9999)
    return float(scale), float(np.sqrt(power) / rush.std())


def _from_drawer(
    setting: Setting, made: Made, moved: Motion, draw: np.random.Generator
) -> Float[ndarray, "channel frame"]:
    """Return what the microphones hear of the drawer."""
    at = opening(moved, setting.seconds)
    driven = _forces(setting, made, moved, at, draw)
    open_share = at / made.drawer.stroke
    front = bodies.sound(made.box, driven, open_share, RATE, draw.lognormal(0.0, 0.015))
    cabinet = bodies.sound(made.cabinet, driven, open_share, RATE)
    left = draw.uniform(0.35, 0.65)
    front *= np.sqrt(setting.moving_share)
    cabinet *= np.sqrt(1.0 - setting.moving_share) * made.cabinet_gain
    fixed = np.stack([np.sqrt(left) * cabinet, np.sqrt(1.0 - left) * cabinet, 0.0 * cabinet])
    return rooms.heard(front, fixed, at, _room(setting))


def _background(
    setting: Setting, drawer: Float[ndarray, "channel frame"], draw: np.random.Generator
) -> Float[ndarray, "channel frame"]:
    """Return the fan in the room and the microphones' hiss, of unit power together."""
    frames = drawer.shape[1]
    sounds = np.zeros((3, frames))
    sounds[2] = _fan(frames, draw)
    rush = rooms.heard(0.0 * sounds[2], sounds, 0.0 * sounds[2], _room(setting))
    hiss = draw.standard_normal(drawer.shape)
    return np.asarray(np.sqrt(FAN_SHARE) * rush / rush.std() + np.sqrt(1.0 - FAN_SHARE) * hiss)


def _room(setting: Setting) -> rooms.Responses:
    time = setting.reverberation_time or ROOMS[setting.drawer]
    return rooms.responses(setting.drawer, setting.array, setting.place, time, FAN)


def _forces(
    setting: Setting,
    made: Made,
    moved: Motion,
    at: Float[ndarray, " frame"],
    draw: np.random.Generator,
) -> Float[ndarray, "source frame"]:
    drawer, frames = made.drawer, np.arange(len(at)) / RATE
    load = np.interp(frames, np.arange(len(moved.load)) / strokes.RATE, moved.load)
    driven = np.zeros((len(SOURCES), len(at)))
    rail = replace(drawer.rail, slip_speed=drawer.rail.slip_speed * draw.lognormal(0.0, 0.2))
    driven[:2] = rails.forces(rail, made.surface, at, RATE, draw, by_position=setting.texture)
    driven[:2] *= load
    if setting.impacts:
        for row, size, length, end in (
            (2, drawer.closing, drawer.closing_time, 0.0),
            (3, drawer.opening, drawer.opening_time, 1.0),
        ):
            hits = moved.impacts[moved.impacts[:, 2] == end]
            _strike(driven[row], hits[:, 0], size * hits[:, 1], length)
    _strike(driven[4], moved.touches[:, 0], drawer.hand * moved.touches[:, 1], 3e-3)
    return driven


def _strike(
    force: Float[ndarray, " frame"],
    times: Float[ndarray, " hit"],
    sizes: Float[ndarray, " hit"],
    length: float,
) -> None:
    """Add half a sine of a length, s, at each time, in place; its impulse does not depend on it."""
    pulse = np.sin(np.linspace(0.0, np.pi, max(round(length * RATE), 2)))
    pulse *= 10.0 / pulse.sum()
    for time, size in zip(times, sizes, strict=True):
        begin = round(time * RATE)
        piece = force[begin : begin + len(pulse)]
        piece += size * pulse[: len(piece)]


def _fan(frames: int, draw: np.random.Generator) -> Float[ndarray, " frame"]:
    """Return the sound of a fan: a rush that falls with frequency, and the hum of its motor."""
    frequency = np.fft.rfftfreq(frames, 1.0 / RATE)
    rush = np.fft.rfft(draw.standard_normal(frames)) / (1.0 + frequency / 300.0)
    times = np.arange(frames) / RATE
    hum = sum(np.sin(2 * np.pi * 49.3 * k * times + k) / k**2 for k in range(2, 9))
    found = np.fft.irfft(rush, frames)
    return np.asarray(found / found.std() + 0.5 * hum)


def _passed(samples: Float[ndarray, "channel frame"]) -> Float[ndarray, "channel frame"]:
    """Return what a recorder passes: above 60 Hz."""
    sections = signal.butter(2, 60.0, "highpass", fs=RATE, output="sos")
    return np.asarray(signal.sosfilt(sections, samples, axis=1))


def _seen(setting: Setting, moved: Motion, draw: np.random.Generator) -> Float[ndarray, "time 2"]:
    """Return the camera's track, with gaps where the hand is before the drawer."""
    times = np.arange(0.0, min(setting.light_off, setting.seconds), 1.0 / VISION_RATE)
    true = np.interp(times, np.arange(len(moved.position)) / strokes.RATE, moved.position)
    hidden = signal.lfilter([1.0], [1.0, -0.9], draw.standard_normal(len(times)))
    seen = hidden < np.quantile(hidden, 1.0 - OCCLUDED)
    track = np.stack([times, true + VISION_SD * draw.standard_normal(len(times))], axis=1)
    return track[seen]


def _track(moved: Motion, seconds: float) -> Float[ndarray, "time 2"]:
    times = np.arange(round(seconds * TRACK_RATE)) / TRACK_RATE
    true = np.interp(times, np.arange(len(moved.position)) / strokes.RATE, moved.position)
    return np.stack([times, true], axis=1)
