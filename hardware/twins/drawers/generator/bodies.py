"""What sounds: modes of the drawer and of the cabinet, and which forces drive them.

A mode of frequency f and decay time tau that a force u drives moves with the velocity

    z' = (-1 / tau + 2 pi i f) z + u,    velocity = Re z

and a panel radiates as its velocity, the less the further it is below the frequency at which waves
in it are as fast as in air. The drawer is the stiffer the further it is closed, and the
air in the cabinet is enclosed by it: modes of the drawer move with the opening, those of the
cabinet do not.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.compiled import compiled

COINCIDENCE = 1800.0  # Hz, above which panels radiate fully
STEP = 64  # frames for which a mode's frequency is kept
SOURCES = ("heights", "slips", "closed", "open", "hand")
"""What drives modes, a column of gains each."""


@dataclass(frozen=True)
class Modes:
    """Modes of a body, an entry each.

    Attributes:
        frequencies: Of the closed drawer, Hz.
        shift: By which share a frequency changes until the drawer is open.
        decays: s.
        gains: How each of SOURCES drives each mode.
    """

    frequencies: Float[ndarray, " mode"]
    shift: Float[ndarray, " mode"]
    decays: Float[ndarray, " mode"]
    gains: Float[ndarray, "mode source"]


def modes(
    count: int,
    band: tuple[float, float],
    decay: float,
    draw: np.random.Generator,
    *,
    shift: float = 0.0,
) -> Modes:
    """Draw the modes of a body.

    Args:
        count: How many.
        band: Lowest and highest, Hz.
        decay: Mean decay time at 1 kHz, s; higher modes die out sooner.
        draw: Random numbers.
        shift: Deviation of the change of frequency until the drawer is open, as a share.
    """
    frequencies = np.sort(band[0] * (band[1] / band[0]) ** draw.uniform(0.0, 1.0, count))
    shape = (count, len(SOURCES))
    gains = draw.rayleigh(1.0, shape) * draw.choice([-1.0, 1.0], shape)
    return Modes(
        frequencies,
        shift * draw.standard_normal(count),
        decay * np.sqrt(1000.0 / frequencies) * draw.lognormal(0.0, 0.3, count),
        gains * np.minimum(frequencies / COINCIDENCE, 1.0)[:, None],
    )


def sound(
    body: Modes,
    driven: Float[ndarray, "source frame"],
    opening: Float[ndarray, " frame"],
    rate: float,
    detuning: float = 1.0,
) -> Float[ndarray, " frame"]:
    """Return the velocity of a body, all modes together.

    Args:
        body: Its modes.
        driven: Force of each of SOURCES.
        opening: Share of the stroke.
        rate: Of the frames, Hz.
        detuning: Factor of all frequencies, by what the drawer holds.
    """
    pole = (body.frequencies * detuning, body.shift, body.decays)
    return _resound(pole, body.gains, np.ascontiguousarray(driven), opening, rate)


@compiled
def _resound(
    pole: tuple[
        Float[ndarray, " mode"],
        Float[ndarray, " mode"],
        Float[ndarray, " mode"],
    ],
    gains: Float[ndarray, "mode source"],
    driven: Float[ndarray, "source frame"],
    opening: Float[ndarray, " frame"],
    rate: float,
) -> Float[ndarray, " frame"]:
    frequencies, shift, decays = pole
    heard = np.zeros(driven.shape[1])
    for k in range(len(frequencies)):
        real, imaginary, c, s = 0.0, 0.0, 0.0, 0.0
        for frame in range(driven.shape[1]):
            if frame % STEP == 0:
                omega = 2.0 * np.pi * frequencies[k] * (1.0 + shift[k] * opening[frame]) / rate
                fall = np.exp(-1.0 / (decays[k] * rate))
                c, s = fall * np.cos(omega), fall * np.sin(omega)
            force = 0.0
            for source in range(driven.shape[0]):
                force += gains[k, source] * driven[source, frame]
            real, imaginary = c * real - s * imaginary + force, s * real + c * imaginary
            heard[frame] += real
    return heard
