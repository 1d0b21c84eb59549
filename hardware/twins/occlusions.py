"""Sound that an arm or a hand keeps from a microphone: the first arrival comes by a longer way.

Section 3.3 of Matl et al. (STReSSD): early reflections occasionally cause large errors in detecting
the true impact times, and these make the outliers of real-time localisation. A body between a
contact and a microphone at distance d weakens the direct sound by `attenuation`; the sound still
comes by a detour of length d + l, off a near surface or round the body, at `share` of what
spreading alone would leave:

    x(u) = loudness [ 10^(-attenuation / 20) p(u - d / c) / d
                      + share p(u - (d + l) / c) / (d + l) ].

The rest of the room sounds as before. A microphone is blocked at each contact anew, with the
probability `occlusion`, as arm and hand move on between contacts; l is uniform between two bounds.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.hardware.microphones.acoustics import Clicks, RecordingSetup
from ricochet.models.sound import impact_synthesis


@dataclass(frozen=True)
class Obstacles:
    """What stands between the contacts and the microphones.

    Attributes:
        occlusion: Probability that a contact's direct path to one of the microphones is blocked.
        attenuation: Loss of a blocked direct path, dB.
        shortest: Least length of the detour, m.
        longest: Greatest length of the detour, m.
        share: Height of the detour's arrival over that of an open path of its length.
    """

    occlusion: float = 0.15
    attenuation: float = 25.0
    shortest: float = 0.10
    longest: float = 0.30
    share: float = 0.7

    def __post_init__(self) -> None:
        """Refuse what is no probability and bounds out of order."""
        if not 0.0 <= self.occlusion <= 1.0:
            raise ValueError(f"occlusion must be in [0, 1], got {self.occlusion}")
        if not 0.0 < self.shortest <= self.longest:
            raise ValueError(f"detours must be positive and in order, got {self}")


@dataclass(frozen=True)
class Blocked:
    """Which paths are blocked.

    Attributes:
        channels: The microphone kept from each contact, -1 where none is.
        detours: By how much its other way is longer, m; of no meaning where none is blocked.
    """

    channels: Int[ndarray, " contact"]
    detours: Float[ndarray, " contact"]


def choose(
    contacts: int, channels: int, *, obstacles: Obstacles, draw: np.random.Generator
) -> Blocked:
    """Draw which paths from contacts to channels are blocked.

    Every part is drawn whatever the probability, so that the same generator blocks at a higher one
    what it blocks at a lower one, and more.
    """
    blocked = draw.random(contacts) < obstacles.occlusion
    which = draw.integers(channels, size=contacts)
    detours = draw.uniform(obstacles.shortest, obstacles.longest, contacts)
    return Blocked(np.where(blocked, which, -1), detours)


def block(
    samples: Float[ndarray, "channel frame"],
    contacts: Clicks,
    blocked: Blocked,
    *,
    setup: RecordingSetup,
    obstacles: Obstacles,
) -> None:
    """Weaken the blocked direct sounds and add their detours, in place.

    Args:
        samples: What open paths would give, full scale 1.
    """
    array = setup.array
    kept = 10.0 ** (-obstacles.attenuation / 20.0)
    for channel, row in enumerate(samples):
        hit = blocked.channels == channel
        distance = np.linalg.norm(contacts.positions[hit] - array.positions[channel], axis=1)
        longer = distance + blocked.detours[hit]
        loudness = contacts.loudness[hit]
        way = np.concatenate((distance, longer)) / array.speed_of_sound
        impact_synthesis.add_arrivals(
            row,
            np.tile(contacts.times[hit], 2) + way,
            np.concatenate(
                ((kept - 1.0) * loudness / distance, obstacles.share * loudness / longer)
            ),
            click=impact_synthesis.Click(),
            sample_rate=array.sample_rate,
        )
