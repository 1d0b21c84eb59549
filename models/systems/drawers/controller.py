"""The controller: buffers of sound in, and what the camera sees; where the hand is to be, out.

What cannot be is said once in `faults`, a line each, until it is over: buffers of another shape,
that hold what is no number or go beyond full scale, a microphone that is stuck, a place that is
none, a frame for which an estimator fails. A buffer that cannot be used is a stretch of which
nothing was heard: the belief spreads as fast as drawers are moved, and the hand goes farther away.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy import ndarray

from ricochet.models.systems.drawers import hand as hands
from ricochet.models.systems.drawers import live
from ricochet.models.systems.drawers.hand import Hand
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import FRAME, PERIOD
from ricochet.models.systems.drawers.live import Stream
from ricochet.models.systems.drawers.tracking.follower import Estimate
from ricochet.models.systems.drawers.tracking.pace import Seen
from ricochet.models.systems.drawers.tracking.rehearsal import LEAST_COMPARED, WAYS, Rehearsal

FULL_SCALE = 1.0
CLIPPED = 0.05
"""Share of a buffer at full scale, above which it is no sound."""
FARTHEST = 2.0
"""m, of what a camera may see."""
LONGEST = 16 * FRAME
"""Samples in a buffer."""
USUAL = 176
"""Samples that a buffer stands for that has no length, before any had one."""
TRUSTED = ("whole", "half")
ENOUGH = PERIOD * LEAST_COMPARED
"""s of sound beside sight, from which on it can be taken for more than a little."""


@dataclass
class Controller:
    """Follows a drawer.

    Attributes:
        faults: What was wrong, a line each.
        estimate: Of the last complete frame; None before the first.
    """

    stream: Stream
    hand: Hand
    faults: list[str] = field(default_factory=list)
    estimate: Estimate | None = None
    _lost: int = 0
    _length: int = USUAL
    _standing: dict[str, str] = field(default_factory=dict)

    def hear(self, samples: object, seen: Seen | None = None) -> float:
        """Take a buffer; return where the hand is to be, m from the closed front.

        Args:
            samples: Shape (channel, sample), at 16 kHz, full scale 1.
            seen: Where the camera sees the drawer now, m.
        """
        usable, sight = self._usable(samples), self._seen(seen)
        found = None if usable is None else self._fed(usable, sight)
        if found is None:
            self._lose(samples, sight)
        for estimate in found or ():
            self._moved(estimate)
        return self.hand.goal

    def _fed(self, samples: ndarray, seen: Seen | None) -> list[Estimate] | None:
        """Return an estimate for each frame that a buffer completes; None, where one fails."""
        self._length = samples.shape[1]
        try:
            self.stream, found = live.feed(self.stream, samples, seen)
        except (ArithmeticError, ValueError) as error:
            self._fails(error)
            return None
        if found:
            self._say("estimate", "")
        return found

    def _usable(self, samples: object) -> ndarray | None:
        """Return a buffer, or None, and say what is wrong with it."""
        channels = len(self.stream.pending)
        values = _numbers(samples)
        wrong = ""
        if values is None or values.ndim != 2 or len(values) != channels:
            found = "no numbers" if values is None else f"shape {values.shape}"
            wrong = f"sound: found {found}, expected {channels} channels"
        elif not 0 < values.shape[1] <= LONGEST:
            wrong = f"sound: found {values.shape[1]} samples, expected 1 to {LONGEST} in a buffer"
        elif not np.isfinite(values).all():
            wrong = "sound: found what is no number, expected samples"
        elif np.abs(values).max() > FULL_SCALE:
            wrong = f"sound: found {np.abs(values).max():.4g}, expected {FULL_SCALE:g} at most"
        elif (clipped := float((np.abs(values) >= FULL_SCALE).mean())) > CLIPPED:
            wrong = f"sound: found {clipped:.0%} at full scale, expected {CLIPPED:.0%} at most"
        elif values.shape[1] > 1 and (np.ptp(values, axis=1) == 0.0).any():
            stuck = int(np.argmax(np.ptp(values, axis=1) == 0.0))
            wrong = f"sound: found channel {stuck} stuck, expected sound in every channel"
        self._say("sound", wrong)
        return None if wrong else values

    def _seen(self, seen: Seen | None) -> Seen | None:
        """Return what the camera sees, if it can be."""
        if seen is None:
            return None
        place, deviation = _number(seen, "place"), _number(seen, "deviation")
        good = abs(place) <= FARTHEST and 0.0 < deviation <= FARTHEST
        found = (
            f"camera: found a place of {place:.4g} m to {deviation:.4g} m, expected one in reach"
        )
        self._say("camera", "" if good else found)
        return Seen(place, deviation) if good else None

    def _lose(self, samples: object, seen: Seen | None) -> None:
        """Let the time of a buffer pass of which nothing was heard."""
        values = _numbers(samples)
        whole = values is not None and values.ndim == 2 and 0 < values.shape[1] <= LONGEST
        length = values.shape[1] if values is not None and whole else self._length
        self._lost += self.stream.pending.shape[1] + length
        self.stream = live.forget(self.stream)
        while self._lost >= FRAME:
            self._lost -= FRAME
            self._pass(seen)

    def _pass(self, seen: Seen | None) -> None:
        """Let a frame pass of which nothing was heard.

        Where even that fails, the hand goes where the drawer cannot touch it.
        """
        try:
            self.stream, estimate = live.lose(self.stream, seen)
        except (ArithmeticError, ValueError) as error:
            self._fails(error)
            farthest = hands.begin(self.stream.hearing.grammar)
            self.hand = max(self.hand, farthest, key=lambda each: each.goal)
            return
        self._moved(estimate)

    def _fails(self, error: ArithmeticError | ValueError) -> None:
        wrong = f"{error!r:.80}"
        self._say("estimate", f"sound: found {wrong}, expected an estimate of each frame")

    def _moved(self, estimate: Estimate) -> None:
        self.estimate = estimate
        follower = self.stream.follower
        self._say("worth", _doubt(follower.rehearsal) if follower.seen is None else "")
        self.hand = hands.follow(self.hand, estimate, self.stream.hearing.grammar)

    def _say(self, matter: str, line: str) -> None:
        """Note a fault once, until it is over or of another kind; no line: it is over."""
        kind = line.rpartition("expected")[2]  # what was found may change from buffer to buffer
        if not line:
            self._standing.pop(matter, None)
        elif self._standing.get(matter) != kind:
            self._standing[matter] = kind
            self.faults.append(line)


def _doubt(rehearsal: Rehearsal) -> str:
    """Return why the sound is taken for little or nothing, if it is."""
    way, seconds = WAYS[rehearsal.way], PERIOD * rehearsal.compared
    if way in TRUSTED:
        return ""
    if seconds < ENOUGH:
        return f"sound: found {seconds:.1f} s to compare with what is seen, expected {ENOUGH:.1f} s"
    return f"sound: found '{way}' to agree best with what is seen, expected 'whole' or 'half'"


def make(heard: Hearing, channels: int) -> Controller:
    """Return a controller that has heard nothing yet."""
    return Controller(live.begin(heard, channels), hands.begin(heard.grammar))


def _number(seen: object, name: str) -> float:
    """Return a number of what is seen; not a number, where it is none."""
    try:
        return float(getattr(seen, name))
    except (AttributeError, TypeError, ValueError, OverflowError):
        return math.nan


def _numbers(samples: object) -> ndarray | None:
    """Return an array of numbers; None, where it is none."""
    try:
        return np.asarray(samples, float)
    except (TypeError, ValueError, OverflowError):
        return None
