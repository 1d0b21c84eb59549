"""Speech-like sound: syllables of one voice, none of it a recording of anyone.

A syllable is a train of pulses of a glottis at a gliding pitch f,

    phase = int f dt,    pulse where the phase passes a whole number,

tilted by 1 / (1 - 0.96 / z) and sent through three resonances, the formants (source and filter:
Fant, Acoustic Theory of Speech Production, 1960), with an onset and an end. A third of them begin
with a hiss, noise above a frequency drawn, and a third with a plosive, noise that decays within
milliseconds. They follow at three to six a second, with pauses.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import signal

PEAK = 0.5
"""Largest sample of a piece of speech."""
_FORMANTS = ((300, 800), (900, 2300), (2300, 3200))  # Hz, between which each is drawn
_PAUSE = 0.15  # share of syllables with a pause after


def speech(
    duration: float, *, sample_rate: float, draw: np.random.Generator
) -> Float[ndarray, " frame"]:
    """Return one voice for a time, s, with `PEAK` as the largest sample.

    >>> sound = speech(1.0, sample_rate=44100.0, draw=np.random.default_rng(0))
    >>> sound.shape, float(abs(sound).max())
    ((44100,), 0.5)

    Args:
        sample_rate: Hz, at least 16000.

    Raises:
        ValueError: A duration too short for a syllable, or too low a sample rate.
    """
    if duration < 0.5:
        raise ValueError(f"duration must be at least 0.5 s, found {duration:g}")
    if sample_rate < 16_000.0:
        raise ValueError(f"sample_rate must be at least 16000 Hz, found {sample_rate:g}")
    samples, at = np.zeros(round(duration * sample_rate)), draw.uniform(0.05, 0.3)
    pitch, rate = draw.uniform(85.0, 240.0), draw.uniform(3.0, 6.5)
    while at < duration - 0.1:
        long = draw.uniform(0.5, 1.2) / rate
        part = _syllable(long, pitch * draw.uniform(0.85, 1.2), sample_rate, draw)
        first = round(at * sample_rate)
        part = part[: len(samples) - first]
        samples[first : first + len(part)] += draw.uniform(0.4, 1.0) * part
        at += long * draw.uniform(0.9, 1.15)
        if draw.uniform() < _PAUSE:
            at += draw.uniform(0.2, 0.7)
    return np.asarray(PEAK * samples / np.abs(samples).max())


def _syllable(
    long: float, pitch: float, sample_rate: float, draw: np.random.Generator
) -> Float[ndarray, " frame"]:
    frames = round(long * sample_rate)
    time = np.arange(frames) / sample_rate
    sound = _voiced(time, pitch, sample_rate, draw)
    lead = round(draw.uniform(0.03, 0.09) * sample_rate)
    kind = draw.integers(3)
    if kind == 0 and lead < frames:
        hiss = _hiss(lead, sample_rate, draw)
        sound[:lead] = sound[:lead] * np.linspace(0.0, 1.0, lead) ** 2 + 0.2 * hiss
    if kind == 1:
        plosive = draw.standard_normal(frames) * np.exp(-time / draw.uniform(0.003, 0.012))
        sound += draw.uniform(0.1, 0.5) * plosive
    return np.asarray(sound)


def _voiced(
    time: Float[ndarray, " frame"], pitch: float, sample_rate: float, draw: np.random.Generator
) -> Float[ndarray, " frame"]:
    """Send the glottis's pulses through the formants."""
    glide = pitch * (1.0 + draw.uniform(-0.2, 0.1) * time / time[-1])
    pulses = np.diff(np.floor(np.cumsum(glide) / sample_rate), prepend=0.0)
    voiced = signal.lfilter([1.0], [1.0, -0.96], pulses)
    for low, high in _FORMANTS:
        centre = draw.uniform(low, high)
        peak = signal.iirpeak(centre, centre / draw.uniform(60.0, 130.0), fs=sample_rate)
        voiced = voiced + 4.0 * signal.lfilter(*peak, voiced)
    onset, end = draw.uniform(0.008, 0.05), draw.uniform(0.03, 0.08)
    envelope = np.minimum(1.0, time / onset) * np.minimum(1.0, time[::-1] / end)
    return np.asarray(voiced / np.abs(voiced).max() * envelope)


def _hiss(lead: int, sample_rate: float, draw: np.random.Generator) -> Float[ndarray, " frame"]:
    band = signal.butter(2, draw.uniform(2500.0, 6000.0), "high", fs=sample_rate, output="sos")
    return np.asarray(signal.sosfilt(band, draw.standard_normal(lead)) * np.hanning(lead))
