r"""Onsets by their likeness: where the click of one ball comes again, in noise or under a voice.

Onsets that `onsets` finds in any sound give the click T (`click_shapes`); with the whitened sound x
and y(t) = <x(t + .), T>, the matched filter of a click in white noise (North 1943), the log
likelihood ratio of "this click is here" is

    z^2 / 2,  z = y / sd(y),      or      -(N / 2) log(1 - r^2),  r = y / |x(t + .)|,

against noise of the variance of the last tenths of a second, or of that of the window with its N
degrees of freedom. The lesser counts: a voice is louder than what was before it, but it is not the
click. The time has a density proportional to exp(z(t)^2 / 2), whose mean and deviation are stated:
the next wave of a ring counts as much as the noise allows it.

A click is judged without its own share in T, since noise is like itself. Echoes come at one delay
after many clicks and leave. Voices pulse: what soon follows its like is no click,
and an onset soon after another is not asked for one.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from scipy import signal

from ricochet.models.sound import click_shapes
from ricochet.models.sound.click_shapes import LAG, LEAD
from ricochet.models.sound.onsets import DEAD_TIME, PEAK_SHARE, Onsets

LEAST_MATCH = 5.0
"""Least z: noise passes it once in a minute."""
LIKENESSES = (0.2, 0.45)
"""Least r: one for clicks as loud as the noise, one for clicks among voices."""
CLUSTERS = 3
"""Kinds of click that are tried."""
APART = 0.03
"""Least time to the onset before, s, of one that is asked for its click."""
MOST_ASKED, MOST_FOUND = 60, 400
"""Strongest onsets that are asked, and that are returned."""
ECHO_SPAN, ECHO_WIDTH, ECHO_SHARE = 0.06, 2e-4, 0.15
"""Longest delay of an echo and half its spread, s; clicks that have it, as a share of all."""
PULSES = 0.016
"""Longest time between two pulses of a voice, s."""
_BLOCK = 0.05  # s, over which the noise of y is steady
_ROUNDS = 2
_FIRM = (7.0, 0.3)  # least z and r of clicks from which T is learnt again
_LEARNT = 25
_FINE = 8  # places a frame at which a time is weighed
_PIECE = 2**20  # places of y that are found at a time


def detect(
    samples: Float[ndarray, "channel frame"], sample_rate: float, heard: Onsets
) -> tuple[Onsets, ...]:
    """Return the onsets of each kind of click, at each of two strictnesses.

    >>> from ricochet.models.sound import onsets
    >>> sound = 1e-3 * np.random.default_rng(0).standard_normal((1, 8000))
    >>> detect(sound, 8000.0, onsets.detect(sound, 8000.0))  # nothing that two have in common
    ()

    Args:
        sample_rate: Hz.
        heard: All onsets of the same recording.
    """
    apart = np.flatnonzero(np.diff(heard.times, prepend=-1.0) > APART)
    asked = np.sort(apart[np.argsort(-heard.strengths[apart], kind="stable")[:MOST_ASKED]])
    if len(asked) < 2:
        return ()
    sound = click_shapes.whitened(_clearest(samples), sample_rate)
    found: list[Onsets] = []
    for times in click_shapes.clusters(sound, sample_rate, heard.times[asked], most=CLUSTERS):
        found += _alike(sound, sample_rate, times, duration=heard.duration)
    return tuple(found)


def _clearest(samples: Float[ndarray, "channel frame"]) -> Float[ndarray, " frame"]:
    """Return the channel whose peak is highest above its usual level."""
    highest = np.maximum(samples.max(axis=1), -samples.min(axis=1))
    middle = np.array([np.median(np.abs(track)) for track in samples])  # one at a time
    return samples[int(np.argmax(highest / (middle + 1e-9 * highest.max())))]


def _alike(
    sound: Float[ndarray, " frame"],
    sample_rate: float,
    times: Float[ndarray, " member"],
    *,
    duration: float,
) -> list[Onsets]:
    """Find the click of some onsets, learn it again from the best, and find that."""
    for step in range(_ROUNDS):
        ratio, noise, places, loudness = _matched(sound, sample_rate, times)
        here = click_shapes.segments(sound, sample_rate, places / sample_rate + LEAD)
        match = loudness / noise
        rho = np.clip(loudness / (np.linalg.norm(here, axis=1) + 1e-300), 0.0, 1.0 - 1e-9)
        firm = np.flatnonzero((match > _FIRM[0]) & (rho > _FIRM[1]))
        if step == 0 and len(firm) >= 2:
            best = firm[np.argsort(-(rho * np.minimum(match, 20.0))[firm])[:_LEARNT]]
            times = np.sort(places[best]) / sample_rate + LEAD
        if step + 1 < _ROUNDS:
            del ratio  # as large as the sound
    fine, time_sd = _times(ratio, places, sample_rate)
    strength = -0.5 * click_shapes.freedom(sample_rate) * np.log1p(-(rho**2))
    strength = np.minimum(0.5 * match**2, strength)
    clear = (match > LEAST_MATCH) & ~echoes(fine, loudness) & ~pulses(fine, loudness)
    kept = [np.flatnonzero(clear & (rho > least)) for least in LIKENESSES]
    if len(kept[0]) == len(kept[1]):
        kept = kept[:1]
    kept = [np.sort(each[np.argsort(-strength[each])[:MOST_FOUND]]) for each in kept]
    return [
        Onsets(fine[each], strength[each], time_sd[each], loudness[each], duration)
        for each in kept
        if len(each) > 2
    ]


def _matched(
    sound: Float[ndarray, " frame"], sample_rate: float, times: Float[ndarray, " member"]
) -> tuple[
    Float[ndarray, " place"],
    Float[ndarray, " peak"],
    Int[ndarray, " peak"],
    Float[ndarray, " peak"],
]:
    """Return y by its noise; of its peaks noise, place, and height without a peak's share in T."""
    pieces = click_shapes.segments(sound, sample_rate, times)
    weights = click_shapes.common(pieces)
    click = click_shapes.unit(weights @ pieces)
    ratio = _products(sound, click)
    noise_at = _noise(ratio, round(_BLOCK * sample_rate))
    for first in range(0, len(ratio), _PIECE):
        part = ratio[first : first + _PIECE]
        part /= noise_at(np.arange(first, first + len(part)))
    distance = round(DEAD_TIME * sample_rate)
    places, _ = signal.find_peaks(ratio, height=LEAST_MATCH, distance=distance)
    noise = noise_at(places)
    height, begin = ratio[places] * noise, np.round((times - LEAD) * sample_rate)
    for member in range(len(times)):
        others = click_shapes.unit(weights @ pieces - weights[member] * pieces[member])
        for peak in np.flatnonzero(np.abs(places - begin[member]) < LAG * sample_rate):
            height[peak] = sound[places[peak] : places[peak] + len(click)] @ others
    return ratio, noise, places, height


