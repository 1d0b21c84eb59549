"""The controller: readings of the camera and the bat's angle in, a path of the bat out.

`see` is called at each frame and `target` as often as the bat is commanded. What cannot be is said
once in `faults`, a line each, and the bat goes to rest: readings that are not numbers, swapped, off
the screen or absent for long, a bat that is not where it can be or leaves no room above it, an
object that lies still, one that is lost again and again, as a shape outside the set is. It goes on
when what it sees makes sense again.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.belief import localiser
from ricochet.models.systems.batting.belief.first_flight import FASTEST
from ricochet.models.systems.batting.belief.localiser import (
    FASTEST_ANEW,
    Belief,
    FilterSettings,
)
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.planning.policies import Policy, View
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_ANGLE, LARGEST_RATE
from ricochet.models.systems.batting.world import World

BLIND = 10  # readings that may be missing in a row
STILL, STILL_TIME = 0.15, 2.0  # m that the belief's mean moves, in so many s; flights move 0.5
CATCH_UP = 3.0  # s of computing, in which frames that passed meanwhile are made up for
LOST_OFTEN, LOST_WITHIN = 3, 20.0  # times that no particle explained the readings, in so many s
DOUBTFUL = -4.0  # of the belief's fit, -1 where particles explain the readings
SETTLING = 1.5  # s without a bat after the object was lost
REPEATED = 3  # times the very same reading, which noise does not give
AVERAGED = 10.0  # readings, over which ends are compared
LONGEST_GAP = 1e6  # s between readings, beyond which time is none
LATE = 0.2  # share of the camera's period by which a reading may be early or late
OFF = 0.02  # rad, by which the bat may exceed its range or its rate in a frame
NOTHING = np.full(2, np.nan)


@dataclass
class Agent:
    """Localises an object, decides and commands a bat.

    Attributes:
        policy: Decides on paths.
        settings: Of the filter.
        world: As it is believed to be.
        draw: Random numbers of filter and policy.
        clock: Says how long the controller itself computed, s.
        faults: What was wrong, a line each.
        looks: How often it bat for information.
        plan_times, update_times: Of decisions and of the filter, s.
    """

    policy: Policy
    settings: FilterSettings
    world: World
    draw: np.random.Generator
    clock: Callable[[], float] = time.perf_counter
    belief: Belief | None = None
    path: BatPath = field(default_factory=lambda: bat.hold(0.0))
    begun: float = 0.0
    look: bool = False
    looks: int = 0
    faults: list[str] = field(default_factory=list)
    plan_times: list[float] = field(default_factory=list)
    update_times: list[float] = field(default_factory=list)
    _angle: float | None = None
    _missing: int = 0
    _seen_at: float | None = None
    _busy: float = 0.0
    _seeing: bool = False
    _places: list[Float[ndarray, " 2"]] = field(default_factory=list)
    _losses: list[float] = field(default_factory=list)
    _standing: set[str] = field(default_factory=set)
    _began: bool = False
    _last: tuple[float, float] = (math.nan, math.nan)
    _repeats: int = 0
    _good: int = 0
    _width: float = 0.0

    def see(self, now: float, reading: Float[ndarray, " 2"], angle: float) -> Cloud | None:
        """Take a reading of the camera, m on the screen, and the bat's angle, rad.

        Args:
            now: When the camera took it, s; whole frames that are left out were not seen.
            reading: Lower and upper end.
            angle: Of the bat then. What is no number is said and rested on, here as for the others.

        Returns:
            The particles, or None before the first reading.
        """
        begun, self._seeing = self.clock(), True
        try:
            return self._see(now, reading, angle)
        finally:
            self._busy, self._seeing = self.clock() - begun, False

    def _see(self, now: float, reading: Float[ndarray, " 2"], angle: float) -> Cloud | None:
        now, angle = _number(now), _number(angle)
        usable, missed = self._usable(reading), self._missed(now)
        refused = self._refuse_bat(angle, missed or 0)
        before = self._angle
        in_range = abs(angle) <= LARGEST_ANGLE + OFF
        if not math.isfinite(now) or (before is None and not in_range):
            self._rest(self._seen_at or 0.0)
            return None if self.belief is None else self.belief.cloud
        # A bat that jumped is followed from where it is now; one that cannot be there, not at all.
        self._angle = angle if in_range or before is None else before
        self._seen_at = now
        self._believe(now, usable, self._turn(before, refused, missed or 0), missed or 0)
        doubtful = self.belief is None or self._doubtful(self.belief, now)
        if self.belief is None or doubtful or refused or missed is None:
            self._rest(now)
        else:
            self.decide(View(now, self._angle, self.belief.cloud))
        return None if self.belief is None else self.belief.cloud

    def _missed(self, now: float) -> int | None:
        """Return how many frames were left out since the last reading; None: out of time.

        The object is then looked for anew.
        """
        blind = self._blind()
        passed = CAMERA_PERIOD if self._seen_at is None else now - self._seen_at
        frames = round(passed / CAMERA_PERIOD) if abs(passed) < LONGEST_GAP else 0
        late = abs(passed - frames * CAMERA_PERIOD)
        if 1 <= frames <= blind and late <= LATE * CAMERA_PERIOD:
            self._standing.discard("time")
            return frames - 1
        expected = f"expected {CAMERA_PERIOD} s, or up to {blind} times that"
        self._say("time", f"time: found {passed:.4g} s since the last reading, {expected}")
        self._began, self.belief = self._began or self.belief is not None, None
        return None

    def _blind(self) -> int:
        """Return how many frames may be left out, but one.

        Those that pass while it computes, as at the first flight, are not the camera's silence.
        """
        return BLIND + math.ceil(self._busy / CAMERA_PERIOD)

    def _turn(self, before: float | None, refused: bool, missed: int) -> Turn:
        """Return the bat's turn in the first frame since the last reading."""
        angle = 0.0 if self._angle is None else self._angle
        if refused or before is None:
            return Turn(angle, 0.0, CAMERA_PERIOD)
        return Turn(before, (angle - before) / CAMERA_PERIOD / (missed + 1), CAMERA_PERIOD)

    def _believe(self, now: float, usable: Float[ndarray, " 2"], turn: Turn, missed: int) -> None:
        begun, before = time.perf_counter(), self.belief
        if before is None:
            if not np.isnan(usable).any():
                self.belief = self._first(usable, turn.angle)
        else:
            self.belief = self._caught_up(turn, [NOTHING] * missed + [usable])
            if self.belief is not None and self.belief.restarts > before.restarts:
                self._losses.append(now)
                self._began = True
        self.update_times.append(time.perf_counter() - begun)

    def _caught_up(self, turn: Turn, readings: list[Float[ndarray, " 2"]]) -> Belief | None:
        """Return the belief after readings; None where they take so long that more are missed."""
        begun = self.clock()
        for reading in readings:
            if self.clock() - begun > CATCH_UP:
                expected = f"expected to make up for {len(readings)} frames in {CATCH_UP:g} s"
                self._say("slow", f"filter: found it slower than the camera, {expected}")
                return None
            self.belief = self._updated(turn, reading)
            turn = turn._replace(angle=turn.angle + turn.rate * turn.time)
        self._standing.discard("slow")
        return self.belief

    def _first(self, reading: Float[ndarray, " 2"], angle: float) -> Belief | None:
        """Return the belief after a first reading; None, where the bat leaves objects no room."""
        fastest = FASTEST_ANEW if self._began else FASTEST
        try:
            found = localiser.begin(
                reading, angle, self.settings, self.world, self.draw, fastest=fastest
            )
        except ValueError as error:
            self._say("room", f"table: found {error}")
            return None
        self._standing.discard("room")
        return found

    def _updated(self, turn: Turn, reading: Float[ndarray, " 2"]) -> Belief | None:
        if self.belief is None:
            return None
        return localiser.update(self.belief, turn, reading, self.settings, self.world, self.draw)

    def decide(self, view: View) -> None:
        """Let the policy decide."""
        begun = time.perf_counter()
        decision = self.policy.decide(view, self.world, self.draw)
        if decision is not None:
            self.plan_times.append(time.perf_counter() - begun)
            self.path, self.begun, self.look = decision.path, view.time, decision.look
            self.looks += decision.look

    def target(self, now: float) -> float:
        """Return the angle that the bat should have, rad, within its range.

        Without readings for BLIND frames, and those in which it computed, the bat stays where it
        was to be then; at no time, where it was to be at the last reading.
        """
        now = _number(now)
        if self._seen_at is not None:
            blind = self._blind()
            last = self._seen_at + blind * CAMERA_PERIOD
            if now <= last + CAMERA_PERIOD:
                self._standing.discard("silent")
            elif not self._seeing:  # else it computes, and another thread asks
                self._say("silent", f"camera: found silent for {blind} frames, expected readings")
            now = min(now, last) if math.isfinite(now) else self._seen_at
        since = max(now - self.begun, 0.0) if math.isfinite(now) else 0.0
        angle, _ = bat.angle_and_rate(self.path, since)
        return min(max(angle, -LARGEST_ANGLE), LARGEST_ANGLE)

    def _usable(self, reading: Float[ndarray, " 2"]) -> Float[ndarray, " 2"]:
        lower, upper = _two_numbers(reading)
        wrong = self._wrong_ends(lower, upper)
        self._missing = self._missing + 1 if wrong else 0
        self._good = 0 if wrong else self._good + 1
        if wrong:
            self._say("screen", f"screen: {wrong}")
        elif self._good > BLIND:
            self._standing.discard("screen")
        return NOTHING if wrong else np.array([lower, upper])

    def _wrong_ends(self, lower: float, upper: float) -> str:
        """Return what is wrong with a reading, in words, or nothing."""
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return "found no two numbers, expected both ends of a segment"
        self._repeats = self._repeats + 1 if (lower, upper) == self._last else 0
        self._last = (lower, upper)
        table, thinnest = self.world.table, _thinnest(self.world)
        difference = math.sqrt(2.0) * table.screen_noise
        edge = 0.5 * table.screen_width + 5.0 * table.screen_noise
        ends = f"found ends {lower:.4g} and {upper:.4g} m"
        if max(abs(lower), abs(upper)) > edge:
            return f"{ends}, expected them within {edge:.2f} m of its middle"
        self._width += (upper - lower - self._width) / AVERAGED
        mean_error = difference / math.sqrt(2.0 * AVERAGED - 1.0)
        if lower - upper > max(3.0 * difference - thinnest, 0.0) or self._width < -2.0 * mean_error:
            return f"{ends}, expected the lower first"
        if self._repeats >= REPEATED:
            return f"{ends} {self._repeats + 1} times in a row, expected the camera's noise"
        return ""

    def _refuse_bat(self, angle: float, missed: int) -> bool:
        """Return whether the bat is not where it can be."""
        far = LARGEST_RATE * CAMERA_PERIOD * (missed + 1) + OFF
        wrong = not abs(angle) <= LARGEST_ANGLE + OFF
        jumped = self._angle is not None and not abs(angle - self._angle) <= far
        if wrong or jumped:
            expected = f"{-LARGEST_ANGLE:.2f} to {LARGEST_ANGLE:.2f}"
            expected = expected if wrong else f"at most {far:.2f} from {self._angle:.3f}"
            self._say("bat", f"bat: found angle {angle:.4g} rad, expected {expected}")
        else:
            self._standing.discard("bat")
        return wrong or jumped

    def _doubtful(self, belief: Belief, now: float) -> bool:
        """Return whether the belief is none to swing by: the bat rests, if only for a moment."""
        window = round(STILL_TIME / CAMERA_PERIOD)
        place = belief.cloud.weights @ belief.cloud.states[:, :2]
        self._places = [*self._places[-window:], place]
        moved = np.ptp(self._places, axis=0).max()
        self._losses = [each for each in self._losses if now - LOST_WITHIN < each <= now]
        blind = self._missing > BLIND
        still = len(self._places) > window and bool(moved < STILL)
        lost = len(self._losses) >= LOST_OFTEN
        doubts = (
            ("blind", blind, f"screen: found nothing for {BLIND} readings, expected the object"),
            ("still", still, "object: found it at rest, expected it to move"),
            ("lost", lost, f"object: found it lost {LOST_OFTEN} times, expected one of the shapes"),
        )
        for matter, is_so, line in doubts:
            if is_so:
                self._say(matter, line)
            else:
                self._standing.discard(matter)
        sought = belief.waiting is not None and self._began
        settling = any(each > now - SETTLING for each in self._losses)
        unexplained = bool(self.settings.draws) and belief.fit < DOUBTFUL
        return blind or still or lost or sought or settling or unexplained

    def _rest(self, now: float) -> None:
        """Keep the bat where it is, or where it should be if that is not known."""
        self.policy.interrupt()
        angle = self.target(now) if self._angle is None else self._angle
        kept = min(max(angle, -LARGEST_ANGLE), LARGEST_ANGLE)
        if len(self.path.times) > 1 or self.path.angles[0] != kept:
            self.path, self.begun, self.look = bat.hold(kept), now, False

    def _say(self, matter: str, line: str) -> None:
        """Note a fault once, until it is over."""
        if matter not in self._standing:
            self._standing.add(matter)
            self.faults.append(line)


def _thinnest(world: World) -> float:
    """Return the least length of a projection, m: the smallest object at the far corner."""
    table = world.table
    height = max(abs(table.camera_y), abs(table.height - table.camera_y))
    farthest = math.hypot(table.width - table.camera_x, height)
    least = float(
        world.shapes.cosines[:, 0].min() - np.abs(world.shapes.cosines[:, 1:]).sum(1).max()
    )
    return 2.0 * max(least, 0.0) * table.focal_length / farthest


def _number(value: object) -> float:
    """Return a number; not a number, where it is none."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _two_numbers(reading: object) -> tuple[float, float]:
    """Return both ends of a reading; not numbers, where it is none."""
    try:
        values = np.asarray(reading, float)
    except (TypeError, ValueError, OverflowError):
        return math.nan, math.nan
    return (float(values[0]), float(values[1])) if values.shape == (2,) else (math.nan, math.nan)
