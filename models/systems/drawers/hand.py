"""Where a hand is to be so that it stays before a drawer that is only heard: by numpy alone.

The hand keeps GAP before the front, a little ahead of it in time, since an arm takes a while; and
farther where the front may be nearer than it is believed to be,

    hand = max(q + v AHEAD + GAP, u + CLEARANCE)

with q the opening, v how fast its estimates move and u the upper end of the interval that holds the
opening nine times of ten. An opening that is not known keeps the hand before the farthest limit.
"""

from dataclasses import dataclass

from ricochet.models.systems.drawers.belief.place_and_direction import Grammar
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.tracking.follower import Estimate

GAP = 0.15  # m, between hand and front
CLEARANCE = 0.05  # m
AHEAD = 0.1  # s, of an arm that follows
MEMORY = 0.5  # share of the last velocity that is kept
FASTEST = 1.5  # m/s of a drawer


@dataclass(frozen=True)
class Hand:
    """Where the hand is to be, along the way that the drawer opens.

    Attributes:
        goal: m from the closed front.
        place: Last estimate of the opening, m; None: none yet.
        velocity: Of the estimates, m/s.
    """

    goal: float
    place: float | None = None
    velocity: float = 0.0


def begin(grammar: Grammar) -> Hand:
    """Return a hand that waits where the drawer cannot touch it."""
    return Hand(grammar.high + GAP)


def follow(hand: Hand, estimate: Estimate, grammar: Grammar) -> Hand:
    """Return where the hand is to be after a frame.

    Args:
        estimate: Of the frame; its numbers must be finite.

    Raises:
        ValueError: If a number is not finite.
    """
    if not all(abs(each) < float("inf") for each in (estimate.place, estimate.high)):
        raise ValueError(f"an opening of {estimate.place} m up to {estimate.high} m, expected both")
    before = estimate.place if hand.place is None else hand.place
    moved = min(max((estimate.place - before) / PERIOD, -FASTEST), FASTEST)
    velocity = MEMORY * hand.velocity + (1.0 - MEMORY) * moved
    farthest = max(grammar.high, estimate.place)  # seen farther out than it was learnt from
    ahead = min(max(estimate.place + velocity * AHEAD, grammar.low), farthest)
    goal = max(ahead + GAP, min(estimate.high, farthest) + CLEARANCE)
    return Hand(goal, estimate.place, velocity)
