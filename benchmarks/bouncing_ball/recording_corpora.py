"""Recordings to try a bare calibration on: balls under stress, and sounds without any ball.

A ball falls through air (`drop_times`) on a contact of one of the laws of `contact` with scatter;
its clicks are those of `models.sound.impact_synthesis` with modes drawn anew, as loud as a power
of the impact speed. Each stress of `STRESSES` spoils a clean recording in one way. What is no ball
is made by `sounds_without_balls`, or is a ball played backwards.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import soundfile
import torch
from numpy.typing import NDArray
from scipy import signal

from benchmarks.bouncing_ball import sounds_without_balls as sounds
from benchmarks.bouncing_ball.sounds_without_balls import RATE
from ricochet.models.systems.bouncing_ball import air, contact
from ricochet.models.systems.bouncing_ball.calibration import drop_times

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Clip:
    """A recording; of a ball also its restitution by speed, its audible bounces, and its size."""

    name: str
    samples: Array
    sample_rate: int
    restitution: Callable[[float], float] | None = None
    times: Array | None = None
    size: air.Size | None = None


def ball(draw: np.random.Generator, *, name: str = "clean", lead: float = 0.4) -> Clip:
    """Return a clean recording of one ball, or of two drops of it."""
    law = [contact.constant, contact.linear, contact.viscoelastic][draw.integers(3)]
    e = torch.tensor(draw.uniform(0.6, 0.94), dtype=torch.float64)
    slope = torch.tensor(abs(draw.normal(0.0, 0.02)), dtype=torch.float64)
    size = list(air.COMMON_BALLS.values())[draw.integers(len(air.COMMON_BALLS))]
    drag, scatter = air.drag(size) * draw.uniform(0.8, 1.2), np.exp(draw.normal(-6.0, 0.7))

    def restitution(speed: float) -> float:
        return float(law(e, slope, torch.tensor(speed, dtype=torch.float64)))

    drops, start = [], lead
    for _ in range(1 + int(draw.uniform() < 0.3)):
        times, speeds = _fall(restitution, float(drag), float(scatter), draw)
        drops.append((start + times, speeds))
        start += times[-1] + draw.uniform(0.5, 1.2)
    times, speeds = (np.concatenate(part) for part in zip(*drops, strict=True))
    loudness = (speeds / speeds.max()) ** draw.uniform(0.9, 1.5)
    loudness = loudness * np.exp(draw.uniform(0.05, 0.3) * draw.standard_normal(len(times)))
    samples = sounds.clicks(times, loudness, times[-1] + 0.5, click=sounds.random_click(draw))
    samples = sounds.room(samples, draw.uniform(0.05, 0.3), draw, level=0.3)
    samples = samples / np.abs(samples).max() * draw.uniform(0.1, 0.9)
    quiet = 10.0 ** draw.uniform(-4.0, -2.7)
    samples = samples + quiet * draw.standard_normal(len(samples))
    return Clip(name, samples, RATE, restitution, times, size)


def _fall(
    restitution: Callable[[float], float], drag: float, scatter: float, draw: np.random.Generator
) -> tuple[Array, Array]:
    """Return times, s, and speeds, m/s, of the impacts of a drop from 0.1 to 1.2 m."""
    speed, time, found = np.sqrt(2.0 * 9.80665 * draw.uniform(0.1, 1.2)), 0.0, []
    while speed > 0.12 and len(found) < 50:
        found.append((time, speed))
        away = restitution(speed) * speed * (1.0 + scatter * draw.standard_normal())
        time += float(drop_times.duration(np.array(away), np.array(drag)))
        speed = float(drop_times.impact(np.array(away), np.array(drag)))
    times, speeds = np.array(found).T
    return times, speeds


def reversed_ball(draw: np.random.Generator) -> Array:
    """A ball played backwards."""
    return np.ascontiguousarray(ball(draw).samples[::-1])


NO_BALLS: dict[str, Callable[[np.random.Generator], Array]] = {
    "speech": lambda draw: sounds.speech(float(draw.uniform(3.0, 9.0)), draw),
    "one word": lambda draw: sounds.speech(float(draw.uniform(0.7, 1.2)), draw),
    "typing": sounds.typing,
    "steps": sounds.steps,
    "metronome": sounds.metronome,
    "drums": sounds.drums,
    "notes": sounds.notes,
    "random clicks": sounds.random_clicks,
    "few clicks": sounds.few_clicks,
    "noise": sounds.noise,
    "handled": sounds.handled,
    "reversed ball": reversed_ball,
}


def no_ball(kind: str, draw: np.random.Generator) -> Clip:
    """Return a recording without a ball."""
    samples = NO_BALLS[kind](draw)
    hum = 10.0 ** draw.uniform(-4.0, -2.5)
    return Clip(kind, samples + hum * draw.standard_normal(len(samples)), RATE)


def _noisy(clip: Clip, draw: np.random.Generator, decibels: float) -> Clip:
    """Noise against the mean power of the clicks over the 3 ms that hold them, loud half alone."""
    assert clip.times is not None
    frames = np.array([round(time * RATE) for time in clip.times[: len(clip.times) // 2 + 1]])
    parts = np.array([np.mean(clip.samples[frame : frame + 132] ** 2) for frame in frames])
    level = np.sqrt(parts.mean() * 10.0 ** (-decibels / 10.0))
    return replace(clip, samples=clip.samples + level * draw.standard_normal(len(clip.samples)))


def _coded(clip: Clip, form: str, subtype: str, rate: int) -> Clip:
    divisor = np.gcd(RATE, rate)
    sound = signal.resample_poly(clip.samples, rate // divisor, RATE // divisor)
    buffer = io.BytesIO()
    soundfile.write(buffer, np.clip(sound, -1, 1), rate, format=form, subtype=subtype)
    buffer.seek(0)
    found, rate = soundfile.read(buffer)
    return replace(clip, samples=np.asarray(found), sample_rate=rate)


def _spoken_before(clip: Clip, draw: np.random.Generator) -> Clip:
    assert clip.times is not None
    voice = sounds.speech(2.0, draw) * draw.uniform(0.3, 1.5) * np.abs(clip.samples).max()
    return replace(clip, samples=np.concatenate([voice, clip.samples]), times=clip.times + 2.0)


def _spoken_over(clip: Clip, draw: np.random.Generator, share: float) -> Clip:
    voice = sounds.speech(len(clip.samples) / RATE, draw)[: len(clip.samples)]
    samples = clip.samples.copy()
    samples[: len(voice)] += share * np.abs(samples).max() * voice / np.abs(voice).max()
    return replace(clip, samples=samples)


def _cut(clip: Clip, draw: np.random.Generator) -> Clip:
    """Begin in the middle of the first bounces, and end before the last."""
    assert clip.times is not None
    first = draw.integers(1, 4)
    begin = 0.5 * (clip.times[first - 1] + clip.times[first])
    last = min(first + int(draw.integers(6, 14)), len(clip.times) - 1)
    frames = slice(round(begin * RATE), round((clip.times[last] + 0.02) * RATE))
    return replace(clip, samples=clip.samples[frames], times=clip.times[first : last + 1] - begin)


def _clipped(clip: Clip, draw: np.random.Generator) -> Clip:
    gain = draw.uniform(2.0, 10.0) / np.abs(clip.samples).max()
    return replace(clip, samples=np.clip(gain * clip.samples, -1.0, 1.0))


def _reverberant(clip: Clip, draw: np.random.Generator) -> Clip:
    samples = sounds.room(clip.samples, draw.uniform(0.4, 1.0), draw, level=draw.uniform(0.3, 1.0))
    return replace(clip, samples=0.7 * samples / np.abs(samples).max())


STRESSES: dict[str, Callable[[Clip, np.random.Generator], Clip]] = {
    "clean": lambda clip, draw: clip,
    "mu-law 8 kHz": lambda clip, draw: _coded(clip, "WAV", "ULAW", 8000),
    "16 kHz": lambda clip, draw: _coded(clip, "WAV", "PCM_16", 16000),
    "ogg": lambda clip, draw: _coded(clip, "OGG", "VORBIS", 44100),
    "mp3": lambda clip, draw: _coded(clip, "MP3", "MPEG_LAYER_III", 44100),
    "noise 20 dB": lambda clip, draw: _noisy(clip, draw, 20.0),
    "noise 10 dB": lambda clip, draw: _noisy(clip, draw, 10.0),
    "noise 0 dB": lambda clip, draw: _noisy(clip, draw, 0.0),
    "reverberant": _reverberant,
    "speech before": _spoken_before,
    "speech over, -10 dB": lambda clip, draw: _spoken_over(clip, draw, 0.3),
    "speech over, 0 dB": lambda clip, draw: _spoken_over(clip, draw, 1.0),
    "cut": _cut,
    "clipped": _clipped,
}


def stressed(kind: str, draw: np.random.Generator) -> Clip:
    """Return a ball's recording under a stress."""
    return replace(STRESSES[kind](ball(draw), draw), name=kind)
