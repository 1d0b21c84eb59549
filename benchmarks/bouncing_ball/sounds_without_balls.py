"""Sounds that are no ball's: speech, typing, steps, drums, notes, clocks, clicks at random, noise.

Speech is that of `models.sound.speech_synthesis`. Strokes of any kind are those of
`models.sound.impact_synthesis`, with modes drawn anew, in a room. Nothing of it is a recording of
anyone.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import signal

from ricochet.models.sound import impact_synthesis, speech_synthesis
from ricochet.models.sound.impact_synthesis import Click

Array = NDArray[np.float64]
RATE = 44100
"""Sample rate of all of them, Hz."""


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
    return speech_synthesis.speech(duration, sample_rate=RATE, draw=draw)


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
