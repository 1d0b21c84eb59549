"""Recordings of bouncing balls made to be hard, with the truth beside them.

A drop has intervals d_{n+1} = d_n exp(rho + N(0, scatter^2)) until they fall under `shortest`; its
clicks are damped sinusoids whose loudness follows the impact speed. Hazards are added one by one:
a reverberant tail (exponentially decaying noise), voices (harmonic syllables, hisses and plosives),
every second bounce louder, several drops, and a loud clipped beginning. None of it uses the
synthesis that the package ships.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import signal

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hazards:
    reverberation_time: float = 0.0
    voice: float = 0.0  # peak of the voices over the peak of the loudest click
    alternate: float = 1.0  # loudness of every second bounce against the others
    drops: int = 1
    interleaved: bool = False
    clipped_start: bool = False
    noise: float = 0.003  # standard deviation over the peak of the loudest click
    scatter: float = 0.004
    sample_rate: float = 44100.0
    shortest: float = 0.04


@dataclass(frozen=True)
class Recording:
    samples: Array  # (1, frame)
    sample_rate: float
    drops: tuple[Array, ...]  # arrival times of each drop's bounces, s


KINDS = {
    "clean": Hazards(),
    "reverberant": Hazards(reverberation_time=0.5),
    "voices": Hazards(voice=0.5, reverberation_time=0.25),
    "loud voices": Hazards(voice=1.5, reverberation_time=0.25),
    "every second louder": Hazards(alternate=3.0, reverberation_time=0.3),
    "several drops": Hazards(drops=3, reverberation_time=0.3),
    "two balls at once": Hazards(drops=2, interleaved=True, reverberation_time=0.2),
    "clipped start": Hazards(clipped_start=True, reverberation_time=0.3),
    "collision noise": Hazards(scatter=0.05, reverberation_time=0.3),
    "8 kHz, noisy": Hazards(sample_rate=8000.0, noise=0.02, reverberation_time=0.3),
}


def record(hazards: Hazards, draw: np.random.Generator) -> Recording:
    rate = hazards.sample_rate
    drops, end = [], 0.4 + (1.0 if hazards.clipped_start else 0.0)
    for _ in range(hazards.drops):
        times = end + draw.uniform(0.0, 0.3) + bounce_times(hazards, draw)
        drops.append(times)
        end = (0.4 if hazards.interleaved else times[-1] + draw.uniform(0.5, 1.0)) + 0.0
    duration = max(times[-1] for times in drops) + 0.5
    frames = round(duration * rate)
    dry = np.zeros(frames)
    for times in drops:
        _add_clicks(dry, times, hazards, draw)
    peak = np.abs(dry).max()
    wet = dry + _reverberation(dry, hazards, draw)
    if hazards.voice > 0:
        speech = voices(frames, rate, draw)
        wet = wet + hazards.voice * peak * speech / np.abs(speech).max()
    wet = wet + hazards.noise * peak * draw.standard_normal(frames)
    if hazards.clipped_start:
        wet = _spoil_start(wet, peak, rate, draw)
    return Recording(wet[None], rate, tuple(drops))


def bounce_times(hazards: Hazards, draw: np.random.Generator) -> Array:
    rho = np.log(draw.uniform(0.6, 0.95))
    interval, times = draw.uniform(0.25, 0.6), [0.0]
    while interval > hazards.shortest and len(times) < 40:
        times.append(times[-1] + interval)
        interval *= np.exp(min(rho + hazards.scatter * draw.standard_normal(), -0.01))
    return np.array(times)


def voices(frames: int, rate: float, draw: np.random.Generator) -> Array:
    sound, place = np.zeros(frames), 0
    while place < frames:
        place += round(draw.uniform(0.05, 0.35) * rate)
        length = round(draw.uniform(0.08, 0.3) * rate)
        part = _syllable(length, rate, draw)
        part = part[: max(0, frames - place)]
        sound[place : place + len(part)] += part
        place += length
    return sound


def _syllable(length: int, rate: float, draw: np.random.Generator) -> Array:
    time = np.arange(length) / rate
    envelope = np.minimum(1.0, np.minimum(time, time[::-1]) / draw.uniform(0.005, 0.04))
    kind = draw.integers(4)
    if kind == 0:  # a hiss
        hiss = signal.sosfilt(
            signal.butter(2, min(3000.0, 0.3 * rate), "high", fs=rate, output="sos"),
            draw.standard_normal(length),
        )
        return np.asarray(0.1 * envelope * hiss)
    pitch = draw.uniform(90, 250) * (1 + 0.1 * np.sin(2 * np.pi * draw.uniform(2, 6) * time))
    pulses = signal.sawtooth(2 * np.pi * np.cumsum(pitch) / rate)
    for formant in (draw.uniform(300, 800), draw.uniform(900, 2200)):
        sections = signal.butter(1, [0.8 * formant, 1.2 * formant], "band", fs=rate, output="sos")
        pulses = pulses + 3 * signal.sosfilt(sections, pulses)
    dull = signal.butter(2, min(4000.0, 0.4 * rate), fs=rate, output="sos")
    voiced = envelope * signal.sosfilt(dull, pulses) / 3
    if kind == 1:  # a plosive in front of it
        burst = round(0.015 * rate)
        voiced[:burst] += draw.standard_normal(burst) * np.exp(-np.arange(burst) / (0.004 * rate))
    return np.asarray(voiced)


def _add_clicks(dry: Array, times: Array, hazards: Hazards, draw: np.random.Generator) -> None:
    rate = hazards.sample_rate
    top = min(12000.0, 0.4 * rate)
    modes = [(draw.uniform(1200, top), draw.uniform(0.3e-3, 2e-3), draw.normal()) for _ in range(5)]
    interval = np.diff(times, append=2 * times[-1] - times[-2])
    loudness = interval / interval[0] * np.exp(0.2 * draw.standard_normal(len(times)))
    loudness[1::2] *= hazards.alternate
    for time, level in zip(times, loudness, strict=True):
        first = int(np.ceil(time * rate))
        span = np.arange(first, min(first + round(0.02 * rate), len(dry))) / rate - time
        for frequency, decay, share in modes:
            wave = share * np.sin(2 * np.pi * frequency * span) * np.exp(-span / decay)
            dry[first : first + len(span)] += level * wave


def _reverberation(dry: Array, hazards: Hazards, draw: np.random.Generator) -> Array:
    if hazards.reverberation_time == 0:
        return np.zeros_like(dry)
    rate = hazards.sample_rate
    time = np.arange(round(hazards.reverberation_time * rate)) / rate
    tail = draw.standard_normal(len(time)) * 10 ** (-3 * time / hazards.reverberation_time)
    tail[: round(0.002 * rate)] = 0.0
    tail *= 0.8 / np.sqrt(np.sum(tail**2))
    tail[round(draw.uniform(0.003, 0.02) * rate)] += 0.3
    return np.asarray(signal.fftconvolve(dry, tail)[: len(dry)])


def _spoil_start(wet: Array, peak: float, rate: float, draw: np.random.Generator) -> Array:
    length = round(0.7 * rate)
    burst = draw.standard_normal(length)
    burst = signal.lfilter([1.0], [1.0, -0.9], burst)
    for place in draw.integers(0, length - 100, 6):
        burst[place : place + 90] += 20 * draw.standard_normal(90)
    spoilt = wet.copy()
    spoilt[:length] += 0.5 * peak * burst
    return np.clip(spoilt, -1.2 * peak, 1.2 * peak)
