"""What was detected of drops, bounce by bounce, and the errors that a session's takes share.

A take is a chain of bounces with times T_i and places P_i, each with a standard deviation; what was
not detected, or should not be relied on, has weight zero. The shared errors are standard normal
numbers f, a vector a session, that move what is observed or what was stated,

    P_i observed = P_i + A_i f + its own error,    log height = log stated + s_h f_0,
    tilt = s_t (f_1, f_2),

so that A_i holds the survey of the microphones, the speed of sound and the channels' delays to
first order; with areas they stretch the standard deviations of places. Takes with the same number
of bounces are computed together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

TILT_SD = 0.02
"""How level a surface is: 1.1 degrees, what nobody sees without a spirit level."""
SHARED = ("height", "tilt_x", "tilt_y")
"""The first shared errors of every session; those of the array follow."""


@dataclass(frozen=True)
class Take:
    """The chain of one take.

    Attributes:
        times, places: Of its bounces, s and m; where the standard deviation is infinite, unused.
        time_sd, place_sd: Of each, place per axis.
        height, height_sd: From which it fell, m.
        session: Number of its session, from 0 on.
        distortion: A, how shared errors of the array move its places, m.
        areas: By how much they stretch the area about each place, relative: t of `laplace`.
    """

    times: Float[ndarray, " bounce"]
    places: Float[ndarray, "bounce 2"]
    time_sd: Float[ndarray, " bounce"]
    place_sd: Float[ndarray, " bounce"]
    height: float
    height_sd: float
    session: int
    distortion: Float[ndarray, "bounce 2 error"]
    areas: Float[ndarray, "bounce error"]


@dataclass(frozen=True)
class Chains:
    """Takes of one length, a row each; weights are one over standard deviations.

    Attributes:
        height_error: s_h of each take.
        index: Place of each among all takes.
    """

    times: Float[ndarray, "take bounce"]
    time_weight: Float[ndarray, "take bounce"]
    places: Float[ndarray, "take bounce 2"]
    place_weight: Float[ndarray, "take bounce"]
    height: Float[ndarray, " take"]
    height_error: Float[ndarray, " take"]
    session: Int[ndarray, " take"]
    distortion: Float[ndarray, "take bounce 2 error"]
    areas: Float[ndarray, "take bounce error"]
    index: Int[ndarray, " take"]

    @property
    def flights(self) -> int:
        """Number of flights between the bounces."""
        return self.times.shape[1] - 1


def grouped(takes: Sequence[Take]) -> list[Chains]:
    """Put takes of one length together.

    Raises:
        ValueError: If a take has fewer than three bounces, or an unusable number.
    """
    for number, take in enumerate(takes):
        _check(number, take)
    lengths = np.array([len(take.times) for take in takes])
    return [_together(takes, np.flatnonzero(lengths == length)) for length in np.unique(lengths)]


def stacked(copies: Sequence[Chains], sessions: int, takes: int) -> Chains:
    """Return copies of a number of sessions and takes as sessions and takes of one record."""
    columns = {
        name: np.concatenate([getattr(chains, name) for chains in copies])
        for name in vars(copies[0])
    }
    copy = np.repeat(np.arange(len(copies)), len(copies[0].times))
    columns["session"] += sessions * copy
    columns["index"] += takes * copy
    return Chains(**columns)


def _check(number: int, take: Take) -> None:
    if len(take.times) < 3:
        raise ValueError(f"takes[{number}]: need three bounces, found {len(take.times)}")
    if not (np.isfinite(take.times).all() and (np.diff(take.times) > 0.0).all()):
        raise ValueError(f"takes[{number}]: need finite ascending times")
    if not (np.isfinite(take.places).all() and take.height > 0.0):
        raise ValueError(f"takes[{number}]: need finite places and a positive height")
    if not ((take.time_sd > 0.0).all() and (take.place_sd > 0.0).all()):
        raise ValueError(f"takes[{number}]: need positive standard deviations")


def _together(takes: Sequence[Take], index: Int[ndarray, " take"]) -> Chains:
    chosen = [takes[number] for number in index]
    return Chains(
        times=np.array([take.times for take in chosen]),
        time_weight=1.0 / np.array([take.time_sd for take in chosen]),
        places=np.array([take.places for take in chosen]),
        place_weight=1.0 / np.array([take.place_sd for take in chosen]),
        height=np.array([take.height for take in chosen]),
        height_error=np.array([take.height_sd / take.height for take in chosen]),
        session=np.array([take.session for take in chosen]),
        distortion=np.array([take.distortion for take in chosen]),
        areas=np.array([take.areas for take in chosen]),
        index=index,
    )
