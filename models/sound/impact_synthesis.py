"""Impacts at microphones: click, fractional delay, spreading, room and background noise.

One impact at time t and place s reaches microphone m at distance d_m as

    x_m(u) = (loudness / d_m) p(u - t - d_m / c),

p being a contact pulse, short and without steady part, then modes that ring and decay:

    P(w) = exp(-(w width)^2 / 2) A(w)
           { i w width + sum_k share_k w_k / (b width) / [(1 / decay_k + i w)^2 + w_k^2] }

with b = sqrt(2 pi e), so that share_k is a mode's amplitude over the pulse's peak, and A a smooth
roll-off below half the sample rate (the recorder's filter). The spectrum is known, so a delay of
any size is a phase factor and is exact. In a room every reflection is one more arrival
(`room_acoustics`).

The signal-to-noise ratio is the mean power of the direct click over its own length (the time that
holds 99 % of its energy), averaged over impacts and microphones, over the power of the background.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float
from numpy import ndarray
from scipy import signal

from ricochet.models.sound import room_acoustics
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.room_acoustics import Room

BLOCK = 2048  # frames of one rendered click
LEAD = 256  # frames kept before the click, for the roll-off's small forerunners


@dataclass(frozen=True)
class Click:
    """The sound of one impact, free of place and loudness.

    Attributes:
        width: Standard deviation of the contact pulse, s.
        frequencies: Frequencies of the ringing modes, Hz.
        decays: Times in which each mode falls by a factor e, s.
        shares: Amplitude of each mode over the contact pulse's peak.
    """

    width: float = 20e-6
    frequencies: tuple[float, ...] = (4300.0, 7100.0, 10900.0)
    decays: tuple[float, ...] = (1.5e-3, 1.2e-3, 1.0e-3)
    shares: tuple[float, ...] = (0.2, 0.5, 0.6)


@dataclass(frozen=True)
class Background:
    """Stationary background noise, given by exactly one of its two sizes.

    Attributes:
        level: Standard deviation of a sample, in the unit of the samples.
        snr: Mean power of the direct clicks over that of the noise, dB (see the module's text).
    """

    level: float | None = None
    snr: float | None = None

    def __post_init__(self) -> None:
        """Refuse both sizes or none."""
        if (self.level is None) == (self.snr is None):
            raise ValueError(f"give level or snr, not level={self.level} with snr={self.snr}")


def spectrum(
    click: Click, frequency: Float[ndarray, " bin"], *, sample_rate: float
) -> Complex[ndarray, " bin"]:
    """Return the click's Fourier transform, contact at 0, with a recorder's roll-off; any scale.

    >>> tones = np.array([500.0, 7100.0, 21400.0])  # a mode in the middle, the roll-off last
    >>> np.abs(spectrum(Click(), tones, sample_rate=44100.0)).round(1)
    array([0.3, 1.8, 0. ])
    """
    omega = 2 * np.pi * frequency
    total = 1j * omega * click.width
    modes = zip(click.frequencies, click.decays, click.shares, strict=True)
    for mode, decay, share in modes:
        natural = 2 * np.pi * mode
        resonance = natural / ((1 / decay + 1j * omega) ** 2 + natural**2)
        total = total + share * resonance / (np.sqrt(2 * np.pi * np.e) * click.width)
    roll_off = np.clip((0.485 - frequency / sample_rate) / (0.485 - 0.375), 0.0, 1.0)
    taper = np.sin(0.5 * np.pi * roll_off) ** 2
    return np.asarray(total * np.exp(-0.5 * (omega * click.width) ** 2) * taper)


def waveform(
    click: Click, offsets: Float[ndarray, "*batch"], *, sample_rate: float
) -> Float[ndarray, "*batch frame"]:
    """Return BLOCK frames of clicks of peak 1 whose contact falls anywhere between samples.

    >>> waveform(Click(), np.array([0.0, 1e-5]), sample_rate=44100.0).shape
    (2, 2048)

    Args:
        offsets: Time of contact after frame LEAD, s; below BLOCK / 4 frames.
    """
    frequency = np.fft.rfftfreq(BLOCK, 1 / sample_rate)
    still = spectrum(click, frequency, sample_rate=sample_rate)
    delay = np.asarray(offsets)[..., None] + LEAD / sample_rate
    moved = still * np.exp(-2j * np.pi * frequency * delay)
    return np.asarray(np.fft.irfft(moved, BLOCK) / _peak(still))


def length(click: Click, *, sample_rate: float) -> float:
    """Return the shortest time from the click's start that holds 99 % of its energy, s.

    >>> round(1e3 * length(Click(), sample_rate=44100.0), 1)  # ms
    2.7
    """
    energy = np.cumsum(waveform(click, np.zeros(()), sample_rate=sample_rate) ** 2)
    low, high = np.searchsorted(energy, np.array([0.0005, 0.9905]) * energy[-1])
    return float(high - low) / sample_rate


def noise_level(
    snr: float,
    loudness: Float[ndarray, " impact"],
    distances: Float[ndarray, "impact channel"],
    *,
    click: Click,
    sample_rate: float,
) -> float:
    """Turn a signal-to-noise ratio into the standard deviation of a sample of the background.

    >>> one = {"loudness": np.ones(1), "distances": np.ones((1, 1)), "click": Click()}
    >>> near = noise_level(20.0, sample_rate=44100.0, **one)
    >>> round(near / noise_level(40.0, sample_rate=44100.0, **one), 6)
    10.0

    Args:
        snr: dB (see the module's text).
        loudness: Peak of each click at 1 m.
        distances: From each impact to each microphone, m.
    """
    still = waveform(click, np.zeros(()), sample_rate=sample_rate)
    frames = length(click, sample_rate=sample_rate) * sample_rate
    power = 0.99 * np.sum(still**2) / frames
    mean_power = power * np.mean((np.asarray(loudness)[:, None] / distances) ** 2)
    return float(np.sqrt(mean_power * 10 ** (-snr / 10)))


def render(
    times: Float[ndarray, " impact"],
    positions: Float[ndarray, "impact 3"],
    loudness: Float[ndarray, " impact"],
    *,
    microphones: Microphones,
    duration: float,
    draw: np.random.Generator,
    click: Click | None = None,
    room: Room | None = None,
    noise: Background | None = None,
) -> Float[ndarray, "channel frame"]:
    """Render what the microphones record, one row each.

    >>> array = Microphones(np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.1]]), 44100.0)
    >>> impacts = np.array([0.05]), np.array([[0.1, 0.1, 0.0]]), np.ones(1)
    >>> draw = np.random.default_rng(0)
    >>> render(*impacts, microphones=array, duration=0.1, draw=draw).shape
    (2, 4410)

    Args:
        times, positions: Of emission after the recording's start, s, and of the impacts, m.
        loudness: Peak of each click at 1 m, in the unit of the samples.

    Raises:
        ValueError: Lengths that disagree, or an impact or a microphone outside the room.
    """
    click = click or Click()
    times, loudness = np.asarray(times, np.float64), np.asarray(loudness, np.float64)
    positions = np.asarray(positions, np.float64).reshape(-1, 3)
    if not len(times) == len(positions) == len(loudness):
        raise ValueError(f"lengths differ: {len(times)}, {len(positions)}, {len(loudness)}")
    frames = round(duration * microphones.sample_rate)
    samples = np.zeros((len(microphones.positions), frames))
    between = positions[:, None] - microphones.positions
    distances = np.linalg.norm(between, axis=2)
    if room is None:
        _add_direct(samples, times, distances, loudness, click=click, microphones=microphones)
    elif len(times):
        _add_room(
            samples, times, positions, loudness, click=click, microphones=microphones, room=room
        )
    if noise is not None:
        level = noise.level
        if noise.snr is not None:
            level = noise_level(
                noise.snr, loudness, distances, click=click, sample_rate=microphones.sample_rate
            )
        samples += float(level or 0.0) * draw.standard_normal(samples.shape)
    return samples


def add_arrivals(
    channel: Float[ndarray, " frame"],
    times: Float[ndarray, " arrival"],
    heights: Float[ndarray, " arrival"],
    *,
    click: Click,
    sample_rate: float,
) -> None:
    """Add a click for each arrival at one microphone, in place, dropping what lies outside.

    >>> channel = np.zeros(4410)
    >>> add_arrivals(channel, np.array([0.05]), np.ones(1), click=Click(), sample_rate=44100.0)
    >>> bool(abs(np.abs(channel).argmax() / 44100.0 - 0.05) < 1e-3)
    True

    Args:
        times: When each contact's sound arrives, s after the first sample.
        heights: Peak of each click; a negative one takes an arrival away.
    """
    whole = np.floor(times * sample_rate).astype(int)
    clicks = waveform(click, times - whole / sample_rate, sample_rate=sample_rate)
    for start, piece in zip(whole, heights[:, None] * clicks, strict=True):
        _add(channel, piece, start=int(start) - LEAD)


def _peak(still: Complex[ndarray, " bin"]) -> float:
    """Return the largest size of the click on a grid eight times finer than the samples."""
    fine = np.zeros(4 * BLOCK + 1, dtype=complex)
    fine[: len(still)] = still * np.exp(-2j * np.pi * np.arange(len(still)) * LEAD / BLOCK)
    return float(8 * np.abs(np.fft.irfft(fine, 8 * BLOCK)).max())


def _add_direct(
    samples: Float[ndarray, "channel frame"],
    times: Float[ndarray, " impact"],
    distances: Float[ndarray, "impact channel"],
    loudness: Float[ndarray, " impact"],
    *,
    click: Click,
    microphones: Microphones,
) -> None:
    """Add every impact's direct sound to the samples, in place."""
    arrivals = times[:, None] + distances / microphones.speed_of_sound
    heights = loudness[:, None] / distances
    for channel, row in enumerate(samples):
        add_arrivals(
            row,
            arrivals[:, channel],
            heights[:, channel],
            click=click,
            sample_rate=microphones.sample_rate,
        )


def _add_room(
    samples: Float[ndarray, "channel frame"],
    times: Float[ndarray, " impact"],
    positions: Float[ndarray, "impact 3"],
    loudness: Float[ndarray, " impact"],
    *,
    click: Click,
    microphones: Microphones,
    room: Room,
) -> None:
    """Add every impact and all its reflections to the samples, in place."""
    rate = microphones.sample_rate
    responses, lag = room_acoustics.responses(positions, microphones=microphones, room=room)
    whole = np.floor(times * rate).astype(int)
    clicks = waveform(click, times - whole / rate, sample_rate=rate) * loudness[:, None]
    for impact, channel in np.ndindex(len(times), len(samples)):
        arrived = signal.fftconvolve(clicks[impact], responses[channel][impact])
        _add(samples[channel], arrived, start=int(whole[impact]) - LEAD - lag)


def _add(samples: Float[ndarray, " frame"], piece: Float[ndarray, " piece"], *, start: int) -> None:
    """Add a piece to the samples from frame `start`, in place, dropping what lies outside."""
    low, high = max(start, 0), min(start + len(piece), len(samples))
    if low < high:
        samples[low:high] += piece[low - start : high - start]
