"""The controller: readings of the camera and the bat's angle in, a path of the bat out.

`see` is called at each frame and `target` as often as the bat is commanded. What cannot be is said
once in `faults`, a line each, and the bat goes to rest: readings that are not numbers, swapped, off
the screen or absent for long, a bat that is not where it can be, an object that lies still, one
that is lost again and again, as a shape outside the set is. It goes on when what it sees makes
sense again.
"""

import math
import time
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import BatPath
from ricochet.models.systems.batting.belief import localiser
from ricochet.models.systems.batting.belief.localiser import Belief, FilterSettings
from ricochet.models.systems.batting.belief.particles import Cloud, Turn
from ricochet.models.systems.batting.planning.policies import Policy, View
from ricochet.models.systems.batting.table import CAMERA_PERIOD, LARGEST_ANGLE, LARGEST_RATE
from ricochet.models.systems.batting.world import World

BLIND = 10  # readings that may be missing in a row
STILL, STILL_TIME = 0.15, 2.0  # m that the belief's mean moves, in so many s; flights move 0.5
LOST_OFTEN, LOST_WITHIN = 3, 20.0  # times that no particle explained the readings, in so many s
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
        faults: What was wrong, a line each.
        looks: How often it bat for information.
        plan_times, update_times: Of decisions and of the filter, s.
    """

    policy: Policy
    settings: FilterSettings
    world: World
    draw: np.random.Generator
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
    _places: list[Float[ndarray, " 2"]] = field(default_factory=list)
    _losses: list[float] = field(default_factory=list)
    _standing: set[str] = field(default_factory=set)

    def see(self, now: float, reading: Float[ndarray, " 2"], angle: float) -> Cloud | None:
        """Take a reading of the camera, m on the screen, and the bat's angle, rad.

        Returns:
            The particles, or None before the first reading.
        """
        usable, refused = self._usable(reading), self._refuse_bat(angle)
        before = angle if self._angle is None else self._angle
        # A bat that jumped is followed from where it is now; one that cannot be there, not at all.
        angle = angle if abs(angle) <= LARGEST_ANGLE + OFF else before
        late = self._refuse_time(now)
        self._angle, self._seen_at = angle, now
        if not math.isfinite(angle):
            return None if self.belief is None else self.belief.cloud
        turn = Turn(angle if refused else before, 0.0, CAMERA_PERIOD)
        if not refused:
            turn = turn._replace(rate=(angle - before) / CAMERA_PERIOD)
        self._believe(now, usable, turn)
        if self.belief is None:
            return None
        if self._doubtful(self.belief, now) or refused or late:
            self._rest(now, angle)
        else:
            self.decide(View(now, angle, self.belief.cloud))
        return self.belief.cloud

    def _refuse_time(self, now: float) -> bool:
        """Return whether a reading came out of time; the object is then looked for anew."""
        passed = CAMERA_PERIOD if self._seen_at is None else now - self._seen_at
        wrong = not abs(passed - CAMERA_PERIOD) <= LATE * CAMERA_PERIOD
        if wrong:
            expected = f"expected {CAMERA_PERIOD} s"
            self._say("time", f"time: found {passed:.3f} s since the last reading, {expected}")
            self.belief = None
        else:
            self._standing.discard("time")
        return wrong

    def _believe(self, now: float, usable: Float[ndarray, " 2"], turn: Turn) -> None:
        begun, before = time.perf_counter(), self.belief
        if before is None:
            if not np.isnan(usable).any() and math.isfinite(turn.angle):
                self.belief = localiser.begin(
                    usable, turn.angle, self.settings, self.world, self.draw
                )
        else:
            self.belief = localiser.update(
                before, turn, usable, self.settings, self.world, self.draw
            )
            if self.belief.restarts > before.restarts:
                self._losses.append(now)
        self.update_times.append(time.perf_counter() - begun)

    def decide(self, view: View) -> None:
        """Let the policy decide."""
        begun = time.perf_counter()
        decision = self.policy.decide(view, self.world, self.draw)
        if decision is not None:
            self.plan_times.append(time.perf_counter() - begun)
            self.path, self.begun, self.look = decision.path, view.time, decision.look
            self.looks += decision.look

    def target(self, now: float) -> float:
        """Return the angle that the bat should have, rad, within its range."""
        angle, _ = bat.angle_and_rate(self.path, max(now - self.begun, 0.0))
        return min(max(angle, -LARGEST_ANGLE), LARGEST_ANGLE)

    def _usable(self, reading: Float[ndarray, " 2"]) -> Float[ndarray, " 2"]:
        lower, upper = float(reading[0]), float(reading[1])
        edge = 0.5 * self.world.table.screen_width + 5.0 * self.world.table.screen_noise
        swap = 5.0 * self.world.table.screen_noise
        faults = {
            "screen: found no numbers, expected two ends of a segment": not (
                math.isfinite(lower) and math.isfinite(upper)
            ),
            f"screen: found ends {lower:.3f} and {upper:.3f} m, expected the lower first": lower
            > upper + swap,
            f"screen: found ends {lower:.3f} and {upper:.3f} m, expected them within {edge:.2f} m"
            " of its middle": max(abs(lower), abs(upper)) > edge,
        }
        found = [line for line, is_so in faults.items() if is_so]
        self._missing = self._missing + 1 if found else 0
        if found:
            self._say("screen", found[0])
        else:
            self._standing.discard("screen")
        return NOTHING if found else np.array([lower, upper])

    def _refuse_bat(self, angle: float) -> bool:
        """Return whether the bat is not where it can be."""
        far = LARGEST_RATE * CAMERA_PERIOD + OFF
        wrong = not abs(angle) <= LARGEST_ANGLE + OFF
        jumped = self._angle is not None and not abs(angle - self._angle) <= far
        if wrong or jumped:
            expected = f"at most {far:.2f} from {self._angle:.3f}" if jumped else "-0.52 to 0.52"
            self._say("bat", f"bat: found angle {angle:.3f} rad, expected {expected}")
        else:
            self._standing.discard("bat")
        return wrong or jumped

    def _doubtful(self, belief: Belief, now: float) -> bool:
        """Return whether the belief is none to swing by."""
        window = round(STILL_TIME / CAMERA_PERIOD)
        place = belief.cloud.weights @ belief.cloud.states[:, :2]
        self._places = [*self._places[-window:], place]
        moved = np.ptp(self._places, axis=0).max()
        self._losses = [each for each in self._losses if each > now - LOST_WITHIN]
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
        found_again = belief.waiting is None or not self._losses
        return blind or still or lost or not found_again

    def _rest(self, now: float, angle: float) -> None:
        self.policy.interrupt()
        if len(self.path.times) > 1 or self.path.angles[0] != angle:
            kept = min(max(angle, -LARGEST_ANGLE), LARGEST_ANGLE)
            self.path, self.begun, self.look = bat.hold(kept), now, False

    def _say(self, matter: str, line: str) -> None:
        """Note a fault once, until it is over."""
        if matter not in self._standing:
            self._standing.add(matter)
            self.faults.append(line)
