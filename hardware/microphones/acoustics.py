"""What simulated microphones record of the contacts of a ball with the table.

A contact at normal speed w clicks as loud as (w / w_0)^1.2, w_0 being the normal speed of a stated
reference drop; `models.sound.impact_synthesis` renders it. The gain is set once, so that the
reference drop, straight down at the origin, has the stated signal-to-noise ratio; slower contacts
are fainter, as real ones are. Samples are rounded to the steps of a 16 bit sound card.

No rig is known exactly: the microphones stand a little off the places that are stated, for as
long as the rig lives, and the instant at which a contact clicks scatters.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Float32
from numpy import ndarray

from ricochet.hardware.microphones.interface import Rig
from ricochet.models.core.constants import GRAVITY
from ricochet.models.sound import impact_synthesis, room_acoustics
from ricochet.models.sound.arrays import Microphones

STEP = 2.0**-15  # one step of 16 bit, full scale 1
LOUDNESS_POWER = 1.2


@dataclass(frozen=True)
class Acoustics:
    """The room, the sound card and what is not known exactly.

    Attributes:
        reverberation_time: Time in which the room's sound falls by 60 dB, s; 0 is a free field.
        snr: Direct click of the reference drop over the background, dB.
        noise_steps: Standard deviation of the background, in steps of 16 bit.
        loudness_sd: Scatter of the logarithm of each contact's loudness.
        survey_sd: Error of each coordinate of a microphone's stated place, m.
        contact_sd: Scatter of the instant at which a contact clicks, s.
    """

    reverberation_time: float = 0.35
    snr: float = 28.0
    noise_steps: float = 6.0
    loudness_sd: float = 0.1
    survey_sd: float = 1.5e-3
    contact_sd: float = 20e-6


@dataclass(frozen=True)
class Clicks:
    """Contacts as they sound.

    Attributes:
        times: When each clicks, s after the recording's start.
        positions: Where, m.
        loudness: Peak at 1 m, full scale 1.
    """

    times: Float[ndarray, " contact"]
    positions: Float[ndarray, "contact 3"]
    loudness: Float[ndarray, " contact"]


@dataclass(frozen=True)
class RecordingSetup:
    """Microphones as they stand.

    Attributes:
        array: The microphones, their true places.
        acoustics: What is round them.
        gain: Loudness at 1 m of the reference drop's first contact, full scale 1.
        reference_speed: Its normal speed, m/s.
    """

    array: Microphones
    acoustics: Acoustics
    gain: float
    reference_speed: float


def set_up(
    rig: Rig, acoustics: Acoustics, *, drop_height: float, draw: np.random.Generator
) -> RecordingSetup:
    """Put the microphones where they are, a little off the stated places, and set the gain.

    Args:
        rig: The microphones as stated.
        drop_height: Height of the reference drop, m.
    """
    stated = rig.array()
    error = acoustics.survey_sd * draw.standard_normal(stated.positions.shape)
    array = replace(stated, positions=stated.positions + error)
    speed = math.sqrt(2 * GRAVITY * drop_height)
    return RecordingSetup(array, acoustics, _gain(stated, acoustics), speed)


def clicks(
    times: Float[ndarray, " contact"],
    positions: Float[ndarray, "contact 3"],
    speeds: Float[ndarray, " contact"],
    *,
    setup: RecordingSetup,
    draw: np.random.Generator,
) -> Clicks:
    """Turn contacts into clicks, each a little louder and later than the law says.

    Args:
        times: When the contacts happen, s.
        positions: Where, m.
        speeds: Normal speed before each, m/s.
    """
    louder = np.exp(setup.acoustics.loudness_sd * draw.standard_normal(len(times)))
    late = setup.acoustics.contact_sd * draw.standard_normal(len(times))
    law = np.asarray((speeds / setup.reference_speed) ** LOUDNESS_POWER)
    return Clicks(times + late, positions, setup.gain * law * louder)


def render(
    contacts: Clicks, *, setup: RecordingSetup, duration: float, draw: np.random.Generator
) -> Float[ndarray, "channel frame"]:
    """Render clicks, the room and the background for a time, s, before the sound card.

    Returns:
        Samples, full scale 1.
    """
    acoustics = setup.acoustics
    reverberation = acoustics.reverberation_time
    return impact_synthesis.render(
        contacts.times,
        contacts.positions,
        contacts.loudness,
        microphones=setup.array,
        duration=duration,
        draw=draw,
        room=room_acoustics.Room(reverberation_time=reverberation) if reverberation else None,
        noise=impact_synthesis.Background(level=acoustics.noise_steps * STEP),
    )


def converted(samples: Float[ndarray, "channel frame"]) -> Float32[ndarray, "channel frame"]:
    """Round samples, full scale 1, to the sound card's steps and clip them at full scale."""
    return np.clip(np.round(samples / STEP) * STEP, -1.0, 1.0 - STEP).astype(np.float32)


def _gain(array: Microphones, acoustics: Acoustics) -> float:
    """Return the loudness at 1 m, full scale 1, of the reference drop at the origin."""
    level = impact_synthesis.noise_level(
        acoustics.snr,
        np.ones(1),
        np.linalg.norm(array.positions, axis=1)[None],
        click=impact_synthesis.Click(),
        sample_rate=array.sample_rate,
    )
    return acoustics.noise_steps * STEP / level
