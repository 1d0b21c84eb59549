"""What a contact with the surface does to a ball: the family of laws of which the paper's is one.

With u along the surface and w into it at the impact,

    u' = (1 - l) u,    w' = e(w) w        restitution by speed, and a share l of u lost
    |v'| times 1 + s n,    n ~ N(0, 1)    what varies from bounce to bounce
    v' / |v'| redrawn from (1 - p) vMF(k) + p vMF(q k) about itself, again until it leaves.

Restitution at the reference speed v0 is e0, and by speed one of `restitution_laws`. The wide part
is a two-component law and no heavier-tailed one because what widens a redirection, a seam, a grain
of dust, is there or is not. Spin is left out: l is what friction takes without giving it back.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.rows import Rows
from ricochet.models.probability import von_mises_fisher
from ricochet.models.systems.bouncing_ball.restitution_laws import (
    HIGHEST,
    LOWEST,
    REFERENCE_SPEED,
    RestitutionLaw,
    constant,
    linear,
    viscoelastic,
)

__all__ = [
    "HIGHEST", "LOWEST", "REFERENCE_SPEED", "Contact", "RestitutionLaw", "bounce", "constant",
    "linear", "plain", "redirected", "viscoelastic",
]  # fmt: skip


@dataclass(frozen=True)
class Contact(Rows):
    """The parameters of a ball on a surface.

    Attributes:
        restitution: At the reference speed.
        concentration: Of the exit direction; infinity is no redraw.
        slope: a, s/m; only the linear law has one.
        tangential_loss: l.
        tail_share, tail_ratio: p and q of the wide component.
        scatter: s.
    """

    restitution: Float[Tensor, "*batch"]
    concentration: Float[Tensor, "*batch"]
    slope: Float[Tensor, "*batch"]
    tangential_loss: Float[Tensor, "*batch"]
    tail_share: Float[Tensor, "*batch"]
    tail_ratio: Float[Tensor, "*batch"]
    scatter: Float[Tensor, "*batch"]


def plain(restitution: Tensor, concentration: Tensor) -> Contact:
    """Return the paper's contact: constant restitution and one von Mises-Fisher law.

    >>> float(plain(torch.tensor(0.85), torch.tensor(1e3)).tail_share)
    0.0
    """
    restitution, concentration = torch.broadcast_tensors(restitution, concentration)
    none = torch.zeros_like(restitution)
    return Contact(restitution, concentration, none, none, none, torch.ones_like(none), none)


def bounce(
    impact: Float[Tensor, "*batch 3"],
    contact: Contact,
    *,
    law: RestitutionLaw = constant,
    draw: torch.Generator,
) -> Float[Tensor, "*batch 3"]:
    """Return exit velocities, m/s, all of which leave the surface.

    Args:
        impact: Velocity on arrival, m/s, the third component into the surface, so negative.
    """
    u, speed = impact[..., :2], -impact[..., 2]
    rise = law(contact.restitution, contact.slope, speed) * speed
    kept = (1.0 - contact.tangential_loss)[..., None] * u
    mean = torch.cat((kept, rise[..., None]), -1)
    drawn = torch.randn(speed.shape, generator=draw, dtype=speed.dtype)
    mean = mean * (1.0 + contact.scatter * drawn)[..., None]
    wide = torch.rand(speed.shape, generator=draw, dtype=speed.dtype) < contact.tail_share
    ratio = torch.where(wide, contact.tail_ratio, torch.ones_like(contact.tail_ratio))
    concentration = (contact.concentration * ratio).expand(speed.shape).reshape(-1)
    exits = redirected(mean.reshape(-1, 3).T.contiguous(), concentration, draw=draw)
    return exits.T.reshape(mean.shape)


def redirected(
    velocity: Float[Tensor, "3 drop"],
    concentration: Float[Tensor, " drop"],
    *,
    draw: torch.Generator,
) -> Float[Tensor, "3 drop"]:
    """Redraw exit directions given that they leave the surface; others are drawn again.

    Args:
        velocity: Before the redraw, the third component along the surface's normal.
    """
    redrawn = von_mises_fisher.redirect(velocity, concentration, draw=draw)
    pending = torch.nonzero(redrawn[2] <= 0.0).squeeze(-1)
    while pending.numel() > 0:
        again = von_mises_fisher.redirect(velocity[:, pending], concentration[pending], draw=draw)
        redrawn[:, pending] = again
        pending = pending[again[2] <= 0.0]
    return redrawn
