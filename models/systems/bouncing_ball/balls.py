"""The paper's balls on its smooth table, and how a hand tosses each (Matl et al., STReSSD).

How hard a hand tosses depends on the ball: a dull one needs more height and speed to come across.
The spreads are ours; the paper gives none.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hand:
    """How a ball is released: means and standard deviations of normal draws, m and m/s."""

    place: tuple[float, float, float]
    velocity: tuple[float, float, float]
    place_sd: tuple[float, float, float] = (0.01, 0.06, 0.025)
    velocity_sd: tuple[float, float, float] = (0.05, 0.10, 0.15)


@dataclass(frozen=True)
class Ball:
    """A kind of ball on the table, and the hand that tosses it.

    Attributes:
        restitution: Exit over entry normal speed.
        log10_concentration: Decimal logarithm of the exit direction's concentration.
        radius: m; only the touch by a paddle depends on it, as a contact is a point.
    """

    name: str
    restitution: float
    log10_concentration: float
    radius: float
    hand: Hand = Hand((-0.27, 0.0, 0.25), (0.55, 0.0, 0.0))

    @property
    def theta(self) -> tuple[float, float]:
        """Restitution and log10 concentration."""
        return self.restitution, self.log10_concentration


BALLS = {
    ball.name: ball
    for ball in (
        Ball("ping-pong", 0.85, 3.5, 0.020, Hand((-0.27, 0.0, 0.21), (0.49, 0.0, 0.0))),
        Ball("tennis", 0.72, 3.0, 0.0335, Hand((-0.27, 0.0, 0.32), (0.58, 0.0, 0.0))),
        Ball("moon ball", 0.90, 1.8, 0.030, Hand((-0.27, 0.0, 0.20), (0.57, 0.0, 0.0))),
    )
}
"""The balls by name, in the order in which the setting `toss.look_ahead` lists its numbers."""
