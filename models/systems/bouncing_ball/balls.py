"""The paper's balls on its smooth table, and how a hand tosses each (Matl et al., STReSSD).

The paper's have a constant restitution and meet no air. A real ball has the whole family's nature
(`contact`, `air`): `REAL_PING_PONG` is one of 40 mm and 2.7 g, whose recorded bounces the drag of
that size and a constant restitution explain (docs/systems/bouncing_ball.md, "One microphone": 0.947
at 2 m/s, the viscoelastic law at a weight of 5e-12).

How hard a hand tosses depends on the ball: a dull one needs more height and speed to come across.
The spreads are ours; the paper gives none.
"""

from dataclasses import dataclass

import torch

from ricochet.models.systems.bouncing_ball import air
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws


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
        restitution: Exit over entry normal speed, at the reference speed of `contact`.
        log10_concentration: Decimal logarithm of the exit direction's concentration.
        radius: m; only the touch by a paddle depends on it, as a contact is a point.
        viscoelastic: Whether restitution follows that law; else it falls by `slope`, s/m.
        tangential_loss, tail_share, tail_ratio, scatter: As in `contact.Contact`.
        drag: k of the air, 1/m.
    """

    name: str
    restitution: float
    log10_concentration: float
    radius: float
    hand: Hand = Hand((-0.27, 0.0, 0.25), (0.55, 0.0, 0.0))
    viscoelastic: bool = False
    slope: float = 0.0
    tangential_loss: float = 0.0
    tail_share: float = 0.0
    tail_ratio: float = 1.0
    scatter: float = 0.0
    drag: float = 0.0

    @property
    def theta(self) -> tuple[float, float]:
        """Restitution and log10 concentration."""
        return self.restitution, self.log10_concentration

    @property
    def nature(self) -> ContactDraws:
        """All that decides its flights, as a single draw of the family."""
        numbers = (
            self.restitution, 10.0**self.log10_concentration, self.slope, self.tangential_loss,
            self.tail_share, self.tail_ratio, self.scatter, self.drag,
        )  # fmt: skip
        *contact, drag = (torch.tensor([number], dtype=torch.float64) for number in numbers)
        return ContactDraws(Contact(*contact), torch.tensor([self.viscoelastic]), drag)

    @property
    def plain(self) -> bool:
        """Whether restitution and concentration are all there is to it."""
        return self.nature.plain


BALLS = {
    ball.name: ball
    for ball in (
        Ball("ping-pong", 0.85, 3.5, 0.020, Hand((-0.27, 0.0, 0.21), (0.49, 0.0, 0.0))),
        Ball("tennis", 0.72, 3.0, 0.0335, Hand((-0.27, 0.0, 0.32), (0.58, 0.0, 0.0))),
        Ball("moon ball", 0.90, 1.8, 0.030, Hand((-0.27, 0.0, 0.20), (0.57, 0.0, 0.0))),
    )
}
"""The balls by name, in the order in which the setting `toss.look_ahead` lists its numbers."""

REAL_PING_PONG = Ball(
    "real ping-pong",
    0.947,
    3.5,
    0.020,
    Hand((-0.27, 0.0, 0.17), (0.44, 0.0, 0.0)),
    scatter=0.004,
    drag=air.drag(air.COMMON_BALLS["ping-pong"]),
)
"""A ping-pong ball in air, on a hard table; its scatter is ours."""
