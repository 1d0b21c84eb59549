"""What frames are worth to the belief, found on sessions that the estimators were not trained on.

Errors of neighbouring frames are alike in ways that no closed form has. So the constants of the
grammar (`place_and_direction`) are those under which the belief, which sees a session's first frame
alone and then hears, gives most probability to where the drawer is and which way it moves: the mean
logarithm of it, a proper score (Good 1952; Gneiting and Raftery 2007), one constant after another.
How often a rest begins, ends, and ends the other way is counted; which central interval holds the
place nine times of ten is found of each session, and for the next one (`session_widening`).
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache, cached_property

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray
from scipy import stats

from ricochet.models.core import compiled
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import session_widening
from ricochet.models.systems.drawers.belief import place_and_direction, whole_sessions
from ricochet.models.systems.drawers.belief.place_and_direction import REST, Belief, Grammar, Heard
from ricochet.models.systems.drawers.labels import Labels
from ricochet.models.systems.drawers.level import LEVEL, NORMAL

CANDIDATES = {
    "weight": (0.02, 0.05, 0.1, 0.2, 0.4, 1.0),
    "direction_weight": (0.0, 0.1, 0.2, 0.4, 1.0),
    "widening": (1.0, 1.5, 2.2),
    "blocked": (0.03, 0.1, 0.3, 1.0),
}
"""Of each constant, in the order in which they are chosen."""
ROUNDS = 2
FIRST = Grammar(0.0, 1.0, weight=0.1, direction_weight=0.2, widening=1.5, blocked=0.3)
SEEN = 0.005  # m, deviation of the first frame's place
RARE = 1e-6  # probability that any state keeps in the score
LEVELS = (0.5, 0.995)  # that may be asked for


@dataclass(frozen=True)
class Session:
    """What was heard in each frame of a session, and what was true."""

    heard: Sequence[Heard]
    labels: Labels

    @cached_property
    def rows(self) -> Float[ndarray, "frame 6"]:
        """What was heard, a row a frame."""
        return np.array([astuple(each) for each in self.heard], float)


def fit(
    sessions: Sequence[Session],
    groups: Sequence[int] | None = None,
    progress: Progress = no_progress,
) -> Grammar:
    """Return the grammar under which the sessions are likeliest.

    Args:
        sessions: As they are heard by estimators that were not trained on them.
        groups: Of each: what shares one is of one recording; None: each is its own.
    """
    groups = range(len(sessions)) if groups is None else groups
    places = np.concatenate([each.labels.position for each in sessions])
    stopping, starting = _beginnings(sessions)
    grammar = replace(
        FIRST,
        low=float(places.min()),
        high=float(places.max()),
        turning=_turning(sessions),
        stopping=stopping,
        starting=starting,
    )
    done, total = 0, ROUNDS * len(CANDIDATES)
    scored = cache(lambda each: score(each, sessions))
    for _ in range(ROUNDS):
        for name, values in CANDIDATES.items():
            tried = [replace(grammar, **{name: value}) for value in values]
            grammar = max(tried, key=scored)
            done += 1
            progress(done, total)
    return replace(grammar, level=level(grammar, sessions, groups))


def score(grammar: Grammar, sessions: Sequence[Session]) -> float:
    """Return the mean log probability of the true place and direction.

    At rest there is no direction, so that only the place counts.
    """
    found = np.concatenate([_judged(grammar, each)[0] for each in sessions])
    return float(np.log((1.0 - RARE) * found + RARE).mean())


def level(grammar: Grammar, sessions: Sequence[Session], groups: Sequence[int]) -> float:
    """Return what a central interval must hold to hold the place in a recording to come.

    Levels are compared as half widths of the normal law.

    Args:
        sessions: As they are heard by estimators that were not trained on them.
        groups: Of each: what shares one is of one recording.
    """
    central: dict[int, list[Float[ndarray, " frame"]]] = {}
    for group, each in zip(groups, sessions, strict=True):
        central.setdefault(group, []).append(_judged(grammar, each)[1])
    quantiles = [np.quantile(np.concatenate(each), LEVEL) for each in central.values()]
    needed = np.clip(quantiles, *LEVELS)
    halves = stats.norm.ppf(0.5 + 0.5 * needed) / NORMAL
    wide = NORMAL * session_widening.factor(halves, LEVEL)
    return float(np.clip(2.0 * stats.norm.cdf(wide) - 1.0, *LEVELS))


def _judged(
    grammar: Grammar, session: Session
) -> tuple[Float[ndarray, " frame"], Float[ndarray, " frame"]]:
    """Return the probability of what is true after each frame, and its place's centrality.

    The place before the first frame is known.
    """
    start = float(session.labels.position[0])
    belief = place_and_direction.see(place_and_direction.anywhere(grammar), start, SEEN)
    if not compiled.available():
        return follow_plainly(belief, session, grammar)
    labels = session.labels
    cells = np.abs(belief.places[:, None] - labels.position).argmin(0)
    directions = np.where(labels.moving, (labels.velocity > 0.0).astype(np.int64), -1)
    return whole_sessions.follow(belief, session.rows, cells, directions, grammar)


def follow_plainly(
    belief: Belief, session: Session, grammar: Grammar
) -> tuple[Float[ndarray, " frame"], Float[ndarray, " frame"]]:
    """Return what `whole_sessions.follow` does, a frame at a time: its oracle."""
    found = []
    for frame, heard in enumerate(session.heard):
        belief = place_and_direction.step(belief, heard, grammar)
        place = float(session.labels.position[frame])
        found.append((_probability(belief, session.labels, frame), belief.centrality(place)))
    probabilities, centralities = np.array(found).T
    return probabilities, centralities


def _probability(belief: Belief, labels: Labels, frame: int) -> float:
    """Return the probability of the true cell, and of the true direction where there is one."""
    cell = int(np.argmin(np.abs(belief.places - labels.position[frame])))
    at = belief.probabilities[:, cell]
    if not labels.moving[frame]:
        return float(at.sum())
    opening = float(at[place_and_direction.OPENING].sum())
    return opening if labels.velocity[frame] > 0.0 else float(at.sum()) - opening


def _turning(sessions: Sequence[Session]) -> float:
    """Return the share of rests that end the other way; of none, a half (Laplace's rule)."""
    pairs = [pair for each in sessions for pair in _around_rests(each.labels)]
    turned = sum(before * after < 0.0 for before, after in pairs)
    return float((turned + 1.0) / (len(pairs) + 2.0))


def _beginnings(sessions: Sequence[Session]) -> tuple[float, float]:
    """Return the shares of moving frames after which a rest begins, and of resting ones that end.

    By Laplace's rule.
    """
    pairs = np.concatenate(
        [np.stack([rests[:-1], rests[1:]]) for each in sessions for rests in [_resting(each)]], 1
    )
    stopped, started = pairs[1][~pairs[0]], ~pairs[1][pairs[0]]
    counted = [(found.sum() + 1.0) / (len(found) + 2.0) for found in (stopped, started)]
    return float(counted[0]), float(counted[1])


def _resting(session: Session) -> Bool[ndarray, " frame"]:
    return np.asarray(session.labels.speed <= REST)


def _around_rests(labels: Labels) -> list[tuple[float, float]]:
    """Return the velocity before and after each rest, m/s."""
    moving = np.flatnonzero(labels.speed > REST)
    gaps = np.flatnonzero(np.diff(moving) > 1)
    before, after = labels.velocity[moving[gaps]], labels.velocity[moving[gaps + 1]]
    return list(zip(before.tolist(), after.tolist(), strict=True))
