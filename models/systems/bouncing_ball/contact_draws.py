"""Draws of what is known of a ball on a surface in air, as one law of contact with many rows.

A draw is a `Contact` with its law of restitution by speed, and the drag of the air: all that
predicts the next bounce. Draws of the paper's posterior, pairs of restitution and concentration,
are draws of constant restitution without air.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from ricochet.models.core.rows import Rows
from ricochet.models.systems.bouncing_ball import contact as contacts
from ricochet.models.systems.bouncing_ball.contact import Contact, RestitutionLaw


@dataclass(frozen=True)
class ContactDraws(Rows):
    """Draws of a contact and of the air about it.

    Attributes:
        contact: Its parameters.
        viscoelastic: Whether restitution follows the viscoelastic law; else it is linear in speed,
            and constant where the slope is zero.
        drag: k of the air, 1/m.
    """

    contact: Contact
    viscoelastic: Bool[Tensor, " draw"]
    drag: Float[Tensor, " draw"]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by value: a tensor that is sent to a process moves its memory from its views."""
        columns = (*vars(self.contact).values(), self.viscoelastic, self.drag)
        return _of_columns, tuple(column.numpy() for column in columns)

    @property
    def plain(self) -> bool:
        """Whether all are draws of the paper's model: pairs of restitution and concentration."""
        contact = self.contact
        rest = (contact.slope, contact.tangential_loss, contact.tail_share, contact.scatter)
        columns = (self.viscoelastic, self.drag, *rest)
        return not any(bool(column.any()) for column in columns)

    @property
    def law(self) -> RestitutionLaw:
        """The law of all rows together, for `contact.bounce`."""
        viscoelastic = self.viscoelastic

        def law(restitution: Tensor, slope: Tensor, speed: Tensor) -> Tensor:
            straight = contacts.linear(restitution, slope, speed)
            if not bool(viscoelastic.any()):
                return straight
            curved = contacts.viscoelastic(restitution, slope, speed)
            return torch.where(viscoelastic, curved, straight)

        return law

    def restitution(self, speed: Float[Tensor, "*#batch"]) -> Float[Tensor, "*batch"]:
        """Return the restitution of every draw, the last axis, at speeds of impact, m/s."""
        return self.law(self.contact.restitution, self.contact.slope, speed)


def of_pairs(theta: Float[Tensor, "draw 2"]) -> ContactDraws:
    """Return draws of the paper's model from restitution and log10 concentration.

    >>> float(of_pairs(torch.tensor([[0.8, 3.0]])).restitution(torch.tensor(5.0))).__round__(3)
    0.8
    """
    pair = theta.double()
    contact = contacts.plain(pair[:, 0], 10.0 ** pair[:, 1])
    return ContactDraws(
        contact, torch.zeros(len(pair), dtype=torch.bool), torch.zeros_like(pair[:, 0])
    )


def _of_columns(*columns: ndarray) -> ContactDraws:
    *contact, viscoelastic, drag = map(torch.from_numpy, columns)
    return ContactDraws(Contact(*contact), viscoelastic, drag)
