"""Flights of a ball in a video's tracks: speeds either side of a bounce, air included, in pixels.

Below the apex (t_0, y_0), y pointing down, a vertical flight in air of drag k is, with
z = sqrt(g k) (t - t_0) and terminal speed c = sqrt(g / k),

    y = y_0 - log(cos z) / k,   v = c tan z    rising, z < 0,
    y = y_0 + log(cosh z) / k,  v = c tanh z   falling.

All flights of a surface share g, px / frame^2, and k, 1 / px; each has its apex. A bounce is where
two flights meet. With the heights h fallen before it and h' risen after it, restitution is

    e^2 = (exp(2 k h') - 1) / (1 - exp(-2 k h)),

which holds no time. Another ratio of speeds, of the pixels nearest to the bounce, adds to each
speed the slope by which they leave the flight; it does not rest on a common g.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import optimize, signal

_HIGH, _APART = 30.0, 8  # px and frames by which bounces stand out
_MARGIN = 2  # frames about a bounce in which the ball is a streak
_FEWEST = 15  # frames of a flight
_LEAST_FALL = 30.0  # px below the hand
_NEAR = 4.0  # frames from the lowest one within which flights meet
_LOCAL = 10  # frames nearest to a bounce
_STEEPEST, _LATEST = 1.5, 10.0
_FALL, _DRAG = 0.65, 1e-4  # where the fit begins


@dataclass(frozen=True)
class Flight:
    """One flight, the frames and heights of it, and the number of its clip."""

    clip: int
    number: int
    frames: Float[ndarray, " frame"]
    heights: Float[ndarray, " frame"]


@dataclass(frozen=True)
class Tracks:
    """What the clips of a surface say.

    Attributes:
        fall: g, px / frame^2.
        drag: k, 1 / px.
        bounces: Of each clip in a row, the frames of the bounces.
        impacts: Speed of each of them, px / frame.
        restitution: Its ratio of vertical speeds, by the heights of whole flights.
        local: The same by the frames nearest to it.
        places: Where in the picture the flights meet, px; one surface has one place.
        releases: Of each clip, the frame of the apex that the ball falls from, nan if unseen.
        heights: Of that fall, px.
    """

    fall: float
    drag: float
    bounces: list[Float[ndarray, " bounce"]]
    impacts: list[Float[ndarray, " bounce"]]
    restitution: list[Float[ndarray, " bounce"]]
    local: list[Float[ndarray, " bounce"]]
    places: list[Float[ndarray, " bounce"]]
    releases: Float[ndarray, " clip"]
    heights: Float[ndarray, " clip"]

    def per_metre(self, frame_rate: float) -> float:
        """Return the pixels of a metre, if the frames are so many a second."""
        return self.fall * frame_rate**2 / 9.81


def read(folder: Path) -> Tracks:
    """Fit the clips of a folder."""
    clips = [_heights(path) for path in sorted(folder.glob("*.txt"))]
    lowest = [signal.find_peaks(y, prominence=_HIGH, distance=_APART)[0] for y in clips]
    flights = [
        flight
        for clip, (y, at) in enumerate(zip(clips, lowest, strict=True))
        for flight in _flights(clip, y, at)
    ]
    fall, drag, apexes = _fitted(flights)
    air = fall, drag
    fits = {(f.clip, f.number): (f, apex) for f, apex in zip(flights, apexes, strict=True)}
    rows = [
        [
            _bounce(frame, fits[clip, number], fits[clip, number + 1], air)
            for number, frame in enumerate(at)
            if (clip, number) in fits and (clip, number + 1) in fits
        ]
        for clip, at in enumerate(lowest)
    ]
    columns = [np.array(row).reshape(-1, 5).T for row in rows]
    first = np.full((2, len(clips)), np.nan)
    for clip, found in enumerate(columns):
        if (clip, 0) in fits and len(found[0]):
            apex = fits[clip, 0][1]
            first[:, clip] = apex[0], found[4][0] - apex[1]
    return Tracks(fall, drag, *(list(column) for column in zip(*columns, strict=True)), *first)


def _heights(path: Path) -> Float[ndarray, " frame"]:
    return np.array([float(line.split(";")[1]) for line in path.read_text().splitlines() if line])


def _flights(clip: int, heights: ndarray, lowest: ndarray) -> list[Flight]:
    edges = [0, *lowest, len(heights) - 1]
    found = []
    for number, (first, last) in enumerate(pairwise(edges)):
        frames = np.arange(first + _MARGIN, last - _MARGIN + 1)
        if number == 0:  # the ball rests in the hand
            frames = frames[heights[frames] > heights[:5].mean() + _LEAST_FALL]
        if len(frames) > _FEWEST:
            found.append(Flight(clip, number, frames.astype(float), heights[frames]))
    return found


def _fitted(flights: list[Flight]) -> tuple[float, float, Float[ndarray, "flight 2"]]:
    """Fit g, k and the apexes, tracks that slip counting little."""

    def misfit(x: ndarray) -> ndarray:
        parts = [
            _height(f.frames, apex, _air(x)) - f.heights
            for f, apex in zip(flights, x[2:].reshape(-1, 2), strict=True)
        ]
        return np.concatenate(parts)

    start = [0.0, 0.0]
    for flight in flights:
        a, b, c = np.polyfit(flight.frames, flight.heights, 2)
        start += [-b / (2.0 * a), c - b**2 / (4.0 * a)]
    found = optimize.least_squares(misfit, start, loss="soft_l1", f_scale=2.0).x
    return *_air(found), found[2:].reshape(-1, 2)


def _air(x: ndarray) -> tuple[float, float]:
    return _FALL * float(np.exp(x[0])), _DRAG * float(np.exp(x[1]))


def _height(frames: ndarray, apex: ndarray, air: tuple[float, float]) -> ndarray:
    fall, drag = air
    z = np.clip(np.sqrt(fall * drag) * (frames - apex[0]), -_STEEPEST, _LATEST)
    below = np.log(np.cosh(np.maximum(z, 0.0))) - np.log(np.cos(np.minimum(z, 0.0)))
    return np.asarray(apex[1] + below / drag)


def _speed(frame: float, apex: ndarray, air: tuple[float, float]) -> float:
    fall, drag = air
    z = max(np.sqrt(fall * drag) * (frame - apex[0]), -_STEEPEST)
    return float(np.sqrt(fall / drag) * (np.tanh(z) if z > 0.0 else np.tan(z)))


def _bounce(
    lowest: int,
    before: tuple[Flight, ndarray],
    after: tuple[Flight, ndarray],
    air: tuple[float, float],
) -> tuple[float, float, float, float, float]:
    """Return frame and impact speed where two flights meet, both ratios, and the place."""

    def apart(frame: float) -> float:
        at = np.array([frame])
        return float((_height(at, before[1], air) - _height(at, after[1], air))[0])

    frame = float(optimize.brentq(apart, lowest - _NEAR, lowest + _NEAR))
    impact, leaving = (_speed(frame, apex, air) for _, apex in (before, after))
    near_impact = impact + _slope(before, slice(-_LOCAL, None), air)
    near_leaving = leaving + _slope(after, slice(_LOCAL), air)
    place = float(_height(np.array([frame]), before[1], air)[0])
    return frame, impact, -leaving / impact, -near_leaving / near_impact, place


def _slope(fitted: tuple[Flight, ndarray], where: slice, air: tuple[float, float]) -> float:
    """Return the slope by which a flight's frames leave its fit, px / frame."""
    flight, apex = fitted
    frames = flight.frames[where]
    return float(np.polyfit(frames, flight.heights[where] - _height(frames, apex, air), 1)[0])
