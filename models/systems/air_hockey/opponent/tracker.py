r"""Where an opponent's mallet will be, from where it was seen, once a period.

Two laws predict each coordinate from the last `WINDOW` of it:

    constant velocity   y(t) = y_0 + v t, by the last `RECENT`
    turn                y(t) = c + a cos(w t) + b sin(w t), w being that of `RATES` which leaves
                        the least squares of the window, refined by a parabola

How much a law errs is measured twice. As it was fitted before the last `LEFT_OUT`, it is compared
with those; farther ahead its error is taken to grow with the square of the time. And what the laws
predicted once they had seen `ENOUGH` is compared with what is seen later, at the times `AHEAD`. The
greater of the two, by coordinate and time, is the standard deviation, and the law that errs less is
used. Until anything was compared, it is that of a mallet that is pushed about at `PUSHED`.

A mallet that is not seen, or jumps, is taken to stand where it was last seen; one that stays where
it jumped to is followed from there. Up to `BRIDGED` periods without it are filled in on a straight
line; after more it is followed anew. One that is off the table was never there. Places are in m in
the table's frame, times in s.
"""

from collections import deque
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.air_hockey.interface import PERIOD
from ricochet.models.systems.air_hockey.table import Table

WINDOW, RECENT = 100, 5  # periods
FEWEST = 30  # periods, from which a turn is fitted
RATES = np.geomspace(1.0, 16.0, 29)  # rad/s
AHEAD = (10, 20, 40)  # periods
LEFT_OUT = 20  # periods
ENOUGH = 50  # periods
PUSHED = 3.0  # m/s^2
WIDER = 2.0
"""By how much deviations are more than errors: the better of two laws is flattered by its luck."""
LARGEST_SD = 0.25  # m
JUMP = 0.08  # m in a period, 4 m/s
AGAIN = 5  # periods, after which a jump is believed, and a fault is over
BRIDGED = 2  # periods
_FORGET = 0.95  # of squared errors, per period
_LEAST = 3e-3  # m, deviation at the first of the times ahead


@dataclass(frozen=True)
class Forecast:
    """Where the mallet is expected: place, m, velocity, m/s, and standard deviation, m."""

    place: Float[ndarray, "*time 2"]
    velocity: Float[ndarray, "*time 2"]
    sd: Float[ndarray, "*time 2"]


@dataclass(frozen=True)
class _Line:
    """A coordinate at constant velocity, t counted from the last period."""

    place: float
    rate: float

    def at(self, times: ndarray) -> tuple[ndarray, ndarray]:
        return np.asarray(self.place + self.rate * times), np.asarray(self.rate + 0.0 * times)


@dataclass(frozen=True)
class _Turn:
    """A coordinate that swings."""

    middle: float
    cosine: float
    sine: float
    rate: float

    def at(self, times: ndarray) -> tuple[ndarray, ndarray]:
        angle = self.rate * times
        c, s = np.cos(angle), np.sin(angle)
        place = self.middle + self.cosine * c + self.sine * s
        return np.asarray(place), np.asarray(self.rate * (self.sine * c - self.cosine * s))


