"""What the networks see of each frame of sound, and of frames before it.

A frame sounds like its speed, and like what sounded just before: a room goes on for a third of a
second, an impact for longer than a frame. Where the sound comes from is in the coherences of all
pairs of microphones, and which way it moves in how they changed since a quarter of a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound import coherences, spectra
from ricochet.models.systems.drawers.labels import FRAME, SAMPLE_RATE

BANDS, STEPS = 48, 8  # of the mel scale, and of loudness within a frame
SPEED, PLACE, DIRECTION = (0, 1, 2), (0, 1), (0, 4)
"""Which frames are seen for each, so many before the present one."""


@dataclass(frozen=True)
class Features:
    """What the networks see of each frame."""

    speed: Float[ndarray, "frame speed_feature"]
    place: Float[ndarray, "frame place_feature"]
    direction: Float[ndarray, "frame direction_feature"]


def of_samples(samples: Float[ndarray, "channel sample"]) -> Features:
    """Return what the networks see of a recording; before the first frame were others like it.

    Args:
        samples: At SAMPLE_RATE, full scale 1; two channels at least.
    """
    return of_frames(
        coherences.band_coherences(samples.astype(float), FRAME, SAMPLE_RATE), loudness(samples)
    )


def of_frames(
    alike: Float[ndarray, "frame coherence"], loud: Float[ndarray, "frame level"]
) -> Features:
    """Return what the networks see, from coherences and loudness of each frame by itself."""
    return Features(
        speed=with_earlier(loud, SPEED),
        place=with_earlier(np.hstack([alike, loud]), PLACE),
        direction=with_earlier(alike, DIRECTION),
    )


def loudness(samples: Float[ndarray, "channel sample"]) -> Float[ndarray, "frame level"]:
    """Return bands and steps of loudness of each frame by itself, dB; steps tell impact from glide.

    Args:
        samples: At SAMPLE_RATE, full scale 1.
    """
    bands = spectra.mel_decibels(spectra.powers(samples, FRAME), SAMPLE_RATE, BANDS)
    count = len(bands)
    parts = samples[:, : count * FRAME].reshape(len(samples), count, STEPS, FRAME // STEPS)
    steps = 10.0 * np.log10((parts.astype(float) ** 2).mean((0, 3)) + spectra.QUIETEST)
    return np.hstack([bands, steps])


def with_earlier(
    frames: Float[ndarray, "frame feature"], lags: Sequence[int]
) -> Float[ndarray, "frame longer"]:
    """Return the features of the frames so many before each.

    >>> with_earlier(np.array([[1.0], [2.0], [3.0]]), (0, 1))
    array([[1., 1.],
           [2., 1.],
           [3., 2.]])
    """
    places = np.arange(len(frames))
    return np.hstack([frames[np.maximum(places - lag, 0)] for lag in lags])


def last(found: Features) -> Features:
    """Return what is seen of the last frame alone."""
    return Features(found.speed[-1:], found.place[-1:], found.direction[-1:])
