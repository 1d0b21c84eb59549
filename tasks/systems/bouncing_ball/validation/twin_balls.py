"""The ball that the twin tosses for a pair, and what it is taken from.

The nature of the sample's pairs is known: they were simulated with it. That of any other pair, and
of one of the same name with real recordings under `data/`, is known to nobody, so every toss and
every cup has one of its own, drawn from the candidate's posterior. Such a validation shows that a
controller of these beliefs meets balls of which they are true, and that the predictions keep what
they promise there; it cannot show that the beliefs are true of the real ball, nor that they are
truer than the champion's.

How a hand tosses follows the restitution, as it does for the balls of `balls.BALLS`: let go from
h = 0.32 m - 0.67 m (e - 0.72) at the speed with which it crosses the robot's plane, 0.57 m away, at
the top of its third flight,

    v = 0.57 m / (t (1 + 2 e + 2 e^2 + e^3)),    t = sqrt(2 h / g).

Its radius is that of a session under `data/` that states one, else of the sports' rules; only
the touch by a paddle depends on it.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS
from ricochet.models.systems.bouncing_ball.balls import Ball, Hand
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.tasks.recordings import manifests, sessions
from ricochet.tasks.recordings.sessions import Session
from ricochet.tasks.systems.bouncing_ball import sample
from ricochet.tasks.systems.bouncing_ball.calibration import targets
from ricochet.tasks.systems.bouncing_ball.capture import UNKNOWN_RADIUS

REACH = 0.57
"""From the hand to the robot's plane, m."""
RELEASE = -0.27
"""x of the hand, m."""
LEAST_CONCENTRATION = 1e-12
"""That has a logarithm."""

BallOf = Callable[[int], Ball]
"""The ball of a trial, by its seed."""
KNOWN, DRAWN = "known, the sample's", "drawn from the candidate's posterior"
"""Where the nature of a simulated ball is from."""


def of_pair(name: str, draws: ContactDraws) -> BallOf:
    """Return the balls of a pair, given the candidate's draws of it."""
    if is_known(name):
        return lambda seed: sample.TRUTHS[name]
    radius, count = radius_of(name), len(draws.drag)
    hand = hand_of(float(draws.contact.restitution.mean()))

    def drawn(seed: int) -> Ball:
        row = int(np.random.default_rng([seed, count]).integers(count))
        return _ball(name, draws.rows(slice(row, row + 1)), radius=radius, hand=hand)

    return drawn


def is_known(name: str) -> bool:
    """Tell whether the nature of a pair is known: that of the sample's, if none of it is real."""
    return name in sample.TRUTHS and all(each.truth is not None for each in _sessions(name))


def named(name: str) -> Ball:
    """Return a ball of the name and radius of a pair: a real rig knows nothing else of it."""
    return sample.TRUTHS[name] if is_known(name) else Ball(name, 1.0, 0.0, radius_of(name))


def radius_of(name: str) -> float:
    """Return the radius of a pair's ball, m."""
    for session in _sessions(name):
        if session.diameter is not None:
            return 0.5 * session.diameter
    ruled = [ball for ball in COMMON_BALLS if name.startswith(f"{ball}-")]
    return 0.5 * COMMON_BALLS[ruled[0]].diameter if ruled else UNKNOWN_RADIUS


def _sessions(name: str) -> Iterator[Session]:
    """Yield the sessions of a pair under `data/` that can be read."""
    for path in sorted(targets.DATA.glob(f"[!.]*/{manifests.MANIFEST}")):
        with suppress(BadInput):
            session, _ = sessions.read_manifest(path)
            if f"{session.ball}-{session.surface}" == name:
                yield session


def hand_of(restitution: float) -> Hand:
    """Return how a ball of a restitution is tossed.

    >>> hand_of(0.72).velocity[0].__round__(2)
    0.58
    """
    height = 0.32 - 0.67 * (min(restitution, 1.0) - 0.72)
    fall, e = math.sqrt(2.0 * height / GRAVITY), restitution
    speed = REACH / (fall * (1.0 + 2.0 * e + 2.0 * e**2 + e**3))
    return Hand((RELEASE, 0.0, height), (speed, 0.0, 0.0))


def _ball(name: str, draw: ContactDraws, *, radius: float, hand: Hand) -> Ball:
    contact = {field: float(column) for field, column in vars(draw.contact).items()}
    concentration = max(contact.pop("concentration"), LEAST_CONCENTRATION)
    return Ball(
        name,
        log10_concentration=math.log10(concentration),
        radius=radius,
        hand=hand,
        viscoelastic=bool(draw.viscoelastic),
        drag=float(draw.drag),
        **contact,
    )