class OpponentTracker:
    """The opponent's mallet in an episode.

    Attributes:
        fault: What was last wrong with what was observed; empty after `AGAIN` good periods.
    """

    def __init__(self, table: Table) -> None:
        """Begin with nobody."""
        self.fault, self._table, self._since_fault = "", table, 0
        self._begin(())

    def _begin(self, places: tuple[ndarray, ...]) -> None:
        """Follow a mallet anew."""
        self._seen: deque[ndarray] = deque(places, WINDOW)
        self._due: dict[int, deque[ndarray]] = {k: deque(maxlen=k) for k in AHEAD}
        self._squares = np.zeros((len(AHEAD), 2, 2))
        self._weights = np.zeros(len(AHEAD))
        self._laws: list[tuple[_Line, _Line | _Turn]] = []
        self._earlier: deque[list[tuple[_Line, _Line | _Turn]]] = deque(maxlen=LEFT_OUT)
        self._left_out = np.full((2, len(AHEAD), 2), np.nan)
        self._odd: list[ndarray] = []
        self._stands, self._missed = False, 0
        self._sds = self._deviations()

    @property
    def watched(self) -> float:
        """For how long it was followed, s; no more than the window's length."""
        return PERIOD * len(self._seen)

    @property
    def is_there(self) -> bool:
        """Whether there is an opponent."""
        return bool(self._seen)

    def update(self, place: Float[ndarray, " 2"]) -> None:
        """Take in where the mallet is observed; not finite when it is not."""
        known = bool(np.isfinite(place).all())
        if not self._seen:
            if known and self._table.contains(place):
                self._begin((np.array(place, float),))
                self._fit()
            return
        apart = np.hypot(*(place - self._seen[-1])) if known else np.inf
        if self._table.contains(place) and apart < JUMP * (1 + min(self._missed, BRIDGED)):
            self._since_fault += 1
            self.fault = self.fault if self._since_fault < AGAIN else ""
            self._follow(np.array(place, float))
        else:
            self._doubt(place if known else None)

    def _follow(self, place: Float[ndarray, " 2"]) -> None:
        """Go on with a mallet from where it was last seen, or anew if that was long ago."""
        if self._missed > BRIDGED:
            self._begin((place,))
            self._fit()
            return
        steps, before = self._missed + 1, self._seen[-1]
        self._odd, self._stands, self._missed = [], False, 0
        for step in range(1, steps + 1):
            between = before + (place - before) * (step / steps)
            self._compare(between)
            self._seen.append(between)
            self._fit()

    def _doubt(self, place: ndarray | None) -> None:
        """Stand where it was last seen; begin anew where it stays after a jump."""
        self._stands, self._missed, self._since_fault = True, self._missed + 1, 0
        x, y = self._seen[-1]
        what = "not observed" if place is None else "at ({:.2f}, {:.2f}) m".format(*place)
        self.fault = f"{what}, taken to stand at ({x:.2f}, {y:.2f}) m"
        near = place is not None and self._table.contains(place)
        if place is None or not near or (self._odd and np.hypot(*(place - self._odd[-1])) > JUMP):
            self._odd = []
        if place is not None and near:
            self._odd.append(np.array(place, float))
        if len(self._odd) >= AGAIN:
            self.fault = ""
            self._begin(tuple(self._odd))
            self._fit()

    def _compare(self, place: ndarray) -> None:
        """Note by how much each law's earlier predictions of this place were off."""
        for row, due in enumerate(self._due.values()):
            if len(due) == due.maxlen and np.isfinite(due[0]).all():
                self._squares[row] = _FORGET * self._squares[row] + (due[0] - place) ** 2
                self._weights[row] = _FORGET * self._weights[row] + 1.0

    def _fit(self) -> None:
        """Fit both laws to each coordinate, see how they err, and keep what they predict."""
        seen = np.array(self._seen)
        self._laws = [_laws(column) for column in seen.T]
        if len(seen) >= FEWEST + LEFT_OUT and len(self._earlier) == LEFT_OUT:
            rows = zip(self._earlier[0], seen[-LEFT_OUT:].T, strict=True)
            self._left_out = np.stack([_errors(laws, column) for laws, column in rows], -1)
        self._earlier.append(self._laws)
        for k, due in self._due.items():
            when = np.array(k * PERIOD)
            old = len(seen) >= ENOUGH
            places = [[laws[i].at(when)[0] for laws in self._laws] for i in (0, 1)]
            due.append(np.array(places) if old else np.full((2, 2), np.nan))
        self._sds = self._deviations()

    def forecast(self, times: Float[ndarray, "*time"]) -> Forecast:
        """Return where the mallet will be at times from now, s.

        Raises:
            ValueError: There is no opponent.
        """
        if not self._seen:
            raise ValueError("forecast: there is no opponent")
        times = np.asarray(times, float)
        sds = self._sds
        if self._stands:
            place = np.broadcast_to(self._seen[-1], (*times.shape, 2))
            return Forecast(place, np.zeros_like(place), _along(sds.max(0), times))
        better = sds[1] < sds[0]  # by horizon and coordinate
        use = better[1]
        parts = [laws[int(use[k])].at(times) for k, laws in enumerate(self._laws)]
        place, velocity = (np.stack([part[i] for part in parts], -1) for i in (0, 1))
        chosen = np.where(use, sds[1], sds[0])
        return Forecast(place, velocity, _along(chosen, times))

    def _deviations(self) -> Float[ndarray, "law horizon 2"]:
        """Return the laws' errors, m; those of the prior where there are none."""
        pushed = np.minimum(0.5 * PUSHED * (PERIOD * np.array(AHEAD)) ** 2, LARGEST_SD)
        prior = np.array((1.0, 1.1))[:, None, None] * pushed[:, None]  # the line, at first
        later = np.sqrt(self._squares / np.maximum(self._weights, 1e-9)[:, None, None])
        found = np.fmax(self._left_out, np.moveaxis(later, 1, 0))
        least = _LEAST * np.array(AHEAD)[:, None] / AHEAD[0]
        known = np.isfinite(self._left_out)
        return np.where(known, np.maximum(WIDER * found, least), prior)


