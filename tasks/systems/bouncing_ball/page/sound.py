"""The sound that a page carries: what a browser plays of a recording, small enough to send.

One channel, the loudest; from just before the first bounce to just after the last one, at most a
minute; scaled to its peak; 16 bit, at most 48 kHz.
"""

import base64
import io
import math
from dataclasses import dataclass

import numpy as np
import soundfile
from jaxtyping import Float
from numpy import ndarray
from scipy.signal import resample_poly

LONGEST = 60.0
"""Seconds of sound that a page carries: 5.8 MB at 48 kHz."""
BEFORE, AFTER = 1.0, 1.5  # seconds round the bounces
FASTEST = 48_000  # Hz
PEAK = 0.95  # of full scale


@dataclass(frozen=True)
class Excerpt:
    """One channel of a recording, scaled to its peak.

    Attributes:
        samples: Full scale is 1.
        rate: Hz.
        start: Seconds from the recording's begin to the excerpt's.
    """

    samples: Float[ndarray, " frame"]
    rate: int
    start: float

    @property
    def end(self) -> float:
        """Return the seconds from the recording's begin to the excerpt's end."""
        return self.start + len(self.samples) / self.rate


def excerpt(
    recording: Float[ndarray, "channel frame"], rate: int, *, first: float, last: float
) -> Excerpt:
    """Cut a recording to the bounces between two times, s, and scale it.

    >>> recording = np.zeros((2, 4000)); recording[1, 2500] = 0.1
    >>> part = excerpt(recording, 1000, first=2.5, last=2.5)
    >>> part.start, part.samples.max(), len(part.samples)
    (1.5, 0.95, 2500)
    """
    loudest = recording[int(np.abs(recording).max(axis=1).argmax())]
    begin = max(0, round((first - BEFORE) * rate))
    end = min(round((last + AFTER) * rate), begin + round(LONGEST * rate))
    samples, start = loudest[begin:end], begin / rate
    if rate > FASTEST:
        common = math.gcd(FASTEST, rate)
        samples, rate = resample_poly(samples, FASTEST // common, rate // common), FASTEST
    return Excerpt(PEAK * samples / max(float(np.abs(samples).max()), 1e-12), rate, start)


def to_data_url(part: Excerpt) -> str:
    """Return an excerpt as the address of a WAV file that stands in the address itself."""
    content = io.BytesIO()
    soundfile.write(content, part.samples, part.rate, format="WAV", subtype="PCM_16")
    return "data:audio/wav;base64," + base64.b64encode(content.getvalue()).decode("ascii")
