"""When to look and when to bat: the rows of Table I of Fu et al. and ours, as policies.

A policy is asked at each frame of the camera and answers with a new path of the bat, or with None:
go on. Rows A to D look and bat in turn; rows E to J follow Eq. 13; ours plans again and again while
the object is in flight, since the belief sharpens until the impact.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ricochet.models.probability.systematic_resampling import systematic_rows
from ricochet.models.systems.batting import bat
from ricochet.models.systems.batting.bat import FOLLOW_THROUGH, BatPath
from ricochet.models.systems.batting.belief.particles import Cloud
from ricochet.models.systems.batting.planning import looking
from ricochet.models.systems.batting.planning.goal_bats import Swing
from ricochet.models.systems.batting.planning.swings import Scenarios
from ricochet.models.systems.batting.world import World

HORIZON = 8.0  # s, longest time to an impact that is planned for
LOOK_STEPS = 200  # readings, n of the look-ahead: a flight up and down the table takes 9 s
LOOK_PARTICLES = 200
COMMITTED = 0.15  # s before an expected impact: no new plan
SETTLED = 0.05  # s after it
PERIOD = 0.25  # s between plans


@dataclass(frozen=True)
class View:
    """What a policy decides by.

    Attributes:
        time: Since the start, s.
        angle: Of the bat, rad.
        cloud: Particles now; one where the state is known.
    """

    time: float
    angle: float
    cloud: Cloud


@dataclass(frozen=True)
class Decision:
    """A new path of the bat, and whether it is for information."""

    path: BatPath
    look: bool = False


@runtime_checkable
class Policy(Protocol):
    """Decides on the path of the bat."""

    def decide(self, view: View, world: World, draw: np.random.Generator) -> Decision | None:
        """Return a new path from now on, or None: go on."""
        ...

    def interrupt(self) -> None:
        """Take note that the bat was put to rest: what was planned is not done."""
        ...


@dataclass
class OpenLoop:
    """Rows E to J: theta = A sin(omega t) from the start, whatever is seen (Eq. 13)."""

    frequency: float
    duration: float
    amplitude: float = 0.4
    begun: bool = False

    def decide(self, view: View, world: World, draw: np.random.Generator) -> Decision | None:
        """Return the path at the first call."""
        if self.begun:
            return None
        self.begun = True
        return Decision(bat.cyclic(view.angle, self.frequency, self.duration, self.amplitude))

    def interrupt(self) -> None:
        """Begin anew."""
        self.begun = False


Planner = Callable[[Scenarios, float, float, World], Swing | None]


@dataclass
class TwoSteps:
    """Rows A to D: look until the instant of least entropy, bat to the goal, and so on (Sec. V).

    Attributes:
        plan: The goal bat.
        scenarios: From a cloud: the best particle, once or with several noises, or the whole set.
        look: Whether to look; not where the state is known.
    """

    plan: Planner
    scenarios: Callable[[Cloud, World, np.random.Generator], Scenarios]
    look: bool = True
    looking: bool = field(default=False, init=False)
    until: float = field(default=0.0, init=False)

    def decide(self, view: View, world: World, draw: np.random.Generator) -> Decision | None:
        """Return the next step's path when this one's time is over."""
        if view.time < self.until - bat.SLACK:
            return None
        if self.look and not self.looking:
            self.looking = True
            particles = sample(view.cloud, LOOK_PARTICLES, world, draw)
            found = looking.best_look(particles, view.angle, LOOK_STEPS, world)
            self.until = view.time + found.time
            return Decision(found.path, look=True)
        self.looking = False
        swing = self.plan(self.scenarios(view.cloud, world, draw), view.angle, HORIZON, world)
        if swing is None:
            self.until = view.time + PERIOD
            return Decision(bat.hold(view.angle))
        self.until = view.time + swing.time + (FOLLOW_THROUGH if self.look else SETTLED)
        return Decision(swing.path)

    def interrupt(self) -> None:
        """Look next."""
        self.until, self.looking = 0.0, False


@dataclass
class Replanned:
    """Ours, and every planner where the state is known: plan anew until right before the impact.

    The last plan before an impact says whether the bat is a look.

    Attributes:
        plan: The goal bat.
        scenarios: From a cloud, as in `TwoSteps`.
    """

    plan: Planner
    scenarios: Callable[[Cloud, World, np.random.Generator], Scenarios]
    next_plan: float = field(default=0.0, init=False)

    def decide(self, view: View, world: World, draw: np.random.Generator) -> Decision | None:
        """Return a better path, but none from right before an impact to right after it."""
        if view.time < self.next_plan - bat.SLACK:
            return None
        self.next_plan = view.time + PERIOD
        swing = self.plan(self.scenarios(view.cloud, world, draw), view.angle, HORIZON, world)
        if swing is None:
            return Decision(bat.hold(view.angle))
        impact = view.time + swing.time
        last = self.next_plan > impact - COMMITTED
        if last:
            self.next_plan = impact + SETTLED
        return Decision(swing.path, look=swing.look and last)

    def interrupt(self) -> None:
        """Plan next."""
        self.next_plan = 0.0


def sample(cloud: Cloud, count: int, world: World, draw: np.random.Generator) -> Scenarios:
    """Return particles drawn by weight, in random order, each with a place in the noise."""
    rows = systematic_rows(cloud.weights, count, draw)
    draw.shuffle(rows)
    return Scenarios(cloud.states[rows], cloud.kinds[rows], _places(count, world, draw))


def best_particle(cloud: Cloud, count: int, world: World, draw: np.random.Generator) -> Scenarios:
    """Return the best particle with several noises.

    After resampling all weights are equal. The best is the particle of the likeliest shape that is
    nearest to the weighted mean of its shape, in units of the shape's spread.
    """
    weights = cloud.weights
    kind = int(np.bincount(cloud.kinds, weights).argmax())
    members = np.flatnonzero(cloud.kinds == kind)
    nearest = _nearest_to_mean(cloud.states[members], weights[members])
    state = cloud.states[members[nearest]]
    return Scenarios(
        np.repeat(state[None], count, axis=0), np.full(count, kind), _places(count, world, draw)
    )


def _nearest_to_mean(
    states: Float[ndarray, "particle 6"], weights: Float[ndarray, " particle"]
) -> int:
    shares = weights / weights.sum()
    centred = states - shares @ states
    deviation = np.maximum(np.sqrt(shares @ centred**2), 1e-12)
    return int(((centred / deviation) ** 2).sum(1).argmin())


def _places(count: int, world: World, draw: np.random.Generator) -> Int[ndarray, " scenario"]:
    return draw.integers(0, len(world.noise), count)