def _along(
    deviations: Float[ndarray, "horizon 2"], times: Float[ndarray, "*time"]
) -> Float[ndarray, "*time 2"]:
    """Return standard deviations at times, m: none now, between horizons in proportion."""
    knots = np.concatenate(((0.0,), PERIOD * np.array(AHEAD)))
    columns = []
    for column in deviations.T:
        rising = np.maximum.accumulate(np.concatenate(((1e-3,), column)))
        slope = (rising[-1] - rising[-2]) / (knots[-1] - knots[-2])
        later = np.maximum(times - knots[-1], 0.0) * slope
        columns.append(np.minimum(np.interp(times, knots, rising) + later, LARGEST_SD))
    return np.stack(columns, -1)


def _laws(seen: Float[ndarray, " period"]) -> tuple[_Line, _Line | _Turn]:
    """Fit both laws to a coordinate, m, the last period being now."""
    recent = seen[-RECENT:]
    middle = 0.5 * PERIOD * (len(recent) - 1)
    clock = PERIOD * np.arange(len(recent)) - middle
    slope = float(clock @ recent / max(clock @ clock, PERIOD**2))
    line = _Line(float(recent.mean()) + slope * middle, slope)
    return line, (_turn(seen) if len(seen) >= FEWEST else line)


def _errors(
    laws: tuple[_Line, _Line | _Turn], later: Float[ndarray, " period"]
) -> Float[ndarray, "law horizon"]:
    """Return how far both laws are off what came after their fit, m, at the times ahead."""
    clock = PERIOD * np.arange(1, LEFT_OUT + 1)
    off = [law.at(clock)[0] - later for law in laws]
    near, far = AHEAD[0], AHEAD[1]
    rows = [
        np.sqrt([(one[near // 2 : near] ** 2).mean(), (one[far // 2 : far] ** 2).mean()])
        for one in off
    ]
    farthest = min((AHEAD[2] / AHEAD[1]) ** 2, 4.0)
    return np.array([(*row, farthest * row[1]) for row in rows])


def _turn(seen: Float[ndarray, " period"]) -> _Turn:
    """Fit a swing by least squares, its rate by a grid and a parabola."""
    into = _spans(len(seen)) @ seen
    left = seen @ seen - (into**2).sum(-1)
    best = int(np.clip(left.argmin(), 1, len(RATES) - 2))
    a, b, c = left[best - 1 : best + 2]
    bend = a - 2.0 * b + c
    shift = 0.5 * (a - c) / bend if bend > 0.0 else 0.0
    step = np.log(RATES[1] / RATES[0])
    rate = float(RATES[best] * np.exp(np.clip(shift, -1.0, 1.0) * step))
    columns = _swings(np.array((rate,)), len(seen))[0]
    middle, cosine, sine = np.linalg.lstsq(columns, seen, rcond=None)[0]
    return _Turn(float(middle), float(cosine), float(sine), rate)


def _swings(rates: Float[ndarray, " rate"], count: int) -> Float[ndarray, "rate period 3"]:
    """Return the columns that a swing of each rate is made of, the last period being now."""
    angle = rates[:, None] * PERIOD * np.arange(1 - count, 1)
    return np.stack((np.ones_like(angle), np.cos(angle), np.sin(angle)), -1)


@lru_cache(WINDOW)
def _spans(count: int) -> Float[ndarray, "rate 3 period"]:
    """Return orthonormal rows that span what a swing of each of `RATES` can be."""
    return np.ascontiguousarray(np.linalg.qr(_swings(RATES, count))[0].swapaxes(-1, -2))
