"""A package on a take: what it says of each frame, and an arm that keeps its hand before the front.

The arm is the simulated one of `hardware.robots`, with the motions and limits of its kind. The
drawer opens along its y; at the end of each frame the hand is sent to where `hand.py` has it.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.hardware.robots.simulated import SimulatedArm
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.drawers import hand, hearing
from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.models.systems.drawers.hand import GAP
from ricochet.models.systems.drawers.hearing import Said
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.tracking import follower
from ricochet.models.systems.drawers.tracking.follower import Estimate, Estimates
from ricochet.tasks.systems.drawers.packages import Drawer
from ricochet.tasks.systems.drawers.validation.fresh_takes import FreshTake
from ricochet.tasks.systems.drawers.validation.results import Tried

NEAR = 0.10
"""m, by which the hand may be nearer or farther than it should be."""
REACH = 0.15
"""s, that each motion of the arm may take."""
HEIGHT = 0.25
"""m, of the hand over the table."""


@dataclass(frozen=True)
class Followed:
    """A take as a package follows it."""

    take: FreshTake
    said: Said
    ours: Estimates

    @property
    def speed_held(self) -> float:
        """Share of the frames whose speed is in its interval."""
        return float(self.said.speeds.hold(self.take.frames.labels.speed).mean())

    @property
    def dark_held(self) -> float:
        """Share of the dark frames whose opening is in its interval."""
        return _share(self.ours.hold(self.take.frames.labels.position), self.take.dark)

    @property
    def dark_error(self) -> float:
        """Root of the mean squared error of the opening in the dark, m."""
        return _rms((self.ours.place - self.take.frames.labels.position)[self.take.dark])


def follow(drawer: Drawer, take: FreshTake) -> Followed:
    """Follow a take, which is seen while there is light and then heard."""
    said = hearing.listen(drawer.hearing, take.frames.features)
    ours = follower.follow(said.heard(), take.sight.seen, drawer.hearing.grammar)
    return Followed(take, said, ours)


def attempt(drawer: Drawer, take: FreshTake) -> Tried:
    """Return what a package is worth on a take, and to an arm."""
    found, labels, grammar = follow(drawer, take), take.frames.labels, drawer.hearing.grammar
    hands, truth = reach(found.ours, grammar), labels.position
    moving, middle = take.dark & labels.moving, 0.5 * (grammar.low + grammar.high)
    signs = np.where(found.ours.opening > 0.5, 1.0, -1.0) == np.sign(labels.velocity)
    return Tried(
        take=take.name,
        speed_held=found.speed_held,
        speed_error=_rms(found.said.speeds.mean - labels.speed),
        dark_held=found.dark_held,
        dark_error=found.dark_error,
        middle_error=_rms((middle - truth)[take.dark]),
        signs=_share(signs, moving),
        near=_share(np.abs(hands - truth - GAP) <= NEAR, moving),
        middle_near=_share(np.abs(middle - truth) <= NEAR, moving),
        touching=_share(hands <= truth, moving),
    )


def reach(estimates: Estimates, grammar: Grammar) -> Float[ndarray, " frame"]:
    """Return where the arm's hand is at the end of each frame, m from the closed front.

    The estimate of a frame is known at its end, so that the hand answers to it in the next.
    """
    arm, wanted = SimulatedArm(), hand.begin(grammar)
    farthest = grammar.high + GAP + hand.CLEARANCE
    left, right = arm.workspace.y
    shift = right - farthest  # the farthest goal is at the right end of what the arm reaches
    if grammar.low + shift < left:
        length = f"a drawer of {grammar.high - grammar.low:.2f} m"
        raise BadInput("the arm", length, f"{right - left - GAP - hand.CLEARANCE:.2f} m at most")
    found = np.empty(len(estimates.place))
    arm.move((arm.workspace.x, wanted.goal + shift, HEIGHT), 2.0)
    arm.advance(3.0)
    rows = zip(*(vars(estimates)[each] for each in vars(estimates)), strict=True)
    for frame, row in enumerate(rows):
        found[frame] = arm.state().paddle[1] - shift
        wanted = hand.follow(wanted, Estimate(*map(float, row)), grammar)
        refusal = arm.move((arm.workspace.x, wanted.goal + shift, HEIGHT), REACH)
        refusal = refusal or arm.advance(PERIOD)
        if refusal is not None:
            raise RuntimeError(str(refusal))
    return found


def _share(right: Bool[ndarray, " frame"], of: Bool[ndarray, " frame"]) -> float:
    return float(right[of].mean()) if of.any() else 0.0


def _rms(errors: Float[ndarray, " frame"]) -> float:
    return float(np.sqrt(np.mean(errors**2)))
