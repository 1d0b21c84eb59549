r"""Whether something may pass a disc that a double pendulum swings through, numpy alone.

The pendulum is watched for a tenth of a second. Each draw of the posterior has a belief of where it
is (`pendulum_tracking`), and one future of it: a state is drawn, and displaced by a departure from
the equations at the start of every window. The chance of contact is the share of futures in which
one of the two links is in the disc at a frame of the interval in which it is passed. Between frames
a tip that moves at v comes deeper by at most (v / rate)^2 / (8 radius): of the filmed pendulum
0.008 lengths of link 1. A film is too slow where a tenth of a second does not hold two states, and
too fast where its states and steps are more than an answer in time allows.

Source: ours; the disc is that of the comparison in `ricochet study pendulum-real`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from ricochet.models.systems.rigid_bodies import pendulum_tracking
from ricochet.models.systems.rigid_bodies.pendulum_steps import Bodies
from ricochet.models.systems.rigid_bodies.pendulum_tracking import LATE, Draws

WATCHED = 0.1
"""Seconds."""
INTERVALS: Mapping[str, tuple[float, float]] = {"short": (0.1, 0.35), "long": (0.4, 0.8)}
"""In which the disc is passed, seconds after the last frame that was seen."""
SLOWEST = 110.0
"""Frames a second, Hz: of swings that a film of 20 Hz sees speeds are wrong, and contact missed."""
FASTEST = 1100.0
"""Frames a second, Hz: cameras of 1000 Hz whose clock is somewhat off are the fastest."""
TOGETHER = 1000
"""Draws whose futures are held at once."""
TOLERATED = 0.05
"""Chance of contact."""


@dataclass(frozen=True)
class Disc:
    """A disc, in lengths of link 1, and the pendulum's second link.

    Attributes:
        aside: From the pivot to its centre, to the side to which angles grow.
        down: And downwards.
        link_2: Length of link 2: of the filmed pendulum 70 mm for 91.
    """

    aside: float = 0.84
    down: float = 0.70
    radius: float = 0.28
    link_2: float = 70.0 / 91.0

    def touched(self, angles: Float[ndarray, "*batch 2"]) -> Bool[ndarray, "*batch"]:
        """Return whether a link is in the disc.

        >>> Disc().touched(np.array([[0.0, 0.0], [np.pi / 4, 0.0]]))
        array([False,  True])
        """
        elbow = _point(angles[..., 0])
        tip = elbow + self.link_2 * _point(angles.sum(-1))
        centre = np.array((self.aside, self.down))
        return np.minimum(_apart(centre, 0.0 * elbow, elbow), _apart(centre, elbow, tip)) <= (
            self.radius
        )


@dataclass(frozen=True)
class Decision:
    """Whether to pass.

    Attributes:
        chance: Of contact.
    """

    chance: float
    passes: bool


@dataclass(frozen=True)
class Crossing:
    """Decides about an interval.

    Attributes:
        draws: A future each.
        interval: From and to, seconds after the last frame seen.
    """

    draws: Draws
    interval: tuple[float, float] = INTERVALS["short"]
    disc: Disc = Disc()
    tolerated: float = TOLERATED

    @property
    def frames(self) -> int:
        """How many must be seen: those of `WATCHED`, first and last included."""
        return round(WATCHED * self.draws.rate) + 1

    def decide(self, angles: Float[ndarray, "frame 2"], generator: np.random.Generator) -> Decision:
        """Decide by the last frames; a future that is no number is one of contact.

        Args:
            angles: Of link 1 from straight down and of link 2 from link 1, rad, unwrapped.

        Raises:
            ValueError: If the film is too slow or too fast, there are too few frames, or one is no
                number.
        """
        if not SLOWEST <= self.draws.rate <= FASTEST:
            expected = f"{SLOWEST:g} to {FASTEST:g} Hz"
            raise ValueError(f"a film of {self.draws.rate:g} Hz, expected {expected}")
        if len(angles) < self.frames:
            raise ValueError(f"{len(angles)} frames, expected {self.frames}")
        if not np.isfinite(angles).all():
            raise ValueError("angles that are no numbers, expected finite ones")
        seen = pendulum_tracking.states(angles[-self.frames :], self.draws.rate)
        begins = range(0, len(self.draws.theta), TOGETHER)
        parts = [self.draws[begin : begin + TOGETHER] for begin in begins]
        touched = [replace(self, draws=part)._touched(seen, generator) for part in parts]
        chance = float(np.concatenate(touched).mean())
        return Decision(chance, chance <= self.tolerated)

    def futures(
        self, seen: Float[ndarray, "frame 4"], generator: np.random.Generator
    ) -> Float[ndarray, "coming draw 2"]:
        """Return angles at the interval's frames, a future of each draw.

        Args:
            seen: States up to five frames before now.
        """
        draws = self.draws
        state = pendulum_tracking.track(draws, seen).drawn(generator)
        first, last = (round(each * draws.rate) + LATE for each in self.interval)
        bodies, found = Bodies.of(draws.theta), []
        for begin in range(0, last, draws.window):
            away = draws.departure * generator.normal(size=state.shape)
            moved = draws.moved(bodies, state + away, min(draws.window, last - begin))
            found.append(moved[..., :2])
            state = moved[-1]
        return np.concatenate(found)[first - 1 :]

    def _touched(
        self, seen: Float[ndarray, "frame 4"], generator: np.random.Generator
    ) -> Bool[ndarray, " draw"]:
        """Return which futures touch the disc, or are no numbers."""
        coming = self.futures(seen, generator)
        return np.asarray((self.disc.touched(coming) | ~np.isfinite(coming).all(-1)).any(0))


def _point(angle: Float[ndarray, "*batch"]) -> Float[ndarray, "*batch 2"]:
    """Return where the end of a link of length 1 is, aside and down."""
    return np.stack((np.sin(angle), np.cos(angle)), -1)


def _apart(
    point: Float[ndarray, " 2"],
    begin: Float[ndarray, "*batch 2"],
    end: Float[ndarray, "*batch 2"],
) -> Float[ndarray, "*batch"]:
    """Return how far a point is from a segment."""
    along, away = end - begin, point - begin
    share = (along * away).sum(-1) / (along**2).sum(-1)
    return np.linalg.norm(away - np.clip(share, 0.0, 1.0)[..., None] * along, axis=-1)
