"""Faults of a recording's channels that no location survives, by name.

- flat: constant; or, of three and more, constant but for one sample in a thousand or at one of the
  first impacts, or above 300 Hz a hundredth of the other channels: the last bit of a sound card
  without a microphone, whatever its offset and hum. Gains differ by far less than 40 dB.
- dead: no impact in it while the other channels have them. Impacts are seen where the largest
  sample of an impact's time exceeds 1.5 times what one quiet sample in a thousand exceeds; Gaussian
  noise does so once in some thousand impacts.
- copies: two channels with one signal. Above 2 kHz, where a wave is shorter than the distance of
  two microphones, backgrounds of two microphones are independent: noise of each and sound from all
  sides. Their correlation between impacts is far below 0.9, and that of copies above it.
"""

from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import signal

from ricochet.models.sound import delays
from ricochet.models.sound.arrays import Microphones

FLAT_SHARE = 1e-3  # of samples that may differ in a flat channel
FLAT_SIZE = 1e-2  # of the median channel's largest sample, where there are three or more
BEFORE = (-8.4e-3, -0.4e-3)  # s about an arrival: quiet
AFTER = 1.5e-3  # s that the click lasts at least
RISE = 1.5  # times the quiet's extreme
EXTREME = 0.999  # quantile of the quiet
FEWEST = 3  # impacts in other channels that make a channel without any dead
HUM = 300.0  # Hz; impacts are above
ABOVE = 2000.0  # Hz
TAIL = (-2e-3, 20e-3)  # s about an arrival that are no background
ALIKE = 0.9  # correlation of backgrounds
EQUAL = 1 - 1e-6  # correlation of whole channels where there is no background


class ChannelFaultError(ValueError):
    """A channel, or a pair of them, that is named and cannot be used."""


def check_flat(samples: Float[ndarray, "channel frame"], *, sample_rate: float) -> None:
    """Refuse channels that hold nothing.

    >>> check_flat(np.random.default_rng(0).standard_normal((3, 1000)), sample_rate=44100.0)

    Raises:
        ChannelFaultError: A channel is constant or all but constant.
    """
    middle = np.median(samples, axis=1, keepdims=True)
    differing = np.mean(samples != middle, axis=1)
    flat = differing == 0.0
    if len(samples) >= 3:
        flat |= differing < FLAT_SHARE
        size = np.abs(_above(samples, HUM, sample_rate)).max(axis=1)
        flat |= size < FLAT_SIZE * np.median(size)
    if flat.any():
        raise ChannelFaultError(f"{_named(flat)} flat, with next to no sound: is it connected?")


def check(
    samples: Float[ndarray, "channel frame"],
    arrivals: Float[ndarray, " impact"],
    *,
    microphones: Microphones,
) -> None:
    """Refuse channels without impacts, and channels that are one and the same.

    >>> array = Microphones(np.array([[0.0, 0, 0.1], [0.3, 0, 0.1], [0, 0.4, 0.1]]), 44100.0)
    >>> noise = 1e-3 * np.random.default_rng(0).standard_normal((3, 8820))
    >>> noise[:2, [1000, 3000, 7000]] += 1.0
    >>> try:
    ...     check(noise, np.array([1000, 3000, 7000]) / 44100.0, microphones=array)
    ... except ChannelFaultError as error:
    ...     print(error)
    channel 2 is dead, no impact in it while the others have them: is its microphone on?

    Args:
        arrivals: First arrivals of the impacts at any microphone, s.

    Raises:
        ChannelFaultError: A channel is dead, or flat at an impact, or two are copies.
    """
    _check_dead(samples, arrivals, microphones=microphones)
    _check_copies(samples, arrivals, sample_rate=microphones.sample_rate)


def _check_dead(
    samples: Float[ndarray, "channel frame"],
    arrivals: Float[ndarray, " impact"],
    *,
    microphones: Microphones,
) -> None:
    rate = microphones.sample_rate
    size = np.abs(_above(samples, HUM, rate))
    reach = delays.longest_delay(microphones) + AFTER
    quiet = _near(arrivals, BEFORE, frames=samples.shape[1], sample_rate=rate)
    if not quiet.any():
        return
    level = RISE * np.quantile(size[:, quiet], EXTREME, axis=1)
    rises = [
        size[:, _piece(time, reach, rate)].max(axis=1, initial=0.0) > level for time in arrivals
    ]
    seen = np.array(rises).reshape(len(arrivals), len(samples))
    others = seen.sum(axis=1, keepdims=True) - seen
    elsewhere = others >= max(2, (len(samples) - 1) / 2)
    still = [
        np.ptp(samples[:, _piece(time, reach, rate)], axis=1) == 0 for time in arrivals[:FEWEST]
    ]
    lost = (elsewhere[:FEWEST] & np.array(still)).any(axis=0)
    if lost.any():
        raise ChannelFaultError(f"{_named(lost)} flat at an impact that the others have")
    dead = (elsewhere.sum(axis=0) >= FEWEST) & ~(elsewhere & seen).any(axis=0)
    if dead.any():
        raise ChannelFaultError(
            f"{_named(dead)} dead, no impact in it while the others have them: "
            "is its microphone on?"
        )


def _check_copies(
    samples: Float[ndarray, "channel frame"],
    arrivals: Float[ndarray, " impact"],
    *,
    sample_rate: float,
) -> None:
    high = _above(samples, ABOVE, sample_rate)
    tails = _near(arrivals, TAIL, frames=samples.shape[1], sample_rate=sample_rate)
    for first, second in combinations(range(len(samples)), 2):
        pair = high[[first, second]]
        alike = abs(_correlation(pair[:, ~tails])) > ALIKE or abs(_correlation(pair)) > EQUAL
        if alike:
            raise ChannelFaultError(
                f"channels {first} and {second} are copies of one another: "
                "is one microphone recorded twice?"
            )


def _above(
    samples: Float[ndarray, "channel frame"], frequency: float, sample_rate: float
) -> Float[ndarray, "channel frame"]:
    """Return what is above a frequency, Hz."""
    sections = signal.butter(4, frequency, "highpass", fs=sample_rate, output="sos")
    return np.asarray(signal.sosfilt(sections, samples - samples[:, :1], axis=1))


def _correlation(pair: Float[ndarray, "2 frame"]) -> float:
    """Return the correlation about zero; 0 where a channel holds nothing."""
    energy = float(np.prod(np.sum(pair**2, axis=1)))
    return float(pair[0] @ pair[1]) / float(np.sqrt(energy)) if energy > 0.0 else 0.0


def _near(
    times: Float[ndarray, " impact"], span: tuple[float, float], *, frames: int, sample_rate: float
) -> Bool[ndarray, " frame"]:
    """Return which frames lie within a span, s, of any of the times."""
    near = np.zeros(frames, dtype=bool)
    for time in times:
        start, stop = (max(round((time + edge) * sample_rate), 0) for edge in span)
        near[start:stop] = True
    return near


def _piece(time: float, reach: float, sample_rate: float) -> slice:
    """Return the frames from an arrival on."""
    start = max(round((time + BEFORE[1]) * sample_rate), 0)
    return slice(start, max(round((time + reach) * sample_rate), start))


def _named(which: Bool[ndarray, " channel"]) -> str:
    numbers = [str(number) for number in np.flatnonzero(which)]
    if len(numbers) == 1:
        return f"channel {numbers[0]} is"
    return f"channels {', '.join(numbers[:-1])} and {numbers[-1]} are"
