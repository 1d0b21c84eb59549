"""How far the sound can be followed in the dark, rehearsed while there is light.

Sound may be other than what was learnt from: louder or quieter, beside a machine, from a microphone
that fails. So while the drawer is seen, beliefs follow it by sound alone, pinned to where it is
seen only now and then, one for each way to take the sound:

    whole    as it was learnt
    half     deviations twice as wide, log odds of the direction times 0.5
    little   deviations four times as wide, log odds times 0.2
    nothing  the drawer moves as fast as drawers are moved

A way is admitted if its intervals held what was seen often enough, HELD; before anything was seen
they are taken to have held it in PRIOR_HELD of PRIOR_FRAMES frames, so that `little` alone is. Of
the ways that are admitted the one is taken under which what was seen is likeliest; none, where that
is not likelier than under `nothing` by LEAST nats a frame, SLACK nats forgiven.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from ricochet.models.systems.drawers.belief import place_and_direction
from ricochet.models.systems.drawers.belief.place_and_direction import (
    UNHEARD,
    Belief,
    Grammar,
    Heard,
)
from ricochet.models.systems.drawers.level import LEVEL
from ricochet.models.systems.drawers.tracking.pace import Seen

WAYS = ("whole", "half", "little", "nothing")
NOTHING = 3
PINNED = 156  # frames, ten seconds, after which beliefs are pinned again
HELD = 0.85  # least share of frames in their intervals of LEVEL
PRIOR_FRAMES, PRIOR_HELD = 60.0, (0.6, 0.76, 0.86)
LEAST, SLACK = 0.9, 10.0
LEAST_COMPARED = PRIOR_FRAMES * (HELD - PRIOR_HELD[1]) / (1.0 - HELD)
"""Frames, after which more than `little` can be admitted."""
MEMORY = 300.0  # frames, of scores and shares: how loud a session is, is not known at first
WORTH = {1: (2.0, 0.5), 2: (4.0, 0.2)}
"""How much wider deviations are, and what directions are worth."""
RARE = 1e-6  # probability that any place keeps
LEAST_SEEN = 0.003  # m, that a belief on cells can be pinned to


@dataclass(frozen=True)
class Rehearsal:
    """Beliefs by each of WAYS, and how well each agreed with what was seen.

    Attributes:
        beliefs: None before the drawer was seen.
        scores: Sums of log probabilities over the last MEMORY frames or so, nats.
        held: Numbers of these frames in the belief's own intervals of LEVEL.
        compared: Number of these frames.
        frames: Since the beliefs were pinned.
    """

    beliefs: tuple[Belief, ...] | None = None
    scores: tuple[float, ...] = (0.0,) * len(WAYS)
    held: tuple[float, ...] = (0.0,) * len(WAYS)
    compared: float = 0.0
    frames: int = 0

    @property
    def way(self) -> int:
        """The way to take the sound: its place in WAYS."""
        counts = zip(self.held[:NOTHING], PRIOR_HELD, strict=True)
        shares = [
            (held + PRIOR_FRAMES * prior) / (self.compared + PRIOR_FRAMES) for held, prior in counts
        ]
        admitted = [way for way, share in enumerate(shares) if share >= HELD]
        best = max(admitted, key=lambda way: self.scores[way], default=NOTHING)
        gained = self.scores[best] - self.scores[NOTHING]
        return best if gained >= LEAST * self.compared - SLACK else NOTHING


def interrupted(rehearsal: Rehearsal) -> Rehearsal:
    """Return the rehearsal after a frame in which nothing was seen or heard: it is pinned anew."""
    return rehearsal if rehearsal.beliefs is None else replace(rehearsal, beliefs=None)


def taken(heard: Heard, way: int) -> Heard:
    """Return a frame as it is taken by one of WAYS."""
    if way == NOTHING:
        return replace(UNHEARD, duration=heard.duration)
    wider, worth = WORTH.get(way, (1.0, 1.0))
    return replace(
        heard,
        speed_deviation=wider * heard.speed_deviation,
        place_deviation=wider * heard.place_deviation,
        odds=worth * heard.odds,
    )


def rehearse(rehearsal: Rehearsal, heard: Heard, seen: Seen, grammar: Grammar) -> Rehearsal:
    """Return the rehearsal after a frame at whose end the drawer was seen."""
    if rehearsal.beliefs is None or rehearsal.frames >= PINNED:
        pinned = pin(place_and_direction.anywhere(grammar), seen)
        return replace(rehearsal, beliefs=(pinned,) * len(WAYS), frames=0)
    moved = tuple(
        place_and_direction.step(belief, taken(heard, way), grammar)
        for way, belief in enumerate(rehearsal.beliefs)
    )
    kept = 1.0 - 1.0 / MEMORY
    scores = tuple(
        kept * score + _log_probability(belief, seen.place)
        for score, belief in zip(rehearsal.scores, moved, strict=True)
    )
    held = tuple(
        kept * count + (belief.centrality(seen.place) <= LEVEL)
        for count, belief in zip(rehearsal.held, moved, strict=True)
    )
    compared = kept * rehearsal.compared + 1.0
    return Rehearsal(moved, scores, held, compared, rehearsal.frames + 1)


def pin(belief: Belief, seen: Seen) -> Belief:
    """Return a belief pinned to where the drawer is seen, on cells that reach it."""
    reaching = place_and_direction.reaching(belief, seen.place)
    return place_and_direction.see(reaching, seen.place, max(seen.deviation, LEAST_SEEN))


def _log_probability(belief: Belief, place: float) -> float:
    cell = int(np.argmin(np.abs(belief.places - place)))
    return math.log((1.0 - RARE) * float(belief.probabilities[:, cell].sum()) + RARE)
