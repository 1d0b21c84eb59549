"""A ball that bounces in air on a surface of the whole family of laws (`flight`, `contact`).

What `simulator` does for the paper's law in closed form, for drag, restitution by speed, loss along
the surface, wide redirections, scatter and a surface tilted about both axes; flight by flight, all
balls together. Axes are the surface's: z along its normal, and gravity pulls along it by
g (sin(t_x), sin(t_y)) for tilts t. A ball falls from the height above the surface at which it is
let go, measured along the vertical.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.constants import GRAVITY
from ricochet.models.core.rows import Rows
from ricochet.models.systems.bouncing_ball import contact as contacts
from ricochet.models.systems.bouncing_ball import flight
from ricochet.models.systems.bouncing_ball.contact import Contact, RestitutionLaw
from ricochet.models.systems.bouncing_ball.simulator import Bounces


def _none() -> Tensor:
    return torch.zeros((), dtype=torch.float64)


@dataclass(frozen=True)
class Surroundings(Rows):
    """What a ball meets beside the contact.

    Attributes:
        drag: k of the air, 1/m.
        tilt: Of the surface about y and about x, rad; a positive one descends towards +x, +y.
    """

    drag: Float[Tensor, "*#batch"] = field(default_factory=_none)
    tilt: Float[Tensor, "*#batch 2"] = field(
        default_factory=lambda: torch.zeros(2, dtype=torch.float64)
    )


def simulate(
    contact: Contact,
    start_velocity: Float[Tensor, "*batch 3"],
    *,
    drop_height: float | Float[Tensor, "*batch"],
    law: RestitutionLaw = contacts.constant,
    around: Surroundings | None = None,
    bounces: int = 3,
    gravity: float = GRAVITY,
    draw: torch.Generator,
) -> Bounces:
    """Drop balls and return their first contacts, in axes of the surface.

    Args:
        start_velocity: At the release, m/s.
        drop_height: Height of the release above the surface, m.

    Raises:
        ValueError: If there is no bounce to simulate, or the height is not positive.
    """
    if bounces < 1:
        raise ValueError(f"bounces must be at least 1, found {bounces}")
    around = around or Surroundings()
    shape = start_velocity.shape[:-1]
    height = torch.as_tensor(drop_height, dtype=torch.float64).expand(shape)
    if not bool(((height > 0.0) & torch.isfinite(height)).all()):
        raise ValueError("drop_height must be positive, found one that is not")
    pull, into = _gravity(around.tilt, gravity)
    drag = around.drag.expand(shape)
    velocity, above = start_velocity.double(), height * into / gravity
    time, place = torch.zeros(shape, dtype=torch.float64), -height[..., None] * pull / gravity
    rows = []
    for _ in range(bounces):
        flown = flight.fly(
            velocity, height=above, drag=drag, pull=(pull[..., 0], pull[..., 1]), gravity=into
        )
        time, place = time + flown.duration, place + flown.displacement
        velocity = contacts.bounce(flown.impact, contact, law=law, draw=draw)
        rows.append((time, torch.cat((place, torch.zeros_like(time)[..., None]), -1), velocity))
        above = torch.zeros_like(time)
    times, places, velocities = zip(*rows, strict=True)
    return Bounces(torch.stack(times, -1), torch.stack(places, -2), torch.stack(velocities, -2))


def contact_by_take(
    units: Mapping[str, Float[Tensor, " take"]], *, draw: torch.Generator
) -> Contact:
    """Return the contact of each take: restitution e0 (1 + s n), n ~ N(0, 1), in all its bounces.

    Args:
        units: What `Contact` holds, by name, and s, `take_scatter`; other names are left alone.
    """
    ball = Contact(**{each.name: units[each.name] for each in fields(Contact)})
    own = torch.randn(ball.restitution.shape, generator=draw, dtype=torch.float64)
    return replace(ball, restitution=ball.restitution * (1.0 + units["take_scatter"] * own))


def start_velocities(
    shape: tuple[int, ...], *, horizontal_sd: float, draw: torch.Generator
) -> Float[Tensor, "*batch 3"]:
    """Draw the velocity with which a hand lets balls go: none along the vertical, m/s."""
    drawn = torch.zeros((*shape, 3), dtype=torch.float64)
    drawn[..., :2] = horizontal_sd * torch.randn((*shape, 2), generator=draw, dtype=torch.float64)
    return drawn


def _gravity(tilt: Tensor, gravity: float) -> tuple[Tensor, Tensor]:
    """Return gravity's parts along the surface and into it, m/s^2."""
    along = gravity * torch.sin(tilt)
    return along, torch.sqrt(gravity**2 - (along**2).sum(-1))
