"""A drawer in a room: a front that moves and rails that stay, at a ring of microphones.

The response of the room from the front to each microphone is computed by image sources at nodes
NODE apart, and what the front sounds is shared among the two nodes next to it: at 8 kHz that is
within 0.2 dB. Blocks of sound are convolved with the nodes that they are near.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Complex, Float
from numpy import ndarray
from scipy import fft

from ricochet.hardware.twins.drawers.generator import drawers
from ricochet.models.sound import room_acoustics
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.room_acoustics import Room

RATE = 16_000.0  # Hz
NODE = 0.0025  # m
BLOCK = 2048  # frames that are convolved at once
RINGS = {"ring-4": (4, 0.032), "ring-6": (6, 0.046)}
"""Microphones and radius, m."""
PLACES = {"side": (0.2, 0.6, 0.25), "front": (1.1, 0.12, 0.35)}
"""Where the ring's middle is, m: beside the drawer, or before it."""
ROOM = (5.2, 4.1, 2.7)
ORIGIN = (1.3, 1.9, 0.75)
"""The middle of the closed front, from the room's corner, m."""


@dataclass(frozen=True)
class Responses:
    """Spectra of the room's responses.

    Attributes:
        front: From each node of the stroke to each microphone.
        fixed: From each place that stays.
        length: Of a transform, frames; what a block's sound takes fits.
    """

    front: Complex[ndarray, "node channel bin"]
    fixed: Complex[ndarray, "place channel bin"]
    length: int


def ring(array: str, place: str) -> Microphones:
    """Return a level ring of microphones at a place."""
    count, radius = RINGS[array]
    angle = 2.0 * np.pi * np.arange(count) / count
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=1)
    return Microphones(np.array(PLACES[place]) + radius * circle, RATE)


@cache
def responses(
    name: str, array: str, place: str, reverberation_time: float, fan: tuple[float, float, float]
) -> Responses:
    """Return the responses of the room with a drawer, the fan's last among those that stay."""
    drawer, microphones = drawers.DRAWERS[name], ring(array, place)
    room = Room(ROOM, ORIGIN, reverberation_time, 12)
    nodes = np.arange(int(drawer.stroke / NODE) + 2) * NODE
    places = drawers.front(drawer, nodes)
    stays = np.vstack([drawers.rail_places(drawer), np.array([fan])])
    found, lag = room_acoustics.responses(
        np.vstack([places, stays]), microphones=microphones, room=room
    )
    longest = max(len(one) for channel in found for one in channel) - lag
    length = int(fft.next_fast_len(longest + BLOCK, real=True))
    spectra = np.stack(
        [
            np.stack([fft.rfft(found[c][i][lag:], length) for c in range(len(found))])
            for i in range(len(places) + len(stays))
        ]
    ).astype(np.complex64)
    return Responses(spectra[: len(nodes)], spectra[len(nodes) :], length)


def heard(
    front: Float[ndarray, " frame"],
    fixed: Float[ndarray, "place frame"],
    opening: Float[ndarray, " frame"],
    room: Responses,
) -> Float[ndarray, "channel frame"]:
    """Return what the microphones hear.

    Args:
        front: What the front sounds, at RATE.
        fixed: What sounds at each place that stays.
        opening: Of the drawer, m.
        room: Its responses.
    """
    frames, channels = len(front), room.front.shape[1]
    out = np.zeros((channels, frames + room.length))
    node = opening / NODE
    for begin in range(0, frames, BLOCK):
        block = slice(begin, begin + BLOCK)
        total = np.einsum("pb,pcb->cb", fft.rfft(fixed[:, block], room.length, axis=1), room.fixed)
        lowest, highest = int(node[block].min()), int(node[block].max()) + 1
        nodes = np.arange(lowest, highest + 1)
        shares = np.maximum(1.0 - np.abs(node[block] - nodes[:, None]), 0.0) * front[block]
        spectra = fft.rfft(shares, room.length, axis=1)
        total += np.einsum("nb,ncb->cb", spectra, room.front[lowest : highest + 1])
        out[:, begin : begin + room.length] += fft.irfft(total, room.length, axis=1)
    return out[:, :frames]
