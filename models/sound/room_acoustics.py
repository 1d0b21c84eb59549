"""Shoebox rooms: the impulse response from an impact to a microphone by image sources.

A wall that sends back a share 1 - a of the energy mirrors the source. The response is the sum over
all mirror images at distances r_i, each after g_i walls,

    h(u) = sum_i (1 - a)^(g_i / 2) / r_i  delta(u - r_i / c),

and Sabine's rule gives the absorption a that makes the sound fall by 60 dB in the time asked for.
Allen and Berkley, Image method for efficiently simulating small-room acoustics, 1979.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.sound.arrays import Microphones


@dataclass(frozen=True)
class Room:
    """A shoebox room.

    Attributes:
        size: Lengths of its edges, m.
        origin: Where the array's origin lies, from the room's corner, m.
        reverberation_time: Time in which sound falls by 60 dB, s.
        reflections: Most walls met on one path; the response is complete up to about
            reflections times the shortest edge over the speed of sound and thins out after it.
    """

    size: tuple[float, float, float] = (6.0, 5.0, 3.0)
    origin: tuple[float, float, float] = (3.2, 2.3, 0.75)
    reverberation_time: float = 0.35
    reflections: int = 20


def responses(
    positions: Float[ndarray, "impact 3"], *, microphones: Microphones, room: Room
) -> tuple[list[list[Float[ndarray, " _"]]], int]:
    """Compute the room's impulse responses.

    >>> array = Microphones(np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.1]]), 44100.0)
    >>> impact = np.array([[0.1, 0.2, 0.0]])
    >>> found, lag = responses(impact, microphones=array, room=Room(reflections=1))
    >>> len(found), len(found[0])
    (2, 1)

    Args:
        positions: Of the impacts, m, from the array's origin.

    Returns:
        Responses [channel][impact] at the array's sample rate, and the frames by which they lag.

    Raises:
        ValueError: An impact or a microphone outside the room, or a reverberation time that even
            walls without reflection exceed.
    """
    import pyroomacoustics  # late: a second to load, and only rooms need it

    origin, size = np.asarray(room.origin), np.asarray(room.size)
    for name, places in (("positions", positions), ("microphones", microphones.positions)):
        if not ((places + origin > 0) & (places + origin < size)).all():
            raise ValueError(f"{name} reach outside the room {room.size} with origin {room.origin}")
    absorption, order = pyroomacoustics.inverse_sabine(
        room.reverberation_time, room.size, c=microphones.speed_of_sound
    )
    box = pyroomacoustics.ShoeBox(
        room.size,
        fs=round(microphones.sample_rate),
        max_order=min(order, room.reflections),
        materials=pyroomacoustics.Material(absorption),
    )
    box.set_sound_speed(microphones.speed_of_sound)
    for position in positions:
        box.add_source(position + origin)
    box.add_microphone_array((microphones.positions + origin).T)
    box.compute_rir()
    return box.rir, pyroomacoustics.constants.get("frac_delay_length") // 2