def _products(
    sound: Float[ndarray, " frame"], click: Float[ndarray, " lag"]
) -> Float[ndarray, " place"]:
    """Return y: the sound about each place times a click, in pieces of which each takes little."""
    found = np.empty(len(sound) - len(click) + 1)
    for first in range(0, len(found), _PIECE):
        last = min(first + _PIECE, len(found))
        part = sound[first : last + len(click) - 1]
        found[first:last] = signal.fftconvolve(part, click[::-1], mode="valid")
    return found


def _noise(product: Float[ndarray, " place"], block: int) -> Callable[[ndarray], ndarray]:
    """Return what gives the deviation of y about places: of blocks, the median of five."""
    count = max(1, len(product) // block)
    sds = np.array([click_shapes.deviation(part) for part in np.array_split(product, count)])
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(sds, 2, mode="edge"), 5)
    middles = (np.arange(count) + 0.5) * len(product) / count
    medians = np.maximum(np.median(windows, axis=1), 1e-12)
    return lambda places: np.interp(places, middles, medians)


def _times(
    match: Float[ndarray, " place"], places: Int[ndarray, " peak"], sample_rate: float
) -> tuple[Float[ndarray, " peak"], Float[ndarray, " peak"]]:
    """Return times and deviations, s, under exp(z(t)^2 / 2) within LAG of each peak."""
    reach = round(LAG * sample_rate)
    offsets = np.arange(-reach, reach + 1)
    near = np.pad(match, reach)[places[:, None] + offsets + reach]
    fine = np.maximum(signal.resample(near, _FINE * len(offsets), axis=1), 0.0)
    weights = np.exp(0.5 * (fine**2 - (fine**2).max(axis=1, keepdims=True)))
    weights /= weights.sum(axis=1, keepdims=True)
    lags = np.arange(fine.shape[1]) / _FINE - reach
    mean = weights @ lags
    spread = np.sqrt(np.maximum(weights @ lags**2 - mean**2, 0.0))
    return (places + mean) / sample_rate + LEAD, np.hypot(spread, 0.1) / sample_rate


def pulses(
    times: Float[ndarray, " onset"], loudness: Float[ndarray, " onset"]
) -> Bool[ndarray, " onset"]:
    """Tell which onsets follow one about as loud as soon as a voice's pulses do.

    >>> times = np.array([0.0, 0.4, 0.412, 0.424, 0.9])
    >>> pulses(times, np.ones(5)).nonzero()[0]
    array([2, 3])
    """
    soon = np.diff(times, prepend=-1.0) < PULSES
    return np.asarray(soon & (np.roll(loudness, 1) > PEAK_SHARE * loudness))


def echoes(
    times: Float[ndarray, " onset"], loudness: Float[ndarray, " onset"]
) -> Bool[ndarray, " onset"]:
    """Tell which onsets are quieter than one before them by a delay, s, that many have.

    >>> times = np.array([0.0, 0.012, 0.5, 0.512, 0.9, 0.912, 1.2])
    >>> echoes(times, np.array([9.0, 3.0, 6.0, 2.0, 4.0, 1.0, 3.0])).nonzero()[0]
    array([1, 3, 5])
    """
    rank = np.argsort(times, kind="stable")
    second, delays = _followers(times[rank], loudness[rank])
    order, echo = np.sort(delays), np.zeros(len(times), np.bool_)
    near = np.searchsorted(order, delays + ECHO_WIDTH) - np.searchsorted(order, delays - ECHO_WIDTH)
    echo[rank[second[near >= max(3.0, ECHO_SHARE * len(times))]]] = True
    return echo


def _followers(
    times: Float[ndarray, " onset"], loudness: Float[ndarray, " onset"]
) -> tuple[Int[ndarray, " pair"], Float[ndarray, " pair"]]:
    """Return which onset, of those in their order, is quieter than one soon before it, and when."""
    seconds, delays = [np.empty(0, np.intp)], [np.empty(0)]
    for lag in range(1, len(times)):
        delay = times[lag:] - times[:-lag]
        if not (soon := delay < ECHO_SPAN).any():
            break
        kept = np.flatnonzero(soon & (delay > 0.0) & (loudness[lag:] < 0.9 * loudness[:-lag]))
        seconds.append(kept + lag)
        delays.append(delay[kept])
    return np.concatenate(seconds), np.concatenate(delays)
