"""Recordings to try a bare calibration on: balls under stress, and sounds without any ball.

A ball falls through air (`drop_times`) on a contact of one of the laws of `contact` with scatter;
its clicks are those of `models.sound.impact_synthesis` with modes drawn anew, as loud as a power
of the impact speed. Each stress of `STRESSES` spoils a clean recording in one way. What is no ball
is speech (pulses of a glottis through formants, by syllables), typing, steps, drums, notes, clocks,
clicks at random, noise, and balls played backwards. Nothing of it is a recording of anyone.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import soundfile
import torch
from numpy.typing import NDArray
from scipy import signal

from ricochet.models.sound import impact_synthesis
from ricochet.models.sound.impact_synthesis import Click
from ricochet.models.systems.bouncing_ball import air, contact
from ricochet.models.systems.bouncing_ball.calibration import drop_times

Array = NDArray[np.float64]
RATE = 44100


@dataclass(frozen=True)
class Clip:
    """A recording; of a ball also its restitution by speed, and the bounces that can be heard."""

    name: str
    samples: Array
    sample_rate: int
    restitution: Callable[[float], float] | None = None
    times: Array | None = None


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
    samples = clicks(times, loudness, times[-1] + 0.5, click=random_click(draw))
    samples = room(samples, draw.uniform(0.05, 0.3), draw, level=0.3)
    samples = samples / np.abs(samples).max() * draw.uniform(0.1, 0.9)
    quiet = 10.0 ** draw.uniform(-4.0, -2.7)
    return Clip(
        name, samples + quiet * draw.standard_normal(len(samples)), RATE, restitution, times
    )


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


def random_click(draw: np.random.Generator) -> Click:
    """Return the sound of some ball on some surface."""
    number = int(draw.integers(2, 5))
    return Click(
        width=float(np.exp(draw.uniform(np.log(15e-6), np.log(60e-6)))),
        frequencies=tuple(draw.uniform(800.0, 9000.0, number).tolist()),
        decays=tuple(np.exp(draw.uniform(np.log(0.8e-3), np.log(8e-3), number)).tolist()),
        shares=tuple(draw.uniform(0.2, 0.7, number).tolist()),
    )


def clicks(times: Array, loudness: Array, duration: float, *, click: Click) -> Array:
    """Return one channel of clicks at any times, s."""
    samples = np.zeros(round(duration * RATE))
    impact_synthesis.add_arrivals(samples, times, loudness, click=click, sample_rate=RATE)
    return samples


def room(samples: Array, decay: float, draw: np.random.Generator, *, level: float) -> Array:
    """Add the tail of a room that falls by 60 dB in `decay`, s, with `level` of the energy."""
    time = np.arange(round(decay * RATE)) / RATE
    tail = draw.standard_normal(len(time)) * 10.0 ** (-3.0 * time / decay)
    tail[: round(draw.uniform(0.002, 0.008) * RATE)] = 0.0
    for _ in range(4):
        tail[int(draw.uniform(0.003, 0.03) * RATE)] += draw.uniform(5.0, 15.0) * draw.choice(
            [-1, 1]
        )
    tail *= np.sqrt(level / np.sum(tail**2))
    return samples + signal.fftconvolve(samples, tail)[: len(samples)]


def speech(duration: float, draw: np.random.Generator) -> Array:
    """Return syllables of one voice: pulses of a glottis through formants, hisses, plosives."""
    samples, at = np.zeros(round(duration * RATE)), draw.uniform(0.05, 0.3)
    pitch, rate = draw.uniform(85.0, 240.0), draw.uniform(3.0, 6.5)
    while at < duration - 0.1:
        long = draw.uniform(0.5, 1.2) / rate
        part = _syllable(round(long * RATE), pitch * draw.uniform(0.85, 1.2), draw)
        first = round(at * RATE)
        part = part[: len(samples) - first]
        samples[first : first + len(part)] += draw.uniform(0.4, 1.0) * part
        at += long * draw.uniform(0.9, 1.15) + (
            draw.uniform(0.2, 0.7) if draw.uniform() < 0.15 else 0
        )
    return 0.5 * samples / np.abs(samples).max()


def _syllable(frames: int, pitch: float, draw: np.random.Generator) -> Array:
    time = np.arange(frames) / RATE
    glide = pitch * (1.0 + draw.uniform(-0.2, 0.1) * time / time[-1])
    phase = np.cumsum(glide) / RATE
    pulses = np.diff(np.floor(phase), prepend=0.0)
    voiced = signal.lfilter([1.0], [1.0, -0.96], pulses)
    for low, high in ((300, 800), (900, 2300), (2300, 3200)):
        centre = draw.uniform(low, high)
        peak = signal.iirpeak(centre, centre / draw.uniform(60.0, 130.0), fs=RATE)
        voiced = voiced + 4.0 * signal.lfilter(*peak, voiced)
    onset, end = draw.uniform(0.008, 0.05), draw.uniform(0.03, 0.08)
    envelope = np.minimum(1.0, time / onset) * np.minimum(1.0, time[::-1] / end)
    sound = voiced / np.abs(voiced).max() * envelope
    lead = round(draw.uniform(0.03, 0.09) * RATE)
    kind = draw.integers(3)
    if kind == 0 and lead < frames:  # a hiss
        band = signal.butter(2, draw.uniform(2500.0, 6000.0), "high", fs=RATE, output="sos")
        hiss = signal.sosfilt(band, draw.standard_normal(lead)) * np.hanning(lead)
        sound[:lead] = sound[:lead] * np.linspace(0.0, 1.0, lead) ** 2 + 0.2 * hiss
    if kind == 1:  # a plosive
        burst = draw.standard_normal(frames) * np.exp(-time / draw.uniform(0.003, 0.012))
        sound += draw.uniform(0.1, 0.5) * burst
    return np.asarray(sound)


def _sequence(times: Array, draw: np.random.Generator, *, spread: float, kinds: int = 1) -> Array:
    """Return strokes at given times, each of one of some kinds, in a room."""
    duration = float(times[-1]) + 0.4
    samples = np.zeros(round(duration * RATE))
    which = draw.integers(kinds, size=len(times))
    for kind in range(kinds):
        here = times[which == kind]
        if len(here):
            loud = np.exp(spread * draw.standard_normal(len(here)) - 0.5 * kind)
            samples += clicks(here, loud, duration, click=random_click(draw))
    samples = room(samples, draw.uniform(0.05, 0.5), draw, level=draw.uniform(0.1, 0.6))
    return 0.5 * samples / np.abs(samples).max()


def typing(draw: np.random.Generator) -> Array:
    """Keys pressed and let go, with pauses between words."""
    times, at = [], 0.4
    while at < 8.0:
        times += [at, at + draw.uniform(0.05, 0.11)]
        at += np.exp(draw.normal(np.log(0.17), 0.35)) + (
            draw.exponential(0.5) * (draw.uniform() < 0.15)
        )
    return _sequence(np.sort(times), draw, spread=0.4, kinds=3)


def steps(draw: np.random.Generator) -> Array:
    """Heel and toe of someone who walks past."""
    period = draw.uniform(0.45, 0.65)
    heels = 0.4 + period * np.arange(14) + 0.02 * draw.standard_normal(14)
    toes = heels + draw.uniform(0.06, 0.14) + 0.01 * draw.standard_normal(14)
    return _sequence(np.sort(np.concatenate([heels, toes])), draw, spread=0.3, kinds=2)


def metronome(draw: np.random.Generator) -> Array:
    """A clock, with or without a jitter."""
    period, jitter = draw.uniform(0.2, 1.0), draw.choice([0.0, 1e-3, 0.01])
    count = int(9.0 / period)
    times = 0.4 + period * np.arange(count) + jitter * draw.standard_normal(count)
    return _sequence(np.sort(times), draw, spread=0.1)


def drums(draw: np.random.Generator) -> Array:
    """A bar of a drum pattern, repeated by a hand, at a tempo that may drift."""
    beat = draw.uniform(0.09, 0.2)
    pattern = np.flatnonzero(draw.uniform(size=16) < 0.5)
    if len(pattern) < 3:
        pattern = np.array([0, 4, 8, 12])
    grid = (np.arange(4)[:, None] * 16 + pattern).ravel()
    times = 0.4 + grid * beat * (1.0 - draw.uniform(0.0, 0.15) * grid / 64)
    return _sequence(
        np.sort(times + 0.004 * draw.standard_normal(len(times))), draw, spread=0.4, kinds=3
    )


def notes(draw: np.random.Generator) -> Array:
    """A tune of plucked strings."""
    beat, at = draw.uniform(0.12, 0.3), 0.4
    samples = np.zeros(round(9.0 * RATE))
    while at < 8.0:
        time = np.arange(round(min(1.0, 8.9 - at) * RATE)) / RATE
        pitch = 110.0 * 2.0 ** (draw.integers(0, 30) / 12.0)
        tone = sum(
            np.sin(2 * np.pi * pitch * h * time) / h * np.exp(-time * h * 3) for h in range(1, 9)
        )
        first = round(at * RATE)
        samples[first : first + len(time)] += (
            draw.uniform(0.4, 1.0) * tone * np.minimum(1, time / 2e-3)
        )
        at += beat * draw.choice([1, 1, 2, 3]) + 0.005 * draw.standard_normal()
    return 0.5 * samples / np.abs(samples).max()


def random_clicks(draw: np.random.Generator) -> Array:
    """Clicks of a Poisson process."""
    count = int(draw.integers(8, 60))
    return _sequence(np.sort(draw.uniform(0.3, 8.0, count)), draw, spread=0.4)


def few_clicks(draw: np.random.Generator) -> Array:
    """Three to seven clicks at random."""
    return _sequence(np.sort(draw.uniform(0.3, 3.0, draw.integers(3, 8))), draw, spread=0.4)


def noise(draw: np.random.Generator) -> Array:
    """Noise whose level wavers."""
    slow = np.exp(
        0.5 * np.interp(np.arange(6 * RATE), np.linspace(0, 6 * RATE, 40), draw.normal(size=40))
    )
    colour = signal.lfilter([1.0], [1.0, -draw.uniform(0.0, 0.97)], draw.standard_normal(6 * RATE))
    return np.asarray(0.2 * slow * colour / np.abs(colour).max())


def handled(draw: np.random.Generator) -> Array:
    """Something knocked over: a burst of contacts, then silence."""
    times = 0.5 + np.sort(draw.gamma(2.0, 0.25, int(draw.integers(8, 25))))
    return _sequence(times, draw, spread=0.8, kinds=3)


def reversed_ball(draw: np.random.Generator) -> Array:
    """A ball played backwards."""
    return np.ascontiguousarray(ball(draw).samples[::-1])


NO_BALLS: dict[str, Callable[[np.random.Generator], Array]] = {
    "speech": lambda draw: speech(float(draw.uniform(3.0, 9.0)), draw),
    "one word": lambda draw: speech(float(draw.uniform(0.7, 1.2)), draw),
    "typing": typing,
    "steps": steps,
    "metronome": metronome,
    "drums": drums,
    "notes": notes,
    "random clicks": random_clicks,
    "few clicks": few_clicks,
    "noise": noise,
    "handled": handled,
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
    voice = speech(2.0, draw) * draw.uniform(0.3, 1.5) * np.abs(clip.samples).max()
    return replace(clip, samples=np.concatenate([voice, clip.samples]), times=clip.times + 2.0)


def _spoken_over(clip: Clip, draw: np.random.Generator, share: float) -> Clip:
    voice = speech(len(clip.samples) / RATE, draw)[: len(clip.samples)]
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
    samples = room(clip.samples, draw.uniform(0.4, 1.0), draw, level=draw.uniform(0.3, 1.0))
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
